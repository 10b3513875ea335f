import type { z } from 'zod';
import { MASK } from '../../../model/credentials/mask.ts';
import { invalid, MAX_FOUND_PROBLEMS, type RequestProblem } from '../../errors.ts';
import { problemAt, type Validation, validate } from './problems.ts';

/** The problem of a mask in a field that would store it literally. */
export const MASK_NOT_ALLOWED = `must not contain ${MASK}: this replaces a hidden value, so send the value itself`;

/** `path` starts inside the body. */
export function bodyProblem(path: readonly PropertyKey[], message: string): RequestProblem {
  return problemAt('body', path, message);
}

/** Validates a body. Returns the problems, so that callers can report theirs with them. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): Validation<z.output<Schema>> {
  const kept = unstorableTexts(body);
  const validation = validate(schema, body, 'body');
  if (validation.ok && kept.length === 0) return validation;
  const found = validation.ok ? [] : validation.problems;
  return { ok: false, problems: [...found, ...kept] };
}

/** @throws ServiceError 400 with the problems of an invalid body */
export function validBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.output<Schema> {
  const validation = parseBody(schema, body);
  if (!validation.ok) throw invalid(validation.problems);
  return validation.value;
}

const UNSTORABLE: readonly { readonly found: RegExp; readonly what: string }[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is refused
  { found: /\u0000/, what: 'the character U+0000' },
  // UTF-8 cannot encode it.
  { found: /\p{Surrogate}/u, what: 'half of a surrogate pair' },
];

/**
 * Finds texts within a value that PostgreSQL's text and jsonb cannot store. They are refused instead of replaced:
 * an agent would otherwise send something else. Returns at most MAX_FOUND_PROBLEMS.
 */
export function unstorableTexts(
  value: unknown,
  path: readonly PropertyKey[] = [],
): readonly RequestProblem[] {
  const problems: RequestProblem[] = [];
  findUnstorable(value, [...path], problems);
  return problems;
}

/** @param path shared by all recursive calls, and restored at the end of each */
function findUnstorable(value: unknown, path: PropertyKey[], problems: RequestProblem[]): void {
  if (problems.length >= MAX_FOUND_PROBLEMS) return;
  if (typeof value === 'string') {
    for (const { found, what } of UNSTORABLE) {
      if (!found.test(value)) continue;
      problems.push(bodyProblem(path, `must not contain ${what}, which cannot be stored`));
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries) {
    path.push(key);
    findUnstorable(inner, path, problems);
    path.pop();
  }
}
