import type { Capabilities } from '../../wire/v1/poll.ts';
import type { Sql } from './port.ts';

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
  /** Checks that it has and cannot read. */
  readonly refused: readonly { readonly checkId: string; readonly problem: string }[];
  /** How far its clock is ahead of the service's; below 0 it is behind. null where it does not say. */
  readonly clockAheadMs: number | null;
}

/**
 * Forgets the agents that are gone longest where the location has more than so many.
 *
 * @returns how many it has then
 */
export async function limitAgents(
  sql: Sql,
  { locationId, max }: { readonly locationId: string; readonly max: number },
): Promise<number> {
  const count = async (): Promise<number> => {
    const [row] = await sql.query<{ agents: number }>(
      'select count(*) as agents from agents where location_id = $1',
      [locationId],
    );
    return row?.agents ?? 0;
  };
  const known = await count();
  if (known <= max) return known;
  await sql.query(
    `delete from agents where location_id = $1 and id in (
       select id from agents where location_id = $1 and lease_until is null
       order by last_seen_at, id limit $2::int
     )`,
    [locationId, known - max],
  );
  return count();
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
  readonly lease_until: Date | null;
  readonly first_seen_at: Date;
  readonly last_seen_at: Date;
  readonly refused: KnownAgent['refused'];
  readonly clock_ahead_ms: number | null;
};

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
    `select id, version, capabilities, concurrency, running, queued, refused, clock_ahead_ms, lease_until,
       coalesce(lease_until > now(), false) as live, first_seen_at, last_seen_at,
       (select count(*) from assignments s
        where s.location_id = a.location_id and s.agent_id = a.id) as checks
     from agents a where account_id = $1 and location_id = $2
     order by first_seen_at, id limit $3::bigint offset $4::bigint`,
    [accountId, locationId, limit, offset],
  );
  return rows.map(({ lease_until, first_seen_at, last_seen_at, clock_ahead_ms, ...row }) => ({
    ...row,
    leaseUntil: lease_until,
    firstSeenAt: first_seen_at,
    lastSeenAt: last_seen_at,
    clockAheadMs: clock_ahead_ms,
  }));
}
