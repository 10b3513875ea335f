import { z } from 'zod';

/** Converts the text of a query parameter to a number. Returns other values as they are; the schema refuses them. */
export function queryNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}

const MAX_CURSOR_CHARS = 1_000;

/** `limit`, `page` and `cursor` of a list: src/service/README.md, "Responses". */
export const pageQuery = {
  limit: z
    .preprocess(queryNumber, z.int().min(1).max(100))
    .default(10)
    .describe('How many at most, 1 to 100. Default: 10.'),
  // With 100 items per page, the offset stays an exact integer.
  page: z
    .preprocess(queryNumber, z.int().min(1).max(1_000_000_000))
    .default(1)
    .describe('Which page, counted from 1. Default: 1.'),
  cursor: z
    .string()
    .max(MAX_CURSOR_CHARS)
    .optional()
    .describe(
      'Instead of page: `start`, then the cursor of the previous response (Link, X-Next-Cursor). Returns each entry exactly once while others are added and removed.',
    ),
};

/** `true` or `false`. */
export function booleanQuery(whenAbsent: boolean) {
  return z
    .preprocess(
      (value) => (value === 'true' ? true : value === 'false' ? false : value),
      z.boolean(),
    )
    .default(whenAbsent);
}

/** A parameter that may be given several times. */
export function repeatable<Schema extends z.ZodType>(item: Schema, maxItems: number) {
  return z
    .preprocess((value) => [value].flat(), z.array(item).max(maxItems))
    .default([] as z.output<Schema>[]);
}

/** A UUID that the service generated. */
export const uuidParam = z.guid().describe('The id of the resource.');

/** A sequential id. */
export const numberParam = z.preprocess(queryNumber, z.int().min(1));

/** The body of 204. */
export const NO_CONTENT = z.null().describe('Done; no body.');
