import type { z } from 'zod';
import {
  type OwnVariable,
  ownVariableSchema,
  ownVariablesSchema,
} from '../../../model/check/variable.ts';
import { nearestName } from '../../../runtime/text/nearest-name.ts';
import { MAX_VARIABLES } from '../../../wire/v1/limits.ts';
import type { DocumentPath } from '../common/file-problem.ts';
import { isMapping } from '../common/raw-mapping.ts';
import { keysAt } from '../common/schema-info.ts';
import type { ProblemReporter } from './problem-reporter.ts';
import { withRuleIssues } from './rule-issues.ts';
import { unknownKeyText } from './schema-issue.ts';

const FILE_VARIABLES = ownVariablesSchema(MAX_VARIABLES);
const KNOWN_KEYS = keysAt(ownVariableSchema, []);
/** The value of a variable is never shown, nor is what may be a piece of one. */
const NOT_SHOWN = '(the value is not shown here)';

/** The `variables` of a file; none if something about them was reported. */
export function readVariables(raw: unknown, report: ProblemReporter): readonly OwnVariable[] {
  const given = raw ?? [];
  const parsed = FILE_VARIABLES.safeParse(given);
  if (parsed.success) return parsed.data;
  for (const issue of withRuleIssues(FILE_VARIABLES, given, parsed.error.issues)) {
    const path = issue.path.filter((step) => typeof step !== 'symbol');
    reportVariableIssue(issue, path, given, {
      value: (rest, message) => report.value(['variables', ...rest], '', message),
      key: (rest, message) => report.key(['variables', ...rest], '', message),
      hiddenKey: (rest, message) => report.hiddenKey(['variables', ...rest], '', message),
    });
  }
  return [];
}

type Report = (path: DocumentPath, message: string) => void;

/**
 * Reports one issue of a list of variables: of a file, or of a check.
 *
 * @param path of the issue, relative to the list, as are the reported paths
 */
export function reportVariableIssue(
  issue: z.core.$ZodIssue,
  path: DocumentPath,
  list: unknown,
  report: { readonly value: Report; readonly key: Report; readonly hiddenKey: Report },
): void {
  const [index, field] = path;
  const entry: unknown = Array.isArray(list) && typeof index === 'number' ? list[index] : undefined;
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) {
      const isSlip = isMapping(entry) && entry[key] !== null && nearestName(key, KNOWN_KEYS);
      if (isSlip) report.key([...path, key], unknownKeyText(key, KNOWN_KEYS));
      else report.hiddenKey([...path, key], strangeKeyText());
    }
  } else if (index === undefined) report.value(path, listText(issue, list));
  else if (!isMapping(entry))
    report.value(path, `must be a mapping with key and value${kind(entry)}`);
  else if (field === 'key') report.value(path, keyText(issue, entry.key));
  else if (field === 'value') report.value(path, valueText(issue, entry.value));
  else report.value(path, `must be true or false ${NOT_SHOWN}`);
}

/** In `{ key: A, value: b,c }`, YAML reads `c` as a key, although it is a part of the value. */
function strangeKeyText(): string {
  const known = `known here: ${KNOWN_KEYS.join(', ')}`;
  return `has a key that is not known, nor shown here, as it may be a part of a value that contains a comma and needs quotes; ${known}`;
}

function listText(issue: z.core.$ZodIssue, list: unknown): string {
  if (issue.code === 'too_big') return `must have at most ${issue.maximum} items`;
  return `must be a list of {key, value, secret}${kind(list)}`;
}

function keyText(issue: z.core.$ZodIssue, key: unknown): string {
  // The key itself is valid, so it is a duplicate.
  if (ownVariableSchema.shape.key.safeParse(key).success) return issue.message;
  const allowed =
    'be 1 to 255 letters, digits and underscores, and not begin with a digit: it is what stands between {{ and }}';
  return key === undefined ? `is missing; it must ${allowed}` : `must ${allowed} ${NOT_SHOWN}`;
}

function valueText(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return 'is missing; it must be text';
  if (value === null) return 'must be text; write "" for an empty one';
  if (issue.code === 'too_big') return `must be text of at most ${issue.maximum} characters`;
  if (typeof value === 'object') return `must be text${kind(value)}; put it in quotes or after |`;
  return `must be text; put it in quotes ${NOT_SHOWN}`;
}

function kind(value: unknown): string {
  if (value === null) return ', not null';
  if (typeof value === 'object') return Array.isArray(value) ? ', not a list' : ', not a mapping';
  return ` ${NOT_SHOWN}`;
}
