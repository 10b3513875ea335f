import type { Sql } from '../database/store.ts';

/** An instant at which the service can accept pings (epoch ms), and the longest silence before it (ms). */
export interface Alive {
  readonly atMs: number;
  readonly maxSilenceMs: number;
}

/** A record further in the future came from a wrong clock: it is overwritten. */
const MAX_AHEAD = `interval '1 minute'`;

/** @returns false after too long a silence, and where there is no record yet: see `recordReturn` */
export async function recordAlive(sql: Sql, { atMs, maxSilenceMs }: Alive): Promise<boolean> {
  const rows = await sql.query(
    `update service_alive set alive_at = greatest(alive_at, $1::timestamptz)
     where alive_at > $2::timestamptz and alive_at < $1::timestamptz + ${MAX_AHEAD}
     returning 1`,
    [new Date(atMs), new Date(atMs - maxSilenceMs)],
  );
  return rows.length > 0;
}

/** Whether no replica has excused a silence before the instant yet. */
export async function isAbsenceOpen(sql: Sql, { atMs, maxSilenceMs }: Alive): Promise<boolean> {
  const rows = await sql.query('select 1 from service_alive where alive_at <= $1::timestamptz', [
    new Date(atMs - maxSilenceMs),
  ]);
  return rows.length > 0;
}

/**
 * Records the instant after a silence, or for the first time. Blocks other replicas from doing so until the
 * transaction ends.
 *
 * @returns the record before the silence; null if there was no silence, or no record
 */
export async function recordReturn(
  sql: Sql,
  { atMs, maxSilenceMs }: Alive,
): Promise<number | null> {
  await sql.query(
    'insert into service_alive (alive_at) values ($1::timestamptz) on conflict do nothing',
    [new Date(atMs)],
  );
  const [row] = await sql.query<{ aliveAt: Date }>('select alive_at from service_alive for update');
  await sql.query('update service_alive set alive_at = $1::timestamptz', [new Date(atMs)]);
  const beforeMs = row?.aliveAt.getTime() ?? atMs;
  return atMs - beforeMs >= maxSilenceMs ? beforeMs : null;
}

/**
 * Excuses heartbeats for a silence in which the service could not accept pings. A heartbeat whose ping may have
 * been lost gets a whole period from the end of the silence. Regular pings come at the earliest half a period
 * after the previous one, so earlier heartbeats lost none. A deadline that passed before the silence stays.
 *
 * @returns the number of excused heartbeats
 */
export async function excuseAbsence(
  sql: Sql,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<number> {
  const rows = await sql.query(
    `update heartbeats set counted_from = greatest(counted_from, $2::timestamptz),
       due_at = greatest(counted_from, $2::timestamptz)
         + (period_ms + grace_ms) * interval '1 millisecond'
     where due_at > $1::timestamptz and failing_since is null
       and counted_from + period_ms * interval '0.5 milliseconds' < $2::timestamptz
     returning 1`,
    [new Date(fromMs), new Date(toMs)],
  );
  return rows.length;
}
