import type { z } from 'zod';
import { CHECK_SHAPES, type Check, checkBodySchema } from '../../../model/check/check.ts';
import { CHECK_ID } from '../../../model/ids.ts';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../../model/vocabulary.ts';
import { patternProblems } from '../common/assertion-patterns.ts';
import {
  isFromDefaults,
  isMapping,
  type RawMapping,
  withDefaults,
} from '../common/check-defaults.ts';
import type { DocumentPath } from '../common/file-problem.ts';
import { keysAt } from '../common/schema-info.ts';
import type { SimilarCheckParser } from '../common/similar-checks.ts';
import { readCheckType } from './check-type-entry.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import { issueText, shownValue, unknownKeyText } from './schema-issue.ts';
import { reportVariableIssue } from './variable-entries.ts';

/** Fields of a check that limit each other. */
const RULED_PAIRS: readonly (readonly string[])[] = [
  ['frequency', 'frequencyOffset'],
  ['degradedResponseTime', 'maxResponseTime'],
  ['degradedPacketLossThreshold', 'maxPacketLossThreshold'],
];

/** Shared by all checks of a file while it is parsed. */
export interface EntryContext {
  readonly report: ProblemReporter;
  readonly defaults: RawMapping;
  /** The ids so far, each with the index of its check. */
  readonly ids: Map<string, number>;
  readonly alike: SimilarCheckParser;
}

/** One entry of `checks`, with its defaults; null if a problem was reported. */
export function readCheck(raw: unknown, index: number, context: EntryContext): Check | null {
  const { report, defaults } = context;
  const entryPath = ['checks', index];
  if (!isMapping(raw)) {
    const what = 'must be a mapping with id, checkType and request';
    report.value(entryPath, '', what + shownValue(raw, entryPath));
    return null;
  }
  const id = readId(raw, index, context);
  const of = id === null ? '' : ` of check ${JSON.stringify(id)}`;
  const checkType = readCheckType(raw, entryPath, of, report);
  if (checkType === null) return null;

  const { id: _, ...own } = raw;
  const merged = withDefaults(own, defaults, checkType);
  const named = Object.hasOwn(merged, 'name') ? merged : { ...merged, name: id ?? 'unnamed' };
  const alike = id === null ? null : context.alike.parse(id, named, checkType);
  if (alike !== null) return alike;
  const parsed = checkBodySchema.safeParse(named);
  const pathOf = (path: DocumentPath): DocumentPath =>
    isFromDefaults(raw, defaults, path) ? ['defaults', ...path] : [...entryPath, ...path];
  if (!parsed.success) {
    for (const issue of withoutFalseOnes(parsed.error.issues)) {
      reportIssue(issue, checkType, named, pathOf, of, report);
    }
    return null;
  }
  const patterns = patternProblems(parsed.data.request.assertions);
  for (const { path, message } of patterns) {
    report.value(pathOf(['request', 'assertions', ...path]), of, message);
  }
  return id === null || patterns.length > 0 ? null : { ...parsed.data, id };
}

function readId(raw: RawMapping, index: number, { report, ids }: EntryContext): string | null {
  const path = ['checks', index, 'id'];
  const { id } = raw;
  if (typeof id !== 'string' || !CHECK_ID.test(id)) {
    const missing = id === undefined ? 'is missing; it must' : 'must';
    const quotes = typeof id === 'number' ? `; put it in quotes: "${id}"` : '';
    report.value(
      path,
      '',
      `${missing} be 1 to 100 letters, digits, dots, dashes and underscores that start with a letter or digit${shownValue(id, path)}${quotes}`,
    );
    return null;
  }
  const first = ids.get(id);
  if (first !== undefined) {
    report.value(path, '', `must be unique: checks[${first}] has the id ${JSON.stringify(id)} too`);
    return null;
  }
  ids.set(id, index);
  return id;
}

/** A rule between two fields is meaningless if one of them is invalid itself. */
function withoutFalseOnes(issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  const fieldOf = ({ path }: z.core.$ZodIssue): unknown => (path.length === 1 ? path[0] : null);
  const wrong = issues.filter(({ code }) => code !== 'custom').map(fieldOf);
  return issues.filter((issue) => {
    const field = fieldOf(issue);
    const pair = RULED_PAIRS.find((names) => names.some((name) => name === field)) ?? [];
    return issue.code !== 'custom' || !pair.some((name) => wrong.includes(name));
  });
}

function reportIssue(
  issue: z.core.$ZodIssue,
  checkType: RunnableCheckType,
  body: RawMapping,
  pathOf: (path: DocumentPath) => DocumentPath,
  of: string,
  report: ProblemReporter,
): void {
  const schema = CHECK_SHAPES[checkType];
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (path[0] === 'variables') {
    reportVariableIssue(issue, path.slice(1), body.variables, {
      value: (rest, message) => report.value(pathOf(['variables', ...rest]), of, message),
      key: (rest, message) => report.key(pathOf(['variables', ...rest]), of, message),
      hiddenKey: (rest, message) => report.hiddenKey(pathOf(['variables', ...rest]), of, message),
    });
    return;
  }
  if (issue.code !== 'unrecognized_keys') {
    report.value(pathOf(path), of, issueText(issue, schema, valueAt(body, path)));
    return;
  }
  const known = path.length === 0 ? ['id', ...keysAt(schema, path)] : keysAt(schema, path);
  for (const key of issue.keys) {
    const keyPath = [...path, key];
    report.key(
      pathOf(keyPath),
      of,
      misplacedText(key, path, checkType) ?? unknownKeyText(key, known),
    );
  }
}

/** A key that is valid elsewhere needs a better hint than the most similar key here. */
function misplacedText(
  key: string,
  path: DocumentPath,
  checkType: RunnableCheckType,
): string | null {
  const schema = CHECK_SHAPES[checkType];
  if (path.length === 0 && keysAt(schema, ['request']).includes(key))
    return 'belongs under request';
  if (
    path.length > 0 &&
    path[0] === 'request' &&
    path.length === 1 &&
    keysAt(schema, []).includes(key)
  ) {
    return 'belongs to the check itself, not under request';
  }
  const elsewhere = RUNNABLE_CHECK_TYPES.filter((type) =>
    keysAt(CHECK_SHAPES[type], path).includes(key),
  );
  return elsewhere.length === 0
    ? null
    : `is not for ${checkType} checks, only for ${elsewhere.join(', ')}`;
}

function valueAt(body: unknown, path: DocumentPath): unknown {
  let at = body;
  for (const step of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, step)) return undefined;
    at = Reflect.get(at, step);
  }
  return at;
}
