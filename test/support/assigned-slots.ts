import type { Sql } from '../../src/service/store/port.ts';

/** Gives locations every instant of a check, as if they had always had it: for tests without agents. */
export async function giveEverySlot(
  sql: Sql,
  {
    accountId,
    checkId,
    slugs,
  }: { readonly accountId: string; readonly checkId: string; readonly slugs: readonly string[] },
): Promise<void> {
  await sql.query(
    `insert into assigned_slots (location_id, check_id, since)
     select l.id, $2, to_timestamp(0) from private_locations l
     where l.account_id = $1 and l.slug = any($3::text[])
       and not exists (select from assigned_slots s
         where s.location_id = l.id and s.check_id = $2 and s.period_ms is null and s.until is null)`,
    [accountId, checkId, slugs],
  );
}
