import { randomUUID } from 'node:crypto';
import type { CheckResult } from '../../../src/model/result/result.ts';
import { insertRun } from '../../../src/service/check-runs/sql.ts';
import type { Sql } from '../../../src/service/database/store.ts';

/** Assigns every slot of a check to locations: for tests without agents. */
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

/** Assigns the attempt of the result to a location, as if another location had passed it on. */
export async function giveRetry(
  sql: Sql,
  {
    accountId,
    locationId,
    result,
  }: {
    readonly accountId: string;
    readonly locationId: string;
    readonly result: Pick<CheckResult, 'checkId' | 'sequenceId' | 'checkRunId' | 'attempts'>;
  },
): Promise<void> {
  const { checkId, sequenceId, checkRunId: slotMs, attempts: retriesMade } = result;
  await insertRun(sql, {
    ...{ accountId, locationId, checkId, sequenceId, slotMs, retriesMade },
    id: randomUUID(),
    reason: 'retry',
    firstStartedAtMs: slotMs,
    originLocationId: null,
    notBeforeMs: null,
    windowMs: 60_000,
    maxDelayMs: 0,
  });
}
