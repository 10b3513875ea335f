import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import type { HeartbeatState } from './heartbeat-state-machine.ts';

export type HeartbeatEvent = {
  readonly id: string;
  readonly state: HeartbeatState;
  readonly at: Date;
  readonly source: string;
  readonly userAgent: string;
  /** Early pings in a row are counted in the event of the first. */
  readonly pings: number;
};

const COLUMNS = 'id, state, at, source, user_agent, pings';

export interface EventFilter extends AccountRange {
  readonly checkId: string;
  /** Epoch milliseconds, inclusive; null for any. */
  readonly fromMs: number | null;
  /** Exclusive. */
  readonly toMs: number | null;
}

/** Newest first. */
export async function listHeartbeatEvents(
  sql: Sql,
  filter: EventFilter,
): Promise<readonly HeartbeatEvent[]> {
  const list = {
    columns: COLUMNS,
    from: 'heartbeat_events',
    where: `account_id = $1 and check_id = $2
       and at >= coalesce($3::timestamptz, '-infinity')
       and at < coalesce($4::timestamptz, 'infinity')`,
    params: [
      filter.accountId,
      filter.checkId,
      filter.fromMs === null ? null : new Date(filter.fromMs),
      filter.toMs === null ? null : new Date(filter.toMs),
    ],
    order: 'at desc, id',
  };
  return readList<HeartbeatEvent>(sql, list, filter);
}

export async function findHeartbeatEvent(
  sql: Sql,
  { accountId, checkId, id }: AccountKey & { readonly checkId: string },
): Promise<HeartbeatEvent | null> {
  const [row] = await sql.query<HeartbeatEvent>(
    `select ${COLUMNS} from heartbeat_events where account_id = $1 and check_id = $2 and id = $3`,
    [accountId, checkId, id],
  );
  return row ?? null;
}

export type EventCount = {
  readonly events: number;
  readonly failing: number;
  /** The state at the end of the span; null before the first event. */
  readonly lastState: HeartbeatState | null;
};

/** Counts the events of each span from its start to before its end, in epoch milliseconds. */
export async function countHeartbeatEvents(
  sql: Sql,
  {
    accountId,
    checkId,
    spans,
  }: {
    readonly accountId: string;
    readonly checkId: string;
    readonly spans: readonly { readonly fromMs: number; readonly toMs: number }[];
  },
): Promise<readonly EventCount[]> {
  return sql.query<EventCount>(
    `select (select count(*) from heartbeat_events e where e.account_id = $1 and e.check_id = $2
         and e.at >= span.since and e.at < span.until) as events,
       (select count(*) from heartbeat_events e where e.account_id = $1 and e.check_id = $2
         and e.at >= span.since and e.at < span.until and e.state = 'FAILING') as failing,
       (select e.state from heartbeat_events e where e.account_id = $1 and e.check_id = $2
         and e.at < span.until order by e.at desc limit 1) as last_state
     from unnest($3::timestamptz[], $4::timestamptz[]) with ordinality as span (since, until, position)
     order by span.position`,
    [
      accountId,
      checkId,
      spans.map(({ fromMs }) => new Date(fromMs)),
      spans.map(({ toMs }) => new Date(toMs)),
    ],
  );
}

/** @returns how many events it deleted, at most the limit */
export async function deleteHeartbeatEventsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from heartbeat_events where ctid = any (array(
       select ctid from heartbeat_events where at < $1::timestamptz order by at limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
