import type { Sql } from '../database/store.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { lockServicesShared } from './services.sql.ts';

/** The ids of services at one path of a body. */
export interface NamedServices {
  readonly path: readonly PropertyKey[];
  readonly ids: readonly string[];
}

/**
 * Locks the services that a body names against deletion until the transaction ends.
 *
 * @returns a problem for each service that the account does not have
 */
export async function requireServices(
  tx: Sql,
  accountId: string,
  named: readonly NamedServices[],
): Promise<readonly RequestProblem[]> {
  const all = [...new Set(named.flatMap(({ ids }) => ids))];
  const existing = await lockServicesShared(tx, { accountId, ids: all });
  return named.flatMap(({ path, ids }) =>
    ids.flatMap((id, index) =>
      existing.has(id)
        ? []
        : [bodyProblem([...path, index], 'must be the id of a service of status pages')],
    ),
  );
}
