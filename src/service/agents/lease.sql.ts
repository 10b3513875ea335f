import type { AgentHealth, Capabilities } from '../../wire/v1/poll.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import { COUNTS_TOWARDS_LIMIT, type KnownAgent, type OfLocation } from './sql.ts';

export interface AgentKey extends OfLocation {
  readonly id: string;
}

/** What an agent reports with a poll. */
export interface AgentFacts {
  readonly instanceId: string;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly concurrency: number;
  readonly running: number;
  readonly queued: number;
  readonly refused: KnownAgent['refused'];
  /** The agent has saved its checks up to this revision of its location; 0 before the first answer. */
  readonly revision: number;
  readonly leaseMs: number;
  /** null if the agent does not report it. */
  readonly clockAheadMs: number | null;
  /** null if it is not reported. */
  readonly health: AgentHealth | null;
}

const FACTS = `version = $4, running = least($5::bigint, 2147483647)::int,
  queued = least($6::bigint, 2147483647)::int, refused = $7::jsonb,
  lease_until = now() + $8::float8 * interval '1 millisecond', last_seen_at = now(),
  clock_ahead_ms = $9::bigint, health = $10::jsonb,
  known_revision = greatest(agents.known_revision, $11::bigint)`;

function factsOf(key: AgentKey, facts: AgentFacts): readonly unknown[] {
  return [
    key.locationId,
    key.id,
    facts.instanceId,
    facts.version,
    facts.running,
    facts.queued,
    jsonText(facts.refused),
    facts.leaseMs,
    facts.clockAheadMs,
    facts.health === null ? null : jsonText(facts.health),
    facts.revision,
  ];
}

/** An agent that polls, and the lease that it believes it has. */
export interface Renewal {
  readonly id: string;
  readonly epoch: number;
  readonly facts: AgentFacts;
}

/**
 * Renews the leases of a location whose holders have not changed, which is the case for nearly every poll.
 * One statement handles all polls that arrive at once.
 *
 * @returns for each poll whether its lease was renewed: false if this instance does not have the lease with
 *   this epoch, if its capabilities or concurrency changed, or if the agent was ended
 */
export async function renewLeases(
  sql: Sql,
  { locationId, renewals }: { readonly locationId: string; readonly renewals: readonly Renewal[] },
): Promise<readonly boolean[]> {
  const column = <Value>(of: (renewal: Renewal) => Value): Value[] => renewals.map(of);
  const rows = await sql.query<{ n: number }>(
    // Locks in the order of ids: two such statements cannot deadlock.
    `with asked as materialized (
       select * from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::int[], $7::text[],
         $8::bigint[], $9::bigint[], $10::text[], $11::float8[], $12::bigint[], $13::text[], $14::bigint[]) with ordinality
         as asked (id, instance_id, epoch, capabilities, concurrency, version, running, queued, refused,
         lease_ms, clock_ahead_ms, health, revision, n)
     ), held as materialized (
       select asked.n from agents a join asked on asked.id = a.id
       where a.location_id = $1 and a.instance_id = asked.instance_id and a.epoch = asked.epoch
         and a.lease_until is not null and a.ended_at is null
         and a.capabilities = asked.capabilities::jsonb and a.concurrency = asked.concurrency
       order by a.id, asked.n for update of a
     ), renewed as (
       update agents a set version = asked.version,
         running = least(asked.running, 2147483647)::int,
         queued = least(asked.queued, 2147483647)::int, refused = asked.refused::jsonb,
         lease_until = now() + asked.lease_ms * interval '1 millisecond', last_seen_at = now(),
         clock_ahead_ms = asked.clock_ahead_ms, health = asked.health::jsonb,
         known_revision = greatest(a.known_revision, asked.revision)
       from asked join held on held.n = asked.n where a.location_id = $1 and a.id = asked.id
     )
     select n from held`,
    [
      locationId,
      column(({ id }) => id),
      column(({ facts }) => facts.instanceId),
      column(({ epoch }) => epoch),
      column(({ facts }) => jsonText(facts.capabilities)),
      column(({ facts }) => facts.concurrency),
      column(({ facts }) => facts.version),
      column(({ facts }) => facts.running),
      column(({ facts }) => facts.queued),
      column(({ facts }) => jsonText(facts.refused)),
      column(({ facts }) => facts.leaseMs),
      column(({ facts }) => facts.clockAheadMs),
      column(({ facts }) => (facts.health === null ? null : jsonText(facts.health))),
      column(({ facts }) => facts.revision),
    ],
  );
  const held = new Set(rows.map(({ n }) => n));
  return renewals.map((_, index) => held.has(index + 1));
}

export type HeldLease = {
  readonly instanceId: string;
  readonly epoch: number;
  /** Neither given back nor found expired. */
  readonly held: boolean;
  /** Not expired. */
  readonly live: boolean;
  /** The agent counts towards the location's limit: see `countLimitedAgents`. */
  readonly hasAgentSlot: boolean;
  /** An operator ended the agent. */
  readonly ended: boolean;
};

/** Locks the agent until the transaction ends. */
export async function lockAgent(sql: Sql, { locationId, id }: AgentKey): Promise<HeldLease | null> {
  const [row] = await sql.query<HeldLease>(
    `select instance_id, epoch, lease_until is not null as held,
       coalesce(lease_until > now(), false) as live, ${COUNTS_TOWARDS_LIMIT} as has_agent_slot,
       ended_at is not null as ended
     from agents where location_id = $1 and id = $2 for update`,
    [locationId, id],
  );
  return row ?? null;
}

/** Renews a lease that `lockAgent` found to be held, and stores what its holder reports. */
export async function changeAgent(
  sql: Sql,
  { facts, ...key }: AgentKey & { readonly facts: AgentFacts },
): Promise<void> {
  await sql.query(
    `update agents set ${FACTS}, capabilities = $12::jsonb, concurrency = $13::int
     where location_id = $1 and id = $2 and instance_id = $3 and lease_until is not null`,
    [...factsOf(key, facts), jsonText(facts.capabilities), facts.concurrency],
  );
}

/**
 * Gives the agent a new lease with the next epoch, which fences off the previous holder.
 *
 * @returns the epoch
 */
export async function acquireLease(
  sql: Sql,
  {
    accountId,
    facts,
    ...key
  }: AgentKey & { readonly accountId: string; readonly facts: AgentFacts },
): Promise<number> {
  const rows = await sql.query<{ epoch: number }>(
    `insert into agents (account_id, location_id, id, instance_id, version, running, queued,
       refused, lease_until, clock_ahead_ms, health, known_revision, capabilities, concurrency,
       epoch)
     values ($14, $1, $2, $3, $4, least($5::bigint, 2147483647)::int,
       least($6::bigint, 2147483647)::int, $7::jsonb,
       now() + $8::float8 * interval '1 millisecond', $9::bigint, $10::jsonb, $11::bigint,
       $12::jsonb, $13::int, 1)
     on conflict (location_id, id) do update set ${FACTS}, instance_id = $3,
       capabilities = $12::jsonb, concurrency = $13::int, epoch = agents.epoch + 1
     returning epoch`,
    [...factsOf(key, facts), jsonText(facts.capabilities), facts.concurrency, accountId],
  );
  return rows[0]?.epoch ?? 0;
}

/** @returns false if another process has the lease, or if it has expired */
export async function endLease(
  sql: Sql,
  { locationId, id, epoch }: AgentKey & { readonly epoch: number },
): Promise<boolean> {
  const rows = await sql.query(
    `update agents set lease_until = null
     where location_id = $1 and id = $2 and epoch = $3::bigint and lease_until is not null
     returning id`,
    [locationId, id, epoch],
  );
  return rows.length > 0;
}

/**
 * Ends the agent and its lease until `allowAgent`. The caller has locked the location with
 * `lockAssignments`. Idempotent.
 *
 * @returns null if the location has no such agent
 */
export async function markAgentEnded(
  sql: Sql,
  { locationId, id }: AgentKey,
): Promise<{ readonly wasHeld: boolean } | null> {
  const [row] = await sql.query<{ wasHeld: boolean }>(
    `with before as materialized (
       select lease_until is not null as held from agents
       where location_id = $1 and id = $2 for update
     )
     update agents set ended_at = coalesce(ended_at, now()), lease_until = null from before
     where location_id = $1 and id = $2 returning before.held as was_held`,
    [locationId, id],
  );
  return row ?? null;
}

/** @returns false if the location has no such agent */
export async function allowAgent(sql: Sql, { locationId, id }: AgentKey): Promise<boolean> {
  const rows = await sql.query(
    'update agents set ended_at = null where location_id = $1 and id = $2 returning id',
    [locationId, id],
  );
  return rows.length > 0;
}

/**
 * Ends expired leases, and deletes agents that were not seen for a month. Does not delete agents that an
 * operator ended: they could then poll again as new agents.
 *
 * @returns the agents whose leases ended
 */
export async function reapAgents(sql: Sql, { locationId }: OfLocation): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `update agents set lease_until = null where location_id = $1 and lease_until < now()
     returning id`,
    [locationId],
  );
  await sql.query(
    `delete from agents
     where location_id = $1 and lease_until is null and ended_at is null
       and last_seen_at < now() - interval '30 days'`,
    [locationId],
  );
  return rows.map(({ id }) => id);
}
