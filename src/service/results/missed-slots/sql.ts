import { readList } from '../../database/lists/lists.ts';
import type { AccountRange } from '../../database/lists/page-entries.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';

/** Evenly spaced slots of a check in a location that were not run. Epoch milliseconds. */
export type MissedRow = {
  readonly checkId: string;
  readonly location: string;
  readonly slot: number;
  readonly lastSlot: number;
  readonly count: number;
  readonly reason: string;
};

/** The columns of a range `m`. */
const RANGE = `m.check_id, m.location, (extract(epoch from m.slot) * 1000)::bigint as slot,
  (extract(epoch from m.last_slot) * 1000)::bigint as last_slot, m.count, m.reason`;

/** Stored ranges of the checks that may have a slot between two instants, both included. */
export function missedBetween(
  sql: Sql,
  {
    accountId,
    checkIds,
    location,
    fromMs,
    toMs,
    maxSpanMs,
  }: {
    readonly accountId: string;
    readonly checkIds: readonly string[];
    /** null for any. */
    readonly location: string | null;
    readonly fromMs: number;
    readonly toMs: number;
    /** No stored range is longer: one that began earlier than this has ended. */
    readonly maxSpanMs: number;
  },
): Promise<readonly MissedRow[]> {
  return sql.query<MissedRow>(
    `select ${RANGE} from missed_slots m
     where m.account_id = $1 and m.check_id = any($2::text[])
       and m.slot between $3::timestamptz and $5::timestamptz and m.last_slot >= $4::timestamptz
       ${location === null ? '' : 'and m.location = $6'}`,
    [
      accountId,
      checkIds,
      new Date(fromMs - maxSpanMs),
      new Date(fromMs),
      new Date(toMs),
      ...(location === null ? [] : [location]),
    ],
  );
}

interface RowsOf {
  readonly accountId: string;
  readonly rows: readonly MissedRow[];
}

/** A range to store. */
export interface NewMissed extends MissedRow {
  /** Milliseconds between its slots. Given, it extends a stored range that it continues. */
  readonly stepMs?: number | undefined;
}

/**
 * Stores ranges. One with `stepMs` is added to the range of the same reason that ends a step before it,
 * unless the two span more than `maxSpanMs`.
 */
export async function insertMissed(
  sql: Sql,
  {
    accountId,
    rows,
    maxSpanMs,
  }: {
    readonly accountId: string;
    readonly rows: readonly NewMissed[];
    /** No stored range is longer. */
    readonly maxSpanMs: number;
  },
): Promise<void> {
  if (rows.length === 0) return;
  await sql.query(
    `with given as materialized (
       select check_id, location, to_timestamp(slot::float8 / 1000) as slot,
         to_timestamp(last_slot::float8 / 1000) as last_slot, count, reason,
         step_ms * interval '1 millisecond' as step
       from jsonb_to_recordset($2::jsonb) as given (check_id text, location text, slot bigint,
         last_slot bigint, count integer, reason text, step_ms float8)
     ), extended as (
       update missed_slots m set last_slot = given.last_slot, count = m.count + given.count
       from given
       where m.account_id = $1 and m.check_id = given.check_id and m.location = given.location
         and m.slot >= given.last_slot - $3::float8 * interval '1 millisecond'
         and m.slot < given.slot and m.last_slot = given.slot - given.step
         and m.last_slot - m.slot = (m.count - 1) * given.step and m.reason = given.reason
       returning given.check_id, given.location, given.slot
     )
     insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
     select $1, check_id, location, slot, last_slot, count, reason from given
     where (check_id, location, slot) not in (select check_id, location, slot from extended)`,
    [
      accountId,
      jsonText(
        rows.map(({ checkId, lastSlot, stepMs, ...row }) => ({
          ...row,
          check_id: checkId,
          last_slot: lastSlot,
          step_ms: stepMs,
        })),
      ),
      maxSpanMs,
    ],
  );
}

/** Deletes the ranges that begin where the given ones begin. */
export async function deleteMissed(sql: Sql, { accountId, rows }: RowsOf): Promise<void> {
  if (rows.length === 0) return;
  await sql.query(
    `delete from missed_slots m
     using unnest($2::text[], $3::text[], $4::timestamptz[]) as given (check_id, location, slot)
     where m.account_id = $1 and m.check_id = given.check_id and m.location = given.location
       and m.slot = given.slot`,
    [
      accountId,
      rows.map(({ checkId }) => checkId),
      rows.map(({ location }) => location),
      rows.map(({ slot }) => new Date(slot)),
    ],
  );
}

export interface MissedFilter extends AccountRange {
  readonly checkId: string;
  /** Ranges with a slot from here on … */
  readonly fromMs: number;
  /** … and before this. */
  readonly toMs: number;
}

/** Newest first. */
export function listMissed(sql: Sql, filter: MissedFilter): Promise<readonly MissedRow[]> {
  const list = {
    columns: RANGE,
    from: 'missed_slots m',
    where: 'm.account_id = $1 and m.check_id = $2',
    filter: 'm.last_slot >= $3::timestamptz and m.slot < $4::timestamptz',
    params: [filter.accountId, filter.checkId, new Date(filter.fromMs), new Date(filter.toMs)],
    order: 'm.slot desc, m.location',
    id: { sql: "m.location || ' ' || extract(epoch from m.slot)::text", type: 'text' } as const,
  };
  return readList<MissedRow>(sql, list, filter);
}

/** Deletes up to `limit` ranges that began before the instant. */
export async function deleteMissedBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from missed_slots where ctid = any (array(
       select ctid from missed_slots where slot < $1::timestamptz order by slot limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
