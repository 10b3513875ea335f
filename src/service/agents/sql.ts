import type { AgentHealth, Capabilities } from '../../wire/v1/poll.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { AGENT_COUNTS_FOR_MINUTES } from './agent-limits.ts';

export interface OfLocation {
  readonly locationId: string;
}

export interface AgentOfLocation extends OfLocation {
  readonly agentId: string;
}

/** A stored agent of a location, as its last poll reported it. */
export type KnownAgent = {
  readonly id: string;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly concurrency: number;
  readonly running: number;
  readonly queued: number;
  /** How many checks of the location are assigned to it. */
  readonly checks: number;
  /** Its lease has not expired, by the database's clock. */
  readonly live: boolean;
  /** null if the lease was given back or found expired. */
  readonly leaseUntil: Date | null;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  /** When an operator ended it; null for an agent that may poll. */
  readonly endedAt: Date | null;
  /** Checks that are assigned to it and that it cannot read. */
  readonly refused: readonly { readonly checkId: string; readonly problem: string }[];
  /** How far its clock is ahead of the service's; negative if behind. null if not reported. */
  readonly clockAheadMs: number | null;
  /** null if not reported. */
  readonly health: AgentHealth | null;
};

/**
 * Whether the agent counts towards its location's limit: it has a lease, or polled recently. Therefore an
 * agent that restarts keeps its slot.
 */
export const COUNTS_TOWARDS_LIMIT = `(ended_at is null
  and (lease_until is not null or last_seen_at > now() - interval '${AGENT_COUNTS_FOR_MINUTES} minutes'))`;

/** How many agents of the location count towards its limit. */
export async function countLimitedAgents(sql: Sql, { locationId }: OfLocation): Promise<number> {
  const [row] = await sql.query<{ agents: number }>(
    `select count(*) as agents from agents where location_id = $1 and ${COUNTS_TOWARDS_LIMIT}`,
    [locationId],
  );
  return row?.agents ?? 0;
}

/**
 * If a location has more than `max` agents, deletes the surplus: agents that have been gone longest first,
 * ended ones last. Keeps all that count towards the limit.
 */
export async function deleteOldestAgents(
  sql: Sql,
  { locationId, max }: OfLocation & { readonly max: number },
): Promise<void> {
  await sql.query(
    `delete from agents where location_id = $1 and id in (
       select id from agents where location_id = $1 and lease_until is null and not ${COUNTS_TOWARDS_LIMIT}
       order by ended_at nulls first, last_seen_at, id
       limit greatest(0, (select count(*) from agents where location_id = $1) - $2::int)
     )`,
    [locationId, max],
  );
}

export async function isKnownAgent(
  sql: Sql,
  { locationId, id }: OfLocation & { readonly id: string },
): Promise<boolean> {
  const rows = await sql.query('select from agents where location_id = $1 and id = $2', [
    locationId,
    id,
  ]);
  return rows.length > 0;
}

/** `clockAheadMs` of the agent; null also for an unknown agent. */
export async function findClockAhead(
  sql: Sql,
  { locationId, agentId }: AgentOfLocation,
): Promise<number | null> {
  const [row] = await sql.query<{ clockAheadMs: number | null }>(
    'select clock_ahead_ms from agents where location_id = $1 and id = $2',
    [locationId, agentId],
  );
  return row?.clockAheadMs ?? null;
}

/** Raises the stored lead of the agent's clock to at least this: agents of older releases do not report it. */
export async function raiseClockAhead(
  sql: Sql,
  { locationId, agentId, aheadMs }: AgentOfLocation & { readonly aheadMs: number },
): Promise<void> {
  await sql.query(
    `update agents set clock_ahead_ms = greatest(clock_ahead_ms, $3::bigint)
     where location_id = $1 and id = $2
       and clock_ahead_ms is distinct from greatest(clock_ahead_ms, $3::bigint)`,
    [locationId, agentId, aheadMs],
  );
}

export type LiveAgent = {
  readonly id: string;
  readonly epoch: number;
  readonly concurrency: number;
  readonly capabilities: Capabilities;
};

/** Lists agents whose leases are held; right after `reapAgents` these are the live agents. */
export function listLiveAgents(
  sql: Sql,
  { locationId }: OfLocation,
): Promise<readonly LiveAgent[]> {
  return sql.query<LiveAgent>(
    `select id, epoch, concurrency, capabilities from agents
     where location_id = $1 and lease_until is not null order by id`,
    [locationId],
  );
}

/** The checks that agent `a` refused, without ids that are not assigned to it: an agent may report any id. */
const REFUSED = `coalesce((
  select jsonb_agg(one order by n) from jsonb_array_elements(a.refused) with ordinality as r (one, n)
  where exists (select from assignments s where s.location_id = a.location_id
      and s.agent_id = a.id and s.check_id = one ->> 'checkId')
    or exists (select from one_off_runs o where o.account_id = a.account_id
      and o.location_id = a.location_id and o.agent_id = a.id and o.check_id = one ->> 'checkId')
  ), '[]'::jsonb)`;

/** Oldest first; includes agents that are gone. */
export function listAgents(
  sql: Sql,
  { accountId, locationId, ...range }: AccountRange & { readonly locationId: string },
): Promise<readonly KnownAgent[]> {
  const list = {
    columns: `id, version, capabilities, concurrency, running, queued, ${REFUSED} as refused,
       clock_ahead_ms, health, lease_until,
       coalesce(lease_until > now(), false) as live, first_seen_at, last_seen_at, ended_at,
       (select count(*) from assignments s
        where s.location_id = a.location_id and s.agent_id = a.id) as checks`,
    from: 'agents a',
    where: 'account_id = $1 and location_id = $2',
    params: [accountId, locationId],
    order: 'first_seen_at, id',
  };
  return readList<KnownAgent>(sql, list, range);
}
