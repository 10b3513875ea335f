import { z } from 'zod';
import { countText } from '../../../runtime/text/count-text.ts';
import { nearestName } from '../../../runtime/text/nearest-name.ts';
import { MAX_FOUND_PROBLEMS, MAX_PROBLEMS, type RequestProblem } from '../../errors.ts';

/** The part of a request, in Fastify's terms. */
export type RequestPart = 'body' | 'params' | 'querystring' | 'headers';

const SHOWN_PART: Readonly<Record<RequestPart, string>> = {
  body: 'body',
  params: 'path',
  querystring: 'query',
  headers: 'headers',
};

const MAX_SHOWN_CHARS = 60;
const MAX_PATH_CHARS = 200;

/** What a field has the number of, and the path that lists the numbers. */
interface Numbered {
  readonly noun: string;
  readonly list: string;
}
const CHANNEL: Numbered = { noun: 'channel', list: '/v1/alert-channels' };
/** In a check file these fields have the id of an entry of the file, which people also send to the API. */
const NUMBERED: Readonly<Record<string, Numbered>> = {
  alertChannelId: CHANNEL,
  alertChannelIds: CHANNEL,
  groupId: { noun: 'group', list: '/v1/check-groups' },
};

export type Validation<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly RequestProblem[] };

/** An issue with the fields of the object that raised it, which the library does not include. */
type Issue = z.core.$ZodIssue & { readonly fields?: readonly string[] };

const CONTEXT = { async: false, reportInput: true } as const;

/**
 * Validates a part of a request by its schema. Unlike safeParse of the library, which formats every issue and is
 * slow for thousands, it formats only issues that can be reported.
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  part: RequestPart,
): Validation<z.output<Schema>> {
  const parsed = schema._zod.run({ value, issues: [] }, CONTEXT);
  if (parsed instanceof Promise) throw new z.core.$ZodAsyncError();
  if (parsed.issues.length === 0) return { ok: true, value: parsed.value as z.output<Schema> };
  const issues = parsed.issues.slice(0, MAX_FOUND_PROBLEMS).map((raw, index): Issue => {
    const issue = z.core.util.finalizeIssue(raw, CONTEXT, z.core.config());
    if (index >= MAX_PROBLEMS || !(raw.inst instanceof z.ZodObject)) return issue;
    return { ...issue, fields: fieldsOf(raw.inst) };
  });
  return { ok: false, problems: problemsOf({ issues }, part) };
}

/** The fields to suggest: not fields without effect or old names, which would not do what the sender wants. */
function fieldsOf({ shape }: z.ZodObject): readonly string[] {
  return Object.keys(shape).filter((name) => {
    const meta = (shape[name] as z.ZodType).meta();
    return meta?.readOnly !== true && meta?.deprecated !== true;
  });
}

/**
 * Converts issues to problems for the sender of the request: the field, the value and what is allowed. Repeats a
 * text of a body only if one of a few words was expected: any other text may be a secret. Returns at most
 * MAX_FOUND_PROBLEMS.
 */
export function problemsOf(
  { issues }: { readonly issues: readonly Issue[] },
  part: RequestPart,
): readonly RequestProblem[] {
  const found: RequestProblem[] = [];
  for (const issue of issues) {
    if (found.length >= MAX_FOUND_PROBLEMS) break;
    found.push(...problemsIn(issue, part, [], found.length));
  }
  return found.slice(0, MAX_FOUND_PROBLEMS);
}

/** @param path starts inside the part */
export function problemAt(
  part: RequestPart,
  path: readonly PropertyKey[],
  message: string,
): RequestProblem {
  return { path: pathText(part, path), message };
}

/** @param before how many problems come before those of the issue */
function problemsIn(
  issue: Issue,
  part: RequestPart,
  outer: readonly PropertyKey[],
  before: number,
): readonly RequestProblem[] {
  const path = [...outer, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const { keys, fields: known = [] } = issue;
    // Searches suggestions only for problems that the response shows: a search for all would block the service.
    return keys.slice(0, MAX_FOUND_PROBLEMS).map((key, index) => {
      const nearest = before + index < MAX_PROBLEMS ? nearestName(key, known) : null;
      const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
      return { path: pathText(part, [...path, key]), message: `is not a known field${hint}` };
    });
  }
  if (issue.code === 'invalid_union') {
    // Reports the issues of the branch that matched furthest.
    const [first = [], ...others] = issue.errors;
    const nearest = others.reduce(
      (best, branch) => (depthOf(branch) > depthOf(best) ? branch : best),
      first,
    );
    if (depthOf(nearest) > 0)
      return nearest.flatMap((inner) => problemsIn(inner, part, path, before));
  }
  return [{ path: pathText(part, path), message: sentence(issue, part, path) }];
}

function depthOf(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((deepest, { path }) => Math.max(deepest, path.length), 0);
}

function sentence(
  issue: z.core.$ZodIssue,
  part: RequestPart,
  path: readonly PropertyKey[],
): string {
  if (issue.code === 'invalid_union' && issue.discriminator !== undefined) {
    const { input: whole } = issue;
    // Not in the library's types.
    const { options = [] } = issue as { readonly options?: readonly unknown[] };
    const field = typeof whole === 'object' && whole !== null ? path.at(-1) : undefined;
    const given: unknown = field === undefined ? whole : Reflect.get(whole as object, field);
    const words = `one of ${options.map(String).join(', ')}`;
    return given === undefined
      ? `is missing; it must be ${words}`
      : `must be ${words}${shownInput(given, true)}`;
  }
  const { input } = issue;
  // Fastify passes null if there is no body.
  const isMissing = input === undefined || (input === null && path.length === 0);
  if (isMissing && issue.code === 'invalid_type') {
    return `is missing; it must be ${kindText(issue.expected)}`;
  }
  const allowed = allowedText(issue);
  if (isMissing && issue.code === 'invalid_value') return `is missing; it must be ${allowed}`;
  if (allowed === null) return issue.code === 'custom' ? issue.message : 'is not allowed here';
  const isWord = issue.code === 'invalid_value';
  const shown = shownInput(input, isWord || part !== 'body');
  const numbered = part === 'body' && typeof input === 'string' ? numberedBy(issue, path) : null;
  return numbered === null
    ? `must be ${allowed}${shown}`
    : `must be the number of a ${numbered.noun}${shown}: GET ${numbered.list} lists them`;
}

/** null if the issue is not about the number of another resource. */
function numberedBy(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): Numbered | null {
  if (issue.code !== 'invalid_type' || !/^(number|int)$/.test(issue.expected)) return null;
  const field = path.findLast((step) => typeof step === 'string') ?? '';
  return Object.hasOwn(NUMBERED, field) ? (NUMBERED[field] ?? null) : null;
}

/** Completes "must be"; null if the issue does not say what is allowed. */
function allowedText(issue: z.core.$ZodIssue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return kindText(issue.expected);
    case 'invalid_value':
      return issue.values.length === 1
        ? String(issue.values[0])
        : `one of ${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return boundText(
        issue.origin,
        issue.inclusive === false ? 'less than' : 'at most',
        issue.maximum,
      );
    case 'too_small':
      return boundText(
        issue.origin,
        issue.inclusive === false ? 'more than' : 'at least',
        issue.minimum,
      );
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'regex' && issue.pattern !== undefined
        ? `text that matches ${issue.pattern}`
        : (FORMATS[issue.format] ?? `text in the form of ${issue.format}`);
    default:
      return null;
  }
}

function boundText(origin: string, relation: string, bound: number | bigint): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `${relation} ${bound}`;
  return `${relation} ${countText(Number(bound), unit)} long`;
}

const FORMATS: Readonly<Record<string, string>> = {
  guid: 'an id such as 5f0c8a8e-0000-4000-8000-000000000001',
  datetime: 'a time such as 2026-01-31T13:00:00Z',
  date: 'a day such as 2026-01-31',
  email: 'an address such as ops@example.com',
};

const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
};

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function kindText(expected: string): string {
  return KINDS[expected] ?? expected;
}

function shownInput(input: unknown, textIsHarmless: boolean): string {
  if (input === null) return ', not null';
  if (Array.isArray(input)) return `, not a list of ${input.length}`;
  switch (typeof input) {
    case 'string':
      return textIsHarmless && input.length <= MAX_SHOWN_CHARS
        ? `, not ${JSON.stringify(input)}`
        : input === ''
          ? ', not empty'
          : `, not text of ${input.length} characters`;
    case 'number':
    case 'boolean':
      return `, not ${input}`;
    case 'object':
      return ', not an object';
    default:
      return '';
  }
}

/** Formats a path such as `body.request.headers[2].key`. Quotes keys that are no plain words, and cuts long paths. */
function pathText(part: RequestPart, path: readonly PropertyKey[]): string {
  let text = SHOWN_PART[part];
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]{0,59}$/.test(String(step))) text += `.${String(step)}`;
    else text += `[${JSON.stringify(String(step).slice(0, MAX_SHOWN_CHARS))}]`;
  }
  return text.length > MAX_PATH_CHARS ? `${text.slice(0, MAX_PATH_CHARS)}…` : text;
}
