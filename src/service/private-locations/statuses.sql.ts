import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';

/** The state of the agents of a private location, by the clock of the database. */
export type LocationStatus = {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly liveAgents: number;
  /** Includes agents that are gone, for a month. */
  readonly knownAgents: number;
  /** The releases of the live agents, each once, in no order. */
  readonly versions: readonly string[];
  /** The last poll of any agent; null if it never had one. */
  readonly lastSeenAt: Date | null;
  /** The last poll, if checks are assigned and no agent polls any more. */
  readonly silentSince: Date | null;
  readonly checks: number;
  readonly unassignedChecks: number;
  /** The largest deviation of a live agent's clock. */
  readonly clockAheadMs: number | null;
  /** The highest of the live agents. */
  readonly maxLatenessMs: number | null;
  /** The sum of all live agents; null if none reports it. */
  readonly spoolRecords: number | null;
  readonly spoolOldestMs: number | null;
  /** In the last 24 hours. */
  readonly missedSlots: number;
};

/** The agents of location `l`; an agent reports its health as src/wire/v1/poll.ts has it. */
const LIVE = 'g.lease_until > now()';
const AGENTS = `lateral (
  select count(*) filter (where ${LIVE}) as live_agents, count(*) as known_agents,
    coalesce(array_agg(distinct g.version) filter (where ${LIVE}), '{}') as versions,
    max(g.last_seen_at) as last_seen_at,
    (array_agg(g.clock_ahead_ms order by abs(g.clock_ahead_ms) desc)
      filter (where ${LIVE} and g.clock_ahead_ms is not null))[1] as clock_ahead_ms,
    max((g.health ->> 'maxLatenessMs')::bigint) filter (where ${LIVE}) as max_lateness_ms,
    sum((g.health ->> 'spoolRecords')::bigint) filter (where ${LIVE})::bigint as spool_records,
    max((g.health ->> 'spoolOldestMs')::bigint) filter (where ${LIVE}) as spool_oldest_ms
  from agents g where g.location_id = l.id
) g`;
const CHECKS = `lateral (
  select count(*) as checks, count(*) filter (where a.agent_id is null) as unassigned_checks
  from assignments a
  where a.location_id = l.id and a.unassigned_reason is distinct from 'too_many_locations'
) a`;
/** A stored range spans a day at most. Its slots are evenly spaced. */
const MISSED = `lateral (
  select coalesce(sum(case when m.slot >= now() - interval '1 day' then m.count
      else 1 + floor(extract(epoch from m.last_slot - (now() - interval '1 day'))
        / (extract(epoch from m.last_slot - m.slot) / greatest(1, m.count - 1)))
    end), 0)::bigint as missed_slots
  from missed_slots m
  where m.account_id = l.account_id and m.location = l.slug
    and m.slot > now() - interval '2 days' and m.last_slot >= now() - interval '1 day'
) m`;
const COLUMNS = `l.id, l.slug, l.name, g.live_agents, g.known_agents, g.versions,
  g.last_seen_at,
  (select s.since from silent_locations s where s.location_id = l.id) as silent_since,
  a.checks, a.unassigned_checks, g.clock_ahead_ms, g.max_lateness_ms, g.spool_records,
  g.spool_oldest_ms, m.missed_slots`;
const FACTS = `${AGENTS}, ${CHECKS}, ${MISSED}`;

/** Oldest location first. */
export function listLocationStatuses(
  sql: Sql,
  { accountId, ...range }: AccountRange,
): Promise<readonly LocationStatus[]> {
  const list = {
    columns: 'id, account_id, slug, name, created_at',
    from: 'private_locations',
    where: 'account_id = $1',
    params: [accountId],
    order: 'created_at, id',
    wrap: (page: string, order: string, keys: string) =>
      `select ${COLUMNS}${keys} from (${page}) l, ${FACTS} ${order}`,
  };
  return readList<LocationStatus>(sql, list, range);
}

export async function findLocationStatus(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<LocationStatus | null> {
  const [found] = await sql.query<LocationStatus>(
    `select ${COLUMNS} from private_locations l, ${FACTS} where l.account_id = $1 and l.id = $2`,
    [accountId, id],
  );
  return found ?? null;
}
