import type { Sql } from '../../database/store.ts';
import type { OfLocation } from '../sql.ts';

export interface LockedLocation {
  readonly accountId: string;
  readonly slug: string;
  /** The revision of the location's assignments. */
  readonly revision: number;
}

/**
 * Locks the assignments and the agents of the location until the transaction ends. Locks the location's
 * row first: whoever changes that row also locks it before the assignments.
 *
 * @param whenBusy `skip` returns null if another transaction has the lock
 * @returns null also where there is no such location
 */
export async function lockAssignments(
  sql: Sql,
  { locationId, whenBusy }: OfLocation & { readonly whenBusy: 'wait' | 'skip' },
): Promise<LockedLocation | null> {
  const skip = whenBusy === 'skip' ? 'skip locked' : '';
  const [location] = await sql.query<{ accountId: string; slug: string }>(
    `select account_id, slug from private_locations where id = $1 for key share ${skip}`,
    [locationId],
  );
  if (location === undefined) return null;
  const [counter] = await sql.query<{ revision: number }>(
    `select revision from location_assignments where location_id = $1 for update ${skip}`,
    [locationId],
  );
  if (counter === undefined) return null;
  return { accountId: location.accountId, slug: location.slug, revision: counter.revision };
}

export async function setRevision(
  sql: Sql,
  { locationId, revision }: OfLocation & { readonly revision: number },
): Promise<void> {
  await sql.query(
    `update location_assignments set revision = $2::bigint, assigned_at = now()
     where location_id = $1`,
    [locationId, revision],
  );
}

export async function listSlugs(
  sql: Sql,
  { accountId }: { readonly accountId: string },
): Promise<readonly string[]> {
  const rows = await sql.query<{ slug: string }>(
    'select slug from private_locations where account_id = $1',
    [accountId],
  );
  return rows.map(({ slug }) => slug);
}
