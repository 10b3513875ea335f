import type { z } from 'zod';
import type { Assertion } from '../../../model/check/assertions/assertion.ts';
import { assertionProblems } from '../../../model/check/assertions/assertion-problems.ts';
import { CHECK_SHAPES, type Check, checkBodySchema } from '../../../model/check/check.ts';
import type { CheckReferences } from '../../../model/check-file/sections.ts';
import { MASK } from '../../../model/credentials/mask.ts';
import { maskProblems } from '../../../model/credentials/retained-credentials.ts';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../../model/enums.ts';
import { CHECK_ID } from '../../../model/ids.ts';
import { isFromDefaults, withDefaults } from '../common/check-defaults.ts';
import type { DocumentPath } from '../common/file-problem.ts';
import { isMapping, type RawMapping } from '../common/raw-mapping.ts';
import { keysAt } from '../common/schema-info.ts';
import type { SimilarCheckParser } from '../common/similar-checks.ts';
import { likelyType, readCheckType } from './check-type-entry.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import {
  type KnownIds,
  referencesOf,
  unknownReference,
  withoutReferences,
} from './resources/references.ts';
import { withRuleIssues } from './rule-issues.ts';
import { issueText, shownValue, unknownKeyText } from './schema-issue.ts';
import { reportVariableIssue } from './variable-entries.ts';

const MASKED = `must not contain ${MASK}: API answers show it in place of a hidden value; write the value itself, or {{NAME}} and a variable`;

/** Shared by all checks of a file while it is parsed. */
export interface EntryContext {
  /** The ids that checks may refer to. */
  readonly known: KnownIds;
  /** Receives the references of the checks, by check id. */
  readonly references: Map<string, CheckReferences>;
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
  const givenType = readCheckType(raw, entryPath, of, report);
  const checkType = givenType ?? likelyType(raw);
  if (checkType === null) return null;

  const { id: _, ...own } = raw;
  const typed = givenType === null ? { ...own, checkType } : own;
  const { logicalId, ...merged } = withDefaults(typed, defaults, checkType);
  const { body: named, named: entries } = withoutReferences(
    Object.hasOwn(merged, 'name') ? merged : { ...merged, name: id ?? 'unnamed' },
  );
  const pathOf = (path: DocumentPath): DocumentPath =>
    isFromDefaults(raw, defaults, path) ? ['defaults', ...path] : [...entryPath, ...path];
  if (logicalId !== undefined) report.key(pathOf(['logicalId']), of, NO_LOGICAL_ID);
  const unknown = entries.flatMap((entry) => {
    const message = unknownReference(entry, context.known);
    return message === null ? [] : [{ path: entry.path, message }];
  });
  for (const { path, message } of unknown) report.value(pathOf(path), of, message);
  const sound = (check: Check): Check | null => {
    const isListed = Object.hasOwn(named, 'alertChannelSubscriptions');
    const references = referencesOf(isListed ? check.alertChannelSubscriptions : null, entries);
    if (references !== null) context.references.set(check.id, references);
    return unknown.length === 0 && logicalId === undefined ? check : null;
  };
  const alike =
    id === null || givenType === null ? null : context.alike.parse(id, named, checkType);
  if (alike !== null) return sound(alike);
  const parsed = checkBodySchema.safeParse(named);
  if (!parsed.success) {
    for (const issue of withRuleIssues(checkBodySchema, named, parsed.error.issues)) {
      reportIssue(issue, checkType, named, pathOf, of, report);
    }
  }
  const unmeetable = assertionProblems(
    parsed.success
      ? parsed.data.request.assertions
      : validAssertions(named.request, parsed.error.issues),
    parsed.success ? parsed.data.request : named.request,
  );
  for (const { path, message } of unmeetable) {
    report.value(pathOf(['request', 'assertions', ...path]), of, message);
  }
  const masked = maskProblems(named.request);
  for (const { path } of masked) report.value(pathOf(['request', ...path]), of, MASKED);
  const isSound = unmeetable.length === 0 && masked.length === 0 && givenType !== null;
  return parsed.success && isSound && id !== null ? sound({ ...parsed.data, id }) : null;
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
  const of = ` of check ${JSON.stringify(id)}`;
  const first = ids.get(id);
  if (first !== undefined) {
    report.value(path, of, `must be unique: checks[${first}] has the id ${JSON.stringify(id)} too`);
    return null;
  }
  ids.set(id, index);
  return id;
}

const NO_LOGICAL_ID = 'is made of the name of the file and the id of the check: leave it out';

const ASSERTION_DEFAULTS = { property: '', target: '', regex: null };

/** The assertions of an invalid check, with null for each invalid one. */
function validAssertions(
  request: unknown,
  issues: readonly z.core.$ZodIssue[],
): readonly (Assertion | null)[] {
  const entries = isMapping(request) ? request.assertions : null;
  const invalid = issues
    .filter(({ path }) => path[0] === 'request' && path[1] === 'assertions')
    .map(({ path }) => path[2]);
  if (!Array.isArray(entries) || invalid.includes(undefined)) return [];
  return entries.map((entry: Assertion, index) =>
    invalid.includes(index) ? null : { ...ASSERTION_DEFAULTS, ...entry },
  );
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
