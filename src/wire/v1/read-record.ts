import type { z } from 'zod';
import { MAX_RECORD_VALUES } from './limits.ts';

export type ReadRecord<T> =
  | { readonly kind: 'good'; readonly value: T }
  | { readonly kind: 'bad'; readonly issues: readonly z.core.$ZodIssue[] };

/** Reporting all issues of larger records takes too long: only the first is reported. */
const MAX_FULLY_REPORTED_VALUES = 2_000;

/**
 * Parses one record of a batch, in some 20 ms at most, whatever it contains.
 *
 * @param reportInput whether the issues include the wrong values
 */
export function readRecord<T>(
  schema: z.ZodType<T>,
  record: unknown,
  { reportInput = false } = {},
): ReadRecord<T> {
  const values = countValues(record, MAX_RECORD_VALUES);
  if (values > MAX_RECORD_VALUES) {
    const message = `must have at most ${MAX_RECORD_VALUES} values`;
    return { kind: 'bad', issues: [{ code: 'custom', path: [], message, input: undefined }] };
  }
  // The library has `abortEarly`, its types do not.
  const context = { reportInput, abortEarly: values > MAX_FULLY_REPORTED_VALUES };
  const parsed = schema.safeParse(record, context);
  return parsed.success
    ? { kind: 'good', value: parsed.data }
    : { kind: 'bad', issues: parsed.error.issues };
}

/**
 * Counts members of objects and items of lists, at any depth; stops once it has more than `max`.
 */
export function countValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let values = inner.length;
  for (const one of inner) {
    if (values > max) return values;
    if (typeof one === 'object') values += countValues(one, max - values);
  }
  return values;
}
