import type { z } from 'zod';
import { MAX_RECORD_VALUES } from './limits.ts';

export type ReadRecord<T> =
  | { readonly kind: 'good'; readonly value: T }
  | { readonly kind: 'bad'; readonly issues: readonly z.core.$ZodIssue[] };

/** Telling all that is wrong with more takes too long: then it is what is wrong first. */
const MAX_FULLY_TOLD_VALUES = 2_000;

/**
 * Judges one record of a batch by its schema, in some 20 ms at most, whatever it is.
 *
 * @param reportInput whether the issues are to have what they are about
 */
export function readRecord<T>(
  schema: z.ZodType<T>,
  record: unknown,
  { reportInput = false } = {},
): ReadRecord<T> {
  const values = valuesIn(record, MAX_RECORD_VALUES);
  if (values > MAX_RECORD_VALUES) {
    const message = `must have at most ${MAX_RECORD_VALUES} values`;
    return { kind: 'bad', issues: [{ code: 'custom', path: [], message, input: undefined }] };
  }
  // The library's own way to stop, of which its types do not tell.
  const context = { reportInput, abortEarly: values > MAX_FULLY_TOLD_VALUES };
  const parsed = schema.safeParse(record, context);
  return parsed.success
    ? { kind: 'good', value: parsed.data }
    : { kind: 'bad', issues: parsed.error.issues };
}

/** Members of objects and items of lists, at any depth; more than `max` where there are more. */
export function valuesIn(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let values = inner.length;
  for (const one of inner) {
    if (values > max) return values;
    if (typeof one === 'object') values += valuesIn(one, max - values);
  }
  return values;
}
