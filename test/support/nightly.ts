import type { DatabaseKind } from './database/databases.ts';

/** Set by `.ci/run --nightly`: runs the full tests instead of a short selection. */
export const IS_NIGHTLY = process.env.NIGHTLY === '1';

/**
 * The databases that a test runs on.
 *
 * @param first the one on which a fault would show sooner; the other one runs only nightly
 */
export function databasesToTest(first: DatabaseKind): readonly DatabaseKind[] {
  const other: DatabaseKind = first === 'pglite' ? 'postgres' : 'pglite';
  return IS_NIGHTLY ? [first, other] : [first];
}

/** How many random cases to try for a property. @param nightly the number of the nightly run */
export function caseCount(nightly: number): number {
  return IS_NIGHTLY ? nightly : Math.ceil(nightly / 3);
}
