import type { Capabilities } from '../../wire/v1/poll.ts';
import type { Sql } from '../database/port.ts';

/** An agent of a location, as it said of itself with its last poll. */
export interface KnownAgent {
  readonly id: string;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly concurrency: number;
  readonly running: number;
  readonly queued: number;
  /** How many checks of the location are its own now. */
  readonly checks: number;
  /** Its lease lasts, by the database's clock. */
  readonly live: boolean;
  /** null where the lease was given back or found to be over. */
  readonly leaseUntil: Date | null;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  /** When an operator ended it; null for an agent that may poll. */
  readonly endedAt: Date | null;
  /** Checks that it has and cannot read. */
  readonly refused: readonly { readonly checkId: string; readonly problem: string }[];
  /** How far its clock is ahead of the service's; below 0 it is behind. null where it does not say. */
  readonly clockAheadMs: number | null;
}

/**
 * The agent counts towards its location's bound: it holds a lease, or polled within the last 5 minutes. So
 * an agent that restarts finds its place, whoever came meanwhile.
 */
export const HAS_AGENT_SLOT = `(ended_at is null
  and (lease_until is not null or last_seen_at > now() - interval '5 minutes'))`;

/** How many agents of the location count towards its bound. */
export async function countAgentSlots(
  sql: Sql,
  { locationId }: { readonly locationId: string },
): Promise<number> {
  const [row] = await sql.query<{ agents: number }>(
    `select count(*) as agents from agents where location_id = $1 and ${HAS_AGENT_SLOT}`,
    [locationId],
  );
  return row?.agents ?? 0;
}

/**
 * Where the location has more agents than so many, forgets those that are gone longest, and ended ones
 * last. None that counts towards the bound is forgotten.
 */
export async function forgetOldestAgents(
  sql: Sql,
  { locationId, max }: { readonly locationId: string; readonly max: number },
): Promise<void> {
  await sql.query(
    `delete from agents where location_id = $1 and id in (
       select id from agents where location_id = $1 and lease_until is null and not ${HAS_AGENT_SLOT}
       order by ended_at nulls first, last_seen_at, id
       limit greatest(0, (select count(*) from agents where location_id = $1) - $2::int)
     )`,
    [locationId, max],
  );
}

/** Whether the location has such an agent, or had it lately. */
export async function isKnownAgent(
  sql: Sql,
  { locationId, id }: { readonly locationId: string; readonly id: string },
): Promise<boolean> {
  const rows = await sql.query('select from agents where location_id = $1 and id = $2', [
    locationId,
    id,
  ]);
  return rows.length > 0;
}

export interface LiveAgent {
  readonly id: string;
  readonly epoch: number;
  readonly concurrency: number;
  readonly capabilities: Capabilities;
}

/** Those whose leases are held; after `reapAgents` they are the live ones. */
export async function listLiveAgents(
  sql: Sql,
  { locationId }: { readonly locationId: string },
): Promise<readonly LiveAgent[]> {
  return sql.query<{
    id: string;
    epoch: number;
    concurrency: number;
    capabilities: Capabilities;
  }>(
    `select id, epoch, concurrency, capabilities from agents
     where location_id = $1 and lease_until is not null order by id`,
    [locationId],
  );
}

type AgentRow = {
  readonly id: string;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly concurrency: number;
  readonly running: number;
  readonly queued: number;
  readonly checks: number;
  readonly live: boolean;
  readonly leaseUntil: Date | null;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
  readonly endedAt: Date | null;
  readonly refused: KnownAgent['refused'];
  readonly clockAheadMs: number | null;
};

/** What agent `a` refused of the checks that it was given: it may name any. */
const REFUSED = `coalesce((
  select jsonb_agg(one order by n) from jsonb_array_elements(a.refused) with ordinality as r (one, n)
  where exists (select from assignments s where s.location_id = a.location_id
      and s.agent_id = a.id and s.check_id = one ->> 'checkId')
    or exists (select from one_off_runs o where o.account_id = a.account_id
      and o.location_id = a.location_id and o.agent_id = a.id and o.check_id = one ->> 'checkId')
  ), '[]'::jsonb)`;

/** Those that came first, first; also those that are gone. */
export async function listAgents(
  sql: Sql,
  {
    accountId,
    locationId,
    limit,
    offset,
  }: {
    readonly accountId: string;
    readonly locationId: string;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<readonly KnownAgent[]> {
  const rows = await sql.query<AgentRow>(
    `select id, version, capabilities, concurrency, running, queued, ${REFUSED} as refused,
       clock_ahead_ms, lease_until,
       coalesce(lease_until > now(), false) as live, first_seen_at, last_seen_at, ended_at,
       (select count(*) from assignments s
        where s.location_id = a.location_id and s.agent_id = a.id) as checks
     from agents a where account_id = $1 and location_id = $2
     order by first_seen_at, id limit $3::bigint offset $4::bigint`,
    [accountId, locationId, limit, offset],
  );
  return rows.map(({ leaseUntil, firstSeenAt, lastSeenAt, endedAt, clockAheadMs, ...row }) => ({
    ...row,
    leaseUntil,
    firstSeenAt,
    lastSeenAt,
    clockAheadMs,
    endedAt,
  }));
}
