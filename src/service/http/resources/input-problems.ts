import { z } from 'zod';
import { MASK } from '../../../model/credentials/sensitive-headers.ts';
import { MAX_FOUND_PROBLEMS, type RequestProblem } from '../../errors.ts';
import { type Judgement, judge, problemsOf } from './problems.ts';

/** Of a value in which a mask would be stored as it stands. */
export const MASK_GIVEN = `must not hold ${MASK}: this stands for a hidden value, so give the value itself`;

/** One thing wrong with what came in. `path` starts inside the body. */
export function bodyProblem(path: readonly PropertyKey[], message: string): RequestProblem {
  const error = new z.ZodError([{ code: 'custom', path: [...path], message, input: undefined }]);
  const [problem] = problemsOf(error, 'body');
  return problem ?? { path: 'body', message };
}

/** Judges a body; whoever calls it tells the problems together with those that it finds itself. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): Judgement<z.output<Schema>> {
  const kept = textsNotKept(body);
  const judged = judge(schema, body, 'body');
  if (judged.ok && kept.length === 0) return judged;
  const found = judged.ok ? [] : judged.problems;
  return { ok: false, problems: [...found, ...kept] };
}

const NOT_KEPT: readonly { readonly found: RegExp; readonly what: string }[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is refused
  { found: /\u0000/, what: 'the character U+0000' },
  // UTF-8 has no form for it.
  { found: /\p{Surrogate}/u, what: 'half of a surrogate pair' },
];

/**
 * The texts inside a value that PostgreSQL's text and jsonb cannot hold. Such a text is refused:
 * kept in another form, it would not come back as it was, and an agent would send something else.
 * Ends with MAX_FOUND_PROBLEMS.
 */
export function textsNotKept(
  value: unknown,
  path: readonly PropertyKey[] = [],
): readonly RequestProblem[] {
  const problems: RequestProblem[] = [];
  findNotKept(value, [...path], problems);
  return problems;
}

/** `path` is the same list for all, and at the end as it was. */
function findNotKept(value: unknown, path: PropertyKey[], problems: RequestProblem[]): void {
  if (problems.length >= MAX_FOUND_PROBLEMS) return;
  if (typeof value === 'string') {
    for (const { found, what } of NOT_KEPT) {
      if (!found.test(value)) continue;
      problems.push(bodyProblem(path, `must not hold ${what}, which cannot be stored`));
    }
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries) {
    path.push(key);
    findNotKept(inner, path, problems);
    path.pop();
  }
}
