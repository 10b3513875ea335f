import type { Sql } from '../database/store.ts';

/** Which private locations have a live agent, by the database's clock. */

/** An agent of location `l` has a lease. */
const HAS_AGENT = `exists (select from agents g
  where g.location_id = l.id and g.lease_until > now())`;

/** Returns the locations among these that have a live agent. */
export async function slugsWithAgents(
  sql: Sql,
  { accountId, slugs }: { readonly accountId: string; readonly slugs: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (slugs.length === 0) return new Set();
  const rows = await sql.query<{ slug: string }>(
    `select l.slug from private_locations l
     where l.account_id = $1 and l.slug = any($2::text[]) and ${HAS_AGENT}`,
    [accountId, slugs],
  );
  return new Set(rows.map(({ slug }) => slug));
}

export type LocationAvailability = {
  readonly slug: string;
  readonly name: string;
  readonly hasAgent: boolean;
};

/** The first private locations of an account, oldest first. */
export function listAvailability(
  sql: Sql,
  { accountId, limit }: { readonly accountId: string; readonly limit: number },
): Promise<readonly LocationAvailability[]> {
  return sql.query<LocationAvailability>(
    `select l.slug, l.name, ${HAS_AGENT} as has_agent from private_locations l
     where l.account_id = $1 order by l.created_at, l.id limit $2::int`,
    [accountId, limit],
  );
}
