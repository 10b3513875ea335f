import type { Sql } from '../database/port.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { bumpLocations, lockLocationsOfSlugs } from './sql.ts';

export interface LocationChange {
  readonly accountId: string;
  /** The private locations that a body names; each must exist. */
  readonly named: readonly string[];
  /** Others whose checks change. */
  readonly affected: readonly string[];
}

/**
 * Counts for every private location concerned that its checks change with this transaction. They
 * stay locked until it ends, so none of them can be deleted meanwhile. The agents learn of it by the
 * triggers, which no path that writes checks can forget.
 *
 * @returns what is wrong with `privateLocations`; nothing is counted where that is not empty
 */
export async function changeLocations(
  tx: Sql,
  { accountId, named, affected }: LocationChange,
): Promise<readonly RequestProblem[]> {
  const slugs = [...new Set([...named, ...affected])];
  const existing = new Set(await lockLocationsOfSlugs(tx, { accountId, slugs }));
  const problems = named.flatMap((slug, index) => {
    if (existing.has(slug)) return [];
    const message = `must be the slug of a private location: there is no ${JSON.stringify(slug)}`;
    return [bodyProblem(['privateLocations', index], message)];
  });
  if (problems.length === 0) await bumpLocations(tx, { accountId, slugs: [...existing] });
  return problems;
}
