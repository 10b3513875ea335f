import type { Sql } from '../database/store.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { bumpLocations, lockLocationsOfSlugs } from './sql.ts';

export interface LocationChange {
  readonly accountId: string;
  /** The slugs in the body's `privateLocations`; each must exist. */
  readonly named: readonly string[];
  /** Others whose checks change. */
  readonly affected: readonly string[];
}

/**
 * Counts a change for each of these private locations, and locks them until the transaction ends: none
 * can be deleted in between. Triggers notify the assigner, so no code that writes checks can forget it.
 *
 * @returns what is wrong with `privateLocations`; if anything is, no change is counted
 */
export async function countLocationChange(
  tx: Sql,
  { accountId, named, affected }: LocationChange,
): Promise<readonly RequestProblem[]> {
  const slugs = [...new Set([...named, ...affected])];
  const existing = new Set(await lockLocationsOfSlugs(tx, { accountId, slugs }));
  const problems = missingLocations(named, existing);
  if (problems.length === 0) await bumpLocations(tx, { accountId, slugs: [...existing] });
  return problems;
}

/** What is wrong with the `privateLocations` of a body. */
export function missingLocations(
  named: readonly string[],
  existing: ReadonlySet<string>,
): readonly RequestProblem[] {
  return named.flatMap((slug, index) =>
    existing.has(slug) ? [] : [bodyProblem(['privateLocations', index], noSuchLocation(slug))],
  );
}

export function noSuchLocation(slug: string): string {
  return `must be the slug of a private location: there is no ${JSON.stringify(slug)}`;
}
