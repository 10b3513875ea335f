import type { AccountKey } from '../../database/account-key.ts';
import type { Sql } from '../../database/store.ts';
import { SUBSCRIBERS } from './subscribers.sql.ts';

export interface NotifiedChecks {
  readonly total: number;
  /** The first ones by name. */
  readonly checks: readonly { readonly id: string; readonly name: string }[];
}

/** The checks that a channel is notified of. */
export async function findNotifiedChecks(
  sql: Sql,
  { accountId, id, limit }: AccountKey<number> & { readonly limit: number },
): Promise<NotifiedChecks> {
  const rows = await sql.query<{ id: string; name: string; total: number }>(
    `select k.id, k.name, count(*) over () as total
     from ${SUBSCRIBERS} s join checks k on k.account_id = s.account_id and k.id = s.check_id
     where s.account_id = $1 and s.channel_id = $2::bigint
     order by k.name, k.id limit $3::bigint`,
    [accountId, id, limit],
  );
  return { total: rows[0]?.total ?? 0, checks: rows.map(({ total: _, ...check }) => check) };
}
