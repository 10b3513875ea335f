import type { Check } from '../../../model/check/check.ts';
import type { Sql } from '../../database/store.ts';
import type { RequestProblem } from '../../errors.ts';
import { bodyProblem } from '../../http/resources/input-problems.ts';
import { findTransitiveDependents, lockDependencies, typesOfChecks } from './sql.ts';

/**
 * Requires that the checks which a check newly depends on exist, and that none of them depends on this check.
 * A check that it already depended on may have been deleted: that suppresses no alert, and other changes must
 * stay possible.
 *
 * @param before the stored check; null for one that is created
 * @returns the problems found
 */
export async function requireParents(
  tx: Sql,
  accountId: string,
  { id, dependsOn }: Pick<Check, 'id' | 'dependsOn'>,
  before: Pick<Check, 'dependsOn'> | null,
): Promise<readonly RequestProblem[]> {
  const stored = before?.dependsOn ?? [];
  const fresh = dependsOn.filter((parent) => !stored.includes(parent));
  if (fresh.length === 0) return [];
  await lockDependencies(tx, accountId);
  const types = await typesOfChecks(tx, { accountId, ids: fresh });
  const dependents = new Set(await findTransitiveDependents(tx, { accountId, id, among: fresh }));
  return fresh.flatMap((parent) => {
    const problem = problemOf(parent);
    return problem === null ? [] : [bodyProblem(['dependsOn', dependsOn.indexOf(parent)], problem)];
  });

  function problemOf(parent: string): string | null {
    if (parent === id) return 'must be the id of another check: no check depends on itself';
    const type = types.get(parent);
    if (type === undefined) return `must be the id of a check: there is no ${parent}`;
    if (type === 'HEARTBEAT') {
      return `must be the id of a check that runs: ${parent} is a heartbeat`;
    }
    if (!dependents.has(parent)) return null;
    return `must not lead back to this check: ${parent} depends on it, itself or through others`;
  }
}
