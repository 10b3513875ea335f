import type { Sql } from '../database/store.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { bumpLocations, lockLocationsOfSlugs } from './sql.ts';

export interface LocationChange {
  readonly accountId: string;
  /** The slugs in the body's `privateLocations`; each must exist. */
  readonly named: readonly string[];
  /** Other locations whose checks change. */
  readonly affected: readonly string[];
}

/**
 * Records a change for each of these private locations, and locks them until the transaction ends, so that
 * none is deleted in between. Triggers notify the assigner, so that code that writes checks cannot forget it.
 *
 * @returns problems in `privateLocations`; records no change if there are any
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

/** Finds problems in the `privateLocations` of a body. */
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
