import type { Sql } from '../database/port.ts';
import type { RequestProblem } from '../errors.ts';
import { bodyProblem } from '../http/resources/input-problems.ts';
import { lockServicesShared } from './services.sql.ts';

/** The ids of services that stand at one place of a body. */
export interface NamedServices {
  readonly path: readonly PropertyKey[];
  readonly ids: readonly string[];
}

/**
 * Holds the services that a body names until the transaction ends.
 *
 * @returns those that the account has not
 */
export async function requireServices(
  tx: Sql,
  accountId: string,
  named: readonly NamedServices[],
): Promise<readonly RequestProblem[]> {
  const ids = [...new Set(named.flatMap((place) => place.ids))];
  const existing = await lockServicesShared(tx, { accountId, ids });
  return named.flatMap((place) =>
    place.ids.flatMap((id, index) =>
      existing.has(id)
        ? []
        : [bodyProblem([...place.path, index], 'must be the id of a service of status pages')],
    ),
  );
}
