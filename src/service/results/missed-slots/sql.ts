import type { Sql } from '../../database/port.ts';
import { jsonText } from '../../database/values.ts';

/** Evenly spaced slots of a check in a location that were not run. Epoch milliseconds. */
export interface MissedRow {
  readonly checkId: string;
  readonly location: string;
  readonly slot: number;
  readonly lastSlot: number;
  readonly count: number;
  readonly reason: string;
}

type MissedSqlRow = {
  readonly checkId: string;
  readonly location: string;
  readonly slot: Date;
  readonly lastSlot: Date;
  readonly count: number;
  readonly reason: string;
};

const COLUMNS = 'check_id, location, slot, last_slot, count, reason';

function missedOf(row: MissedSqlRow): MissedRow {
  return {
    checkId: row.checkId,
    location: row.location,
    slot: row.slot.getTime(),
    lastSlot: row.lastSlot.getTime(),
    count: row.count,
    reason: row.reason,
  };
}

/** Stored ranges of the checks that may have a slot between two instants, both included. */
export async function missedBetween(
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
    /** No stored range is longer: what began earlier than that is over. */
    readonly maxSpanMs: number;
  },
): Promise<readonly MissedRow[]> {
  const rows = await sql.query<MissedSqlRow>(
    `select ${COLUMNS} from missed_slots
     where account_id = $1 and check_id = any($2::text[])
       and slot between $3::timestamptz and $5::timestamptz and last_slot >= $4::timestamptz
       ${location === null ? '' : 'and location = $6'}`,
    [
      accountId,
      checkIds,
      new Date(fromMs - maxSpanMs),
      new Date(fromMs),
      new Date(toMs),
      ...(location === null ? [] : [location]),
    ],
  );
  return rows.map(missedOf);
}

interface RowsOf {
  readonly accountId: string;
  readonly rows: readonly MissedRow[];
}

export async function insertMissed(sql: Sql, { accountId, rows }: RowsOf): Promise<void> {
  if (rows.length === 0) return;
  await sql.query(
    `insert into missed_slots (account_id, ${COLUMNS})
     select $1, check_id, location, to_timestamp(slot::float8 / 1000),
       to_timestamp(last_slot::float8 / 1000), count, reason
     from jsonb_to_recordset($2::jsonb) as given (check_id text, location text, slot bigint,
       last_slot bigint, count integer, reason text)`,
    [
      accountId,
      jsonText(
        rows.map(({ checkId, lastSlot, ...row }) => ({
          ...row,
          check_id: checkId,
          last_slot: lastSlot,
        })),
      ),
    ],
  );
}

/** Those that begin where the given ones begin. */
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

export interface MissedFilter {
  readonly accountId: string;
  readonly checkId: string;
  /** Ranges with a slot from here on … */
  readonly fromMs: number;
  /** … and before this. */
  readonly toMs: number;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first. */
export async function listMissed(sql: Sql, filter: MissedFilter): Promise<readonly MissedRow[]> {
  const rows = await sql.query<MissedSqlRow>(
    `select ${COLUMNS} from missed_slots
     where account_id = $1 and check_id = $2 and last_slot >= $3::timestamptz
       and slot < $4::timestamptz
     order by slot desc, location
     limit $5::bigint offset $6::bigint`,
    [
      filter.accountId,
      filter.checkId,
      new Date(filter.fromMs),
      new Date(filter.toMs),
      filter.limit,
      filter.offset,
    ],
  );
  return rows.map(missedOf);
}

/** Removes ranges that began before the instant, as many as the limit at most. */
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
