import type { z } from 'zod';

export type TolerantParse<T> =
  | {
      readonly ok: true;
      readonly value: T;
      /** Paths of unknown fields, like `request.http3`; at most 20. */
      readonly ignored: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

const MAX_SHOWN = 20;
/** Usually one round suffices: nothing below a field that was left out is parsed. */
const MAX_ROUNDS = 4;
const MAX_PROBLEM_CHARS = 500;

/**
 * Parses with a strict schema, but leaves out unknown fields: a newer service may send more than this
 * build knows. It fills in every default, so refusing them would stop all older agents at once.
 */
export function parseTolerantly<T>(schema: z.ZodType<T>, value: unknown): TolerantParse<T> {
  const ignored: string[] = [];
  const copies = new Set<object>();
  let candidate = value;
  for (let round = 0; ; round += 1) {
    const parsed = schema.safeParse(candidate);
    if (parsed.success)
      return { ok: true, value: parsed.data, ignored: ignored.slice(0, MAX_SHOWN) };
    const unknown = parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys');
    if (unknown.length === 0 || round === MAX_ROUNDS) {
      return { ok: false, problem: problemOf(parsed.error) };
    }
    candidate = copyOf(candidate, copies);
    for (const { path, keys } of unknown) {
      remove(candidate, path, keys, copies);
      for (const key of keys) ignored.push([...path, key].map(String).join('.'));
    }
  }
}

/** The first issue in one line, with its path. */
export function problemOf({ issues }: { readonly issues: readonly z.core.$ZodIssue[] }): string {
  const [first] = issues;
  if (first === undefined) return 'it is not valid';
  const place = first.path.map(String).join('.');
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  const problem = `${place === '' ? '' : `${place}: `}${first.message}`;
  return `${problem.slice(0, MAX_PROBLEM_CHARS)}${more}`;
}

/**
 * Copies each level above the keys once: the input stays as it is, and a value that is nested deeper
 * than the stack allows is followed no further than its schema.
 */
function remove(
  root: unknown,
  path: readonly PropertyKey[],
  keys: readonly string[],
  copies: Set<object>,
): void {
  let place = root;
  for (const step of path) {
    if (typeof place !== 'object' || place === null) return;
    const copy = copyOf(Reflect.get(place, step), copies);
    Reflect.defineProperty(place, step, { value: copy });
    place = copy;
  }
  if (typeof place !== 'object' || place === null) return;
  for (const key of keys) Reflect.deleteProperty(place, key);
}

/** A shallow copy; the value itself where it is one already. */
function copyOf(value: unknown, copies: Set<object>): unknown {
  if (typeof value !== 'object' || value === null || copies.has(value)) return value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  copies.add(copy);
  return copy;
}
