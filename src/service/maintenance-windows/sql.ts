import { type MaintenanceWindow, pauseOf } from '../../model/schedule/maintenance-window.ts';
import type { Pause } from '../../model/schedule/pause.ts';
import { overAt } from '../../model/schedule/recurrence.ts';
import { MAX_PAUSES } from '../../wire/v1/limits.ts';
import type { AccountKey } from '../database/account-key.ts';
import { NUMBER_ID, readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { StoreError } from '../database/store-errors.ts';
import { jsonText } from '../database/values.ts';

export interface StoredWindow {
  readonly id: number;
  readonly window: MaintenanceWindow;
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
}

interface OfAccount {
  readonly accountId: string;
}

type WindowRow = Omit<StoredWindow, 'window'> &
  Omit<MaintenanceWindow, 'startsAtMs' | 'endsAtMs' | 'repeatEndsAtMs'> & {
    readonly startsAt: Date;
    readonly endsAt: Date;
    readonly repeatEndsAt: Date | null;
  };

const COLUMNS = `id, name, tags, starts_at, ends_at, repeat_unit, repeat_interval, repeat_ends_at,
  pause_all_checks, silence_alerts_tags, silence_all_alerts, logical_id, created_at, updated_at`;

function storedOf(row: WindowRow): StoredWindow {
  const { id, startsAt, endsAt, repeatEndsAt, createdAt, updatedAt, ...fields } = row;
  const window = {
    ...fields,
    startsAtMs: startsAt.getTime(),
    endsAtMs: endsAt.getTime(),
    repeatEndsAtMs: repeatEndsAt?.getTime() ?? null,
  };
  return { id, window, createdAt, updatedAt };
}

/** The last day with a four-digit year. A window that lasts longer never ends. */
const LAST_MS = Date.UTC(9999, 11, 31);

function valuesOf(window: MaintenanceWindow): readonly unknown[] {
  const overAtMs = overAt(window);
  return [
    window.name,
    jsonText(window.tags),
    new Date(window.startsAtMs),
    new Date(window.endsAtMs),
    window.repeatUnit,
    window.repeatInterval,
    window.repeatEndsAtMs === null ? null : new Date(window.repeatEndsAtMs),
    window.pauseAllChecks,
    jsonText(window.silenceAlertsTags),
    window.silenceAllAlerts,
    overAtMs > LAST_MS ? null : new Date(overAtMs),
    window.logicalId,
  ];
}

export async function insertWindow(
  sql: Sql,
  {
    accountId,
    window,
    atMs,
  }: OfAccount & { readonly window: MaintenanceWindow; readonly atMs: number },
): Promise<StoredWindow> {
  const [row] = await sql.query<WindowRow>(
    `insert into maintenance_windows (name, tags, starts_at, ends_at, repeat_unit, repeat_interval,
       repeat_ends_at, pause_all_checks, silence_alerts_tags, silence_all_alerts, over_at, logical_id,
       account_id, created_at)
     values ($1, $2::jsonb, $3::timestamptz, $4::timestamptz, $5, $6::int, $7::timestamptz,
       $8::boolean, $9::jsonb, $10::boolean, $11::timestamptz, $12, $13, $14::timestamptz)
     returning ${COLUMNS}`,
    [...valuesOf(window), accountId, new Date(atMs)],
  );
  if (row === undefined) {
    throw new StoreError('internal', 'STORE_STATEMENT', 'an insert of a window gave no row');
  }
  return storedOf(row);
}

/** Only in a transaction that has called `lockAccount`. */
export async function updateWindow(
  sql: Sql,
  {
    accountId,
    id,
    window,
    atMs,
  }: AccountKey<number> & { readonly window: MaintenanceWindow; readonly atMs: number },
): Promise<StoredWindow | null> {
  const [row] = await sql.query<WindowRow>(
    `update maintenance_windows set name = $1, tags = $2::jsonb, starts_at = $3::timestamptz,
       ends_at = $4::timestamptz, repeat_unit = $5, repeat_interval = $6::int,
       repeat_ends_at = $7::timestamptz, pause_all_checks = $8::boolean,
       silence_alerts_tags = $9::jsonb, silence_all_alerts = $10::boolean,
       over_at = $11::timestamptz, logical_id = $12, updated_at = $15::timestamptz
     where account_id = $13 and id = $14::bigint
     returning ${COLUMNS}`,
    [...valuesOf(window), accountId, id, new Date(atMs)],
  );
  return row === undefined ? null : storedOf(row);
}

export async function findWindow(
  sql: Sql,
  { accountId, id }: AccountKey<number>,
): Promise<StoredWindow | null> {
  const [row] = await sql.query<WindowRow>(
    `select ${COLUMNS} from maintenance_windows where account_id = $1 and id = $2::bigint`,
    [accountId, id],
  );
  return row === undefined ? null : storedOf(row);
}

/** @returns false if there was none */
export async function deleteWindow(sql: Sql, { accountId, id }: AccountKey<number>): Promise<void> {
  await sql.query('delete from maintenance_windows where account_id = $1 and id = $2::bigint', [
    accountId,
    id,
  ]);
}

const OPERATORS = { gt: '>', gte: '>=', lt: '<', lte: '<=' } as const;
export type InstantComparison = keyof typeof OPERATORS;

export interface InstantFilter {
  readonly comparison: InstantComparison;
  readonly atMs: number;
}

/** Lists windows, oldest first. Filters apply to the first occurrence; null means no filter. */
export async function listWindows(
  sql: Sql,
  {
    accountId,
    startsAt,
    endsAt,
    ...range
  }: AccountRange & {
    readonly startsAt: InstantFilter | null;
    readonly endsAt: InstantFilter | null;
  },
): Promise<readonly StoredWindow[]> {
  const params: unknown[] = [accountId];
  const passes = (column: 'starts_at' | 'ends_at', filter: InstantFilter | null): string => {
    if (filter === null) return '';
    params.push(new Date(filter.atMs));
    return `and ${column} ${OPERATORS[filter.comparison]} $${params.length}::timestamptz`;
  };
  const list = {
    columns: COLUMNS,
    from: 'maintenance_windows',
    where: 'account_id = $1',
    filter: `true ${passes('starts_at', startsAt)} ${passes('ends_at', endsAt)}`,
    params,
    order: 'id',
    id: NUMBER_ID,
  };
  const rows = await readList<WindowRow>(sql, list, range);
  return rows.map(storedOf);
}

export type MaintenanceWindowCounts = {
  readonly all: number;
  /** Windows whose last occurrence ends after the instant. */
  readonly current: number;
  /** Bytes of JSON of the tags of these windows. */
  readonly tagBytes: number;
};

export async function countWindows(
  sql: Sql,
  { accountId, atMs }: OfAccount & { readonly atMs: number },
): Promise<MaintenanceWindowCounts> {
  const [row] = await sql.query<MaintenanceWindowCounts>(
    `select count(*) as all, count(*) filter (where is_current) as current,
       coalesce(sum(bytes) filter (where is_current), 0)::bigint as tag_bytes
     from (
       select over_at is null or over_at > $2::timestamptz as is_current,
         octet_length(tags::text) + octet_length(silence_alerts_tags::text) as bytes
       from maintenance_windows where account_id = $1
     ) w`,
    [accountId, new Date(atMs)],
  );
  return row ?? { all: 0, current: 0, tagBytes: 0 };
}

/** The limit of the protocol with agents; the creation of more is refused. */
export const MAX_CURRENT_WINDOWS = MAX_PAUSES;

/** The windows whose last occurrence ends after the instant, at most MAX_CURRENT_WINDOWS. */
export async function windowsNear(
  sql: Sql,
  { accountId, atMs }: OfAccount & { readonly atMs: number },
): Promise<readonly MaintenanceWindow[]> {
  const rows = await sql.query<WindowRow>(
    `select ${COLUMNS} from maintenance_windows
     where account_id = $1 and (over_at is null or over_at > $2::timestamptz)
     order by id limit $3::int`,
    [accountId, new Date(atMs), MAX_CURRENT_WINDOWS],
  );
  return rows.map((row) => storedOf(row).window);
}

/** Most recently created first, at most MAX_CURRENT_WINDOWS of those that last beyond the instant. */
export async function windowsSince(
  sql: Sql,
  { accountId, atMs }: OfAccount & { readonly atMs: number },
): Promise<readonly StoredWindow[]> {
  const rows = await sql.query<WindowRow>(
    `select ${COLUMNS} from maintenance_windows
     where account_id = $1 and (over_at is null or over_at > $2::timestamptz)
     order by id desc limit $3::int`,
    [accountId, new Date(atMs), MAX_CURRENT_WINDOWS],
  );
  return rows.map(storedOf);
}

/**
 * Agents account for the slots of the last 7 days, so they get the pauses that ended since then, and
 * those of one more day for clocks that differ.
 */
export const REPORTED_AFTER_END_MS = 8 * 86_400_000;

/** The pauses of the account for its agents: current ones, future ones, and those of the last 8 days. */
export async function pausesOf(
  sql: Sql,
  { accountId, atMs }: OfAccount & { readonly atMs: number },
): Promise<readonly Pause[]> {
  const windows = await windowsNear(sql, { accountId, atMs: atMs - REPORTED_AFTER_END_MS });
  return windows.flatMap((window) => pauseOf(window) ?? []);
}
