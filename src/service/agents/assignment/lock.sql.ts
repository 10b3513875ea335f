import type { Sql } from '../../database/port.ts';

/** Whatever is done for one location. */
export interface OfLocation {
  readonly locationId: string;
}

export interface LockedLocation {
  readonly accountId: string;
  readonly slug: string;
  /** Of what its agents run. */
  readonly revision: number;
}

/**
 * Until the transaction ends, nobody else changes who runs what in the location, nor who its agents
 * are. The location itself is held first, since whoever changes it holds it before this, too.
 *
 * @param whenBusy `skip` gives null where somebody else holds it
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
