import type { Sql } from '../database/store.ts';

/** The downtime of a heartbeat in an hour or a day, with its current state. */
export type HeartbeatDowntime = {
  readonly checkId: string;
  /** The first ping, or the upgrade to the release that counts: nothing is known of the time before. */
  readonly watchedSince: Date;
  /** null while it does not fail. */
  readonly failingSince: Date | null;
  /** Start of the hour or day; null for a heartbeat without ended failures in the queried time. */
  readonly start: Date | null;
  /** How long it failed in the hour or day, in failures that have ended. */
  readonly downMs: number;
};

/** Downtime of the given heartbeats that had a ping, by hour or day. Ignores other checks. */
export function readDowntime(
  sql: Sql,
  {
    accountId,
    checkIds,
    fromMs,
    toMs,
    each,
  }: {
    readonly accountId: string;
    readonly checkIds: readonly string[];
    /** Epoch milliseconds of whole hours or days; `toMs` is exclusive. */
    readonly fromMs: number;
    readonly toMs: number;
    readonly each: 'hour' | 'day';
  },
): Promise<readonly HeartbeatDowntime[]> {
  return sql.query<HeartbeatDowntime>(
    `select h.check_id, h.watched_since, h.failing_since, date_trunc($5, d.hour, 'UTC') as start,
       coalesce(sum(d.down_ms), 0) as down_ms
     from heartbeats h
     left join heartbeat_downtime d on d.account_id = h.account_id and d.check_id = h.check_id
       and d.hour >= $3::timestamptz and d.hour < $4::timestamptz
     where h.account_id = $1 and h.check_id = any($2::text[]) and h.watched_since is not null
     group by h.check_id, h.watched_since, h.failing_since, start`,
    [accountId, checkIds, new Date(fromMs), new Date(toMs), each],
  );
}

/** @returns how many hours it deleted, at most the limit */
export async function deleteDowntimeBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from heartbeat_downtime where ctid = any (array(
       select ctid from heartbeat_downtime where hour < $1::timestamptz
       order by hour limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
