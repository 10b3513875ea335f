import type { Sql } from '../database/port.ts';

/** When the service could last take pings, and whether it told so in time. Epoch milliseconds. */
export interface Alive {
  readonly atMs: number;
  readonly maxSilenceMs: number;
}

/** A clock that is ahead by more than this was wrong: what it told is not waited for. */
const MAX_AHEAD = `interval '1 minute'`;

/** @returns false where the service was silent for too long before, or has never told: see `returned` */
export async function recordAlive(sql: Sql, { atMs, maxSilenceMs }: Alive): Promise<boolean> {
  const rows = await sql.query(
    `update service_alive set alive_at = greatest(alive_at, $1::timestamptz)
     where alive_at > $2::timestamptz and alive_at < $1::timestamptz + ${MAX_AHEAD}
     returning 1`,
    [new Date(atMs), new Date(atMs - maxSilenceMs)],
  );
  return rows.length > 0;
}

/** Whether there was a silence that nobody has taken account of yet. */
export async function isAbsenceOpen(sql: Sql, { atMs, maxSilenceMs }: Alive): Promise<boolean> {
  const rows = await sql.query('select 1 from service_alive where alive_at <= $1::timestamptz', [
    new Date(atMs - maxSilenceMs),
  ]);
  return rows.length > 0;
}

/**
 * Tells that the service is there, after a silence or for the first time. Until the transaction ends,
 * no other replica does.
 *
 * @returns when it was there before; null where it was in time, or is there for the first time
 */
export async function returned(sql: Sql, { atMs, maxSilenceMs }: Alive): Promise<number | null> {
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
 * No ping could be taken between the instants. Where one in time could have come then – from half a
 * period after the one before – it may have been lost, and the next is due a whole period later: so
 * much is granted from the end. What was over before stays over.
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
