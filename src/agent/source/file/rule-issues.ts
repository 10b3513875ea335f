import type { z } from 'zod';
import { isMapping } from '../common/raw-mapping.ts';

type Issue = z.core.$ZodIssue;
type Path = readonly PropertyKey[];

/**
 * Fields of one mapping that a rule compares: if one of them is invalid, the rule does not apply.
 */
const COMPARED_FIELDS: readonly (readonly PropertyKey[])[] = [
  ['frequency', 'frequencyOffset'],
  ['degradedResponseTime', 'maxResponseTime'],
  ['degradedPacketLossThreshold', 'maxPacketLossThreshold'],
  ['query', 'recordType'],
  ['source', 'property', 'comparison', 'target', 'regex'],
];

/** With more issues, unknown keys included, finding those of rules would take long. */
const MAX_ISSUES = 50;
/** A stand-in for a mapping lacks fields of its own. */
const MAX_STAND_INS = 3;

/**
 * Every issue of a value. The schema applies a rule between fields only if all fields around it are
 * valid, so this parses again with stand-ins for the invalid ones.
 *
 * @param issues that the schema found
 */
export function withRuleIssues(
  schema: z.ZodType,
  value: unknown,
  issues: readonly Issue[],
): readonly Issue[] {
  if (countOf(issues) > MAX_ISSUES) return issues;
  // Copying and parsing a list of any length again would take long.
  const maxStandIns = issues.some(isLongList) ? 0 : MAX_STAND_INS;
  const invalid = issues.filter(({ code }) => code !== 'unrecognized_keys').map(({ path }) => path);
  let mended = value;
  let found = issues;
  for (let pass = 0; pass < maxStandIns && found.length > 0; pass += 1) {
    mended = withStandIns(mended, found);
    found = schema.safeParse(mended).error?.issues ?? [];
  }
  const byRules = found.filter(
    ({ code, path }) => code === 'custom' && !invalid.some((other) => startsWith(path, other)),
  );
  const bySchema = issues.filter(({ code }) => code !== 'custom').map(({ path }) => path);
  return [...issues, ...byRules].filter(
    ({ code, path }) => code !== 'custom' || !isComparedWith(path, bySchema),
  );
}

function countOf(issues: readonly Issue[]): number {
  return issues.reduce(
    (count, issue) => count + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1),
    0,
  );
}

function isLongList(issue: Issue): boolean {
  return issue.code === 'too_big' && issue.origin === 'array';
}

function isComparedWith(path: Path, invalid: readonly Path[]): boolean {
  const compared = COMPARED_FIELDS.find((fields) => fields.includes(path.at(-1) ?? ''));
  if (compared === undefined) return false;
  const parent = path.slice(0, -1);
  return invalid.some(
    (other) =>
      other.length === path.length &&
      startsWith(other, parent) &&
      compared.includes(other.at(-1) ?? ''),
  );
}

function startsWith(path: Path, start: Path): boolean {
  return start.every((step, index) => path[index] === step);
}

function withStandIns(value: unknown, issues: readonly Issue[]): unknown {
  return issues.reduce<unknown>(
    (mended, issue) => changedAt(mended, issue.path, (invalid) => standIn(issue, invalid)),
    value,
  );
}

function changedAt(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return change(value);
  if (Array.isArray(value)) {
    return value.map((entry, n) => (n === step ? changedAt(entry, rest, change) : entry));
  }
  if (!isMapping(value)) return value;
  const before = Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
  return { ...value, [step]: changedAt(before, rest, change) };
}

/** A value that the schema accepts there, if the issue shows which; else the value itself. */
function standIn(issue: Issue, value: unknown): unknown {
  switch (issue.code) {
    case 'unrecognized_keys':
      return isMapping(value)
        ? Object.fromEntries(Object.entries(value).filter(([key]) => !issue.keys.includes(key)))
        : value;
    case 'invalid_value':
      return issue.values[0];
    case 'invalid_type':
      return STAND_INS[issue.expected] ?? value;
    default:
      return value;
  }
}

const STAND_INS: Readonly<Record<string, unknown>> = {
  string: 'x',
  number: 1,
  int: 1,
  boolean: false,
  array: [],
  object: {},
};
