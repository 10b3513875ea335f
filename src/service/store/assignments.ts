import type { TurnRule } from '../../model/slot-stride.ts';
import type { Frequency, IpFamily, RunnableCheckType } from '../../model/vocabulary.ts';
import type { Sql } from './port.ts';

/**
 * What the assigner reads and writes, all of it within a transaction that holds the location by
 * `lockAssignments`. What agents read of it is in agent-share.ts.
 */

interface OfLocation {
  readonly locationId: string;
}

export interface LockedLocation {
  readonly accountId: string;
  readonly slug: string;
  /** Of what its agents run. */
  readonly revision: number;
}

/**
 * Until the transaction ends, nobody else changes who runs what in the location, nor who its agents
 * are. The location itself is held first, since whoever changes it holds it before this, too.
 *
 * @param whenBusy `skip` gives null where somebody else holds it
 * @returns null also where there is no such location
 */
export async function lockAssignments(
  sql: Sql,
  { locationId, whenBusy }: OfLocation & { readonly whenBusy: 'wait' | 'skip' },
): Promise<LockedLocation | null> {
  const skip = whenBusy === 'skip' ? 'skip locked' : '';
  const [location] = await sql.query<{ account_id: string; slug: string }>(
    `select account_id, slug from private_locations where id = $1 for key share ${skip}`,
    [locationId],
  );
  if (location === undefined) return null;
  const [counter] = await sql.query<{ revision: number }>(
    `select revision from location_assignments where location_id = $1 for update ${skip}`,
    [locationId],
  );
  if (counter === undefined) return null;
  return { accountId: location.account_id, slug: location.slug, revision: counter.revision };
}

export async function setRevision(
  sql: Sql,
  { locationId, revision }: OfLocation & { readonly revision: number },
): Promise<void> {
  await sql.query(
    `update location_assignments set revision = $2::bigint, assigned_at = now()
     where location_id = $1`,
    [locationId, revision],
  );
}

export async function listSlugs(
  sql: Sql,
  { accountId }: { readonly accountId: string },
): Promise<readonly string[]> {
  const rows = await sql.query<{ slug: string }>(
    'select slug from private_locations where account_id = $1',
    [accountId],
  );
  return rows.map(({ slug }) => slug);
}

/**
 * Some of the checks: those that are named, or those whose ids are past `after` and not past
 * `last`; with null, all that are past `after`.
 */
export type CheckRange =
  | { readonly checkIds: readonly string[] }
  | { readonly after: string; readonly last: string | null };

/** Where a range of so many checks of an account ends; null where no more of them are left. */
export async function endOfRange(
  sql: Sql,
  {
    accountId,
    after,
    checks,
  }: { readonly accountId: string; readonly after: string; readonly checks: number },
): Promise<string | null> {
  const rows = await sql.query<{ id: string }>(
    `select id from checks where account_id = $1 and id > $2
     order by id limit 1 offset $3::int - 1`,
    [accountId, after, checks],
  );
  return rows[0]?.id ?? null;
}

/** The condition on a column with checks' ids, whose parameters begin with number `from`. */
function inRange(column: string, range: CheckRange, from: number): [string, readonly unknown[]] {
  if ('checkIds' in range) return [`${column} = any($${from}::text[])`, [range.checkIds]];
  const { after, last } = range;
  return last === null
    ? [`${column} > $${from}`, [after]]
    : [`${column} > $${from} and ${column} <= $${from + 1}`, [after, last]];
}

/** In a group that names private locations these stand in for the check's own. */
const SLUGS = `case when slugs_or_none(g.private_locations) <> '[]'::jsonb
  then g.private_locations else slugs_or_none(c.body -> 'privateLocations') end`;
/** $1 is the location, $2 the account, $3 the slug. */
const RUNS_HERE = `c.account_id = $2 and c.check_type <> 'HEARTBEAT' and c.activated and coalesce(g.activated, true) and (${SLUGS}) ? $3`;

/** Who runs a check, and at which slots. */
export interface Place {
  readonly agentId: string | null;
  readonly unassignedReason: string | null;
  readonly slots: TurnRule;
  /** Of the check's body that its agent was told. */
  readonly checkRevision: number;
}

/** A check that is to run in a location, as far as that decides who runs it and when. */
export interface Candidate {
  readonly id: string;
  readonly checkType: RunnableCheckType;
  readonly ipFamily: IpFamily;
  readonly frequency: Frequency;
  readonly frequencyOffset: number | null;
  readonly runParallel: boolean;
  /** All private locations that it names, of which some may not exist. */
  readonly slugs: readonly string[];
  readonly revision: number;
  /** What it was so far; null for one that is new here. */
  readonly before: Place | null;
}

type CandidateRow = {
  readonly id: string;
  readonly check_type: RunnableCheckType;
  readonly ip_family: IpFamily;
  readonly frequency: Frequency;
  readonly frequency_offset: number | null;
  readonly run_parallel: boolean;
  readonly slugs: readonly string[];
  readonly revision: number;
  readonly known: string | null;
  readonly agent_id: string | null;
  readonly unassigned_reason: string | null;
  readonly period_ms: number;
  readonly phase_ms: number;
  readonly stride: number;
  readonly stride_index: number;
  readonly check_revision: number;
};

function candidateOf(row: CandidateRow): Candidate {
  const before: Place = {
    agentId: row.agent_id,
    unassignedReason: row.unassigned_reason,
    slots: {
      periodMs: row.period_ms,
      phaseMs: row.phase_ms,
      stride: row.stride,
      index: row.stride_index,
    },
    checkRevision: row.check_revision,
  };
  return {
    id: row.id,
    checkType: row.check_type,
    ipFamily: row.ip_family,
    frequency: row.frequency,
    frequencyOffset: row.frequency_offset,
    runParallel: row.run_parallel,
    slugs: row.slugs,
    revision: row.revision,
    before: row.known === null ? null : before,
  };
}

interface LocationSlug extends OfLocation {
  readonly accountId: string;
  readonly slug: string;
}

/**
 * Where the checks of a range are read from. Named ones are looked up one by one: for some thousands
 * of them the planner would otherwise rather read all that there are.
 */
function checksIn(range: CheckRange): [string, string, readonly unknown[]] {
  if ('checkIds' in range) {
    const one = 'select * from checks where account_id = $2 and id = named.id limit 1';
    const source = `(select distinct id from unnest($4::text[]) as named (id)) as named
       cross join lateral (${one}) c`;
    return [source, 'true', [range.checkIds]];
  }
  return ['checks c', ...inRange('c.id', range, 4)];
}

/** Those of a range that run in the location now. */
export async function listCandidates(
  sql: Sql,
  { locationId, accountId, slug, range }: LocationSlug & { readonly range: CheckRange },
): Promise<readonly Candidate[]> {
  const [source, condition, params] = checksIn(range);
  const rows = await sql.query<CandidateRow>(
    `select c.id, c.check_type, coalesce(c.body #>> '{request,ipFamily}', 'IPv4') as ip_family,
       c.frequency, (c.body ->> 'frequencyOffset')::float8 as frequency_offset,
       coalesce((c.body ->> 'runParallel')::boolean, false) as run_parallel, ${SLUGS} as slugs,
       c.revision, a.check_id as known, a.agent_id, a.unassigned_reason, a.period_ms, a.phase_ms,
       a.stride, a.stride_index, a.check_revision
     from ${source} left join check_groups g on g.id = c.group_id
       left join assignments a on a.location_id = $1 and a.check_id = c.id
     where ${RUNS_HERE} and ${condition}`,
    [locationId, accountId, slug, ...params],
  );
  return rows.map(candidateOf);
}

/** The checks of a range that the location has so far, whether they still run there or not. */
export async function listAssigned(
  sql: Sql,
  { locationId, range }: OfLocation & { readonly range: CheckRange },
): Promise<readonly string[]> {
  const [condition, params] = inRange('check_id', range, 2);
  const rows = await sql.query<{ check_id: string }>(
    `select check_id from assignments where location_id = $1 and ${condition}`,
    [locationId, ...params],
  );
  return rows.map(({ check_id }) => check_id);
}

/** The checks of the location that these agents have, at most so many. */
export async function listChecksOf(
  sql: Sql,
  {
    locationId,
    agentIds,
    limit,
  }: OfLocation & { readonly agentIds: readonly string[]; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ check_id: string }>(
    `select check_id from assignments where location_id = $1 and agent_id = any($2::text[])
     limit $3::int`,
    [locationId, agentIds, limit],
  );
  return rows.map(({ check_id }) => check_id);
}

/** The checks of the location that nobody has. */
export async function listUnassigned(
  sql: Sql,
  { locationId }: OfLocation,
): Promise<readonly string[]> {
  const rows = await sql.query<{ check_id: string }>(
    'select check_id from assignments where location_id = $1 and agent_id is null',
    [locationId],
  );
  return rows.map(({ check_id }) => check_id);
}

/** Takes checks out of the location, and leaves word for the agents that had them and live. */
export async function dropAssignments(
  sql: Sql,
  {
    locationId,
    revision,
    checkIds,
  }: OfLocation & { readonly revision: number; readonly checkIds: readonly string[] },
): Promise<void> {
  if (checkIds.length === 0) return;
  await sql.query(
    `with dropped as (
       delete from assignments where location_id = $1 and check_id = any($3::text[])
       returning agent_id, check_id
     )
     insert into assignment_tombstones (location_id, agent_id, check_id, revision)
     select $1, agent_id, check_id, $2::bigint
     from dropped join agents on agents.location_id = $1 and agents.id = agent_id
     where lease_until is not null
     on conflict (location_id, agent_id, check_id)
       do update set revision = excluded.revision, created_at = now()`,
    [locationId, revision, checkIds],
  );
}

/** An agent and one of its checks. */
export interface AgentCheck {
  readonly agentId: string;
  readonly checkId: string;
}

function columnsOf(pairs: readonly AgentCheck[]): readonly [string[], string[]] {
  return [pairs.map(({ agentId }) => agentId), pairs.map(({ checkId }) => checkId)];
}

/** Leaves word that these agents have these checks no more. */
export async function addTombstones(
  sql: Sql,
  {
    locationId,
    revision,
    lost,
  }: OfLocation & { readonly revision: number; readonly lost: readonly AgentCheck[] },
): Promise<void> {
  if (lost.length === 0) return;
  await sql.query(
    `insert into assignment_tombstones (location_id, revision, agent_id, check_id)
     select $1, $2::bigint, agent_id, check_id
     from unnest($3::text[], $4::text[]) as lost (agent_id, check_id)
     on conflict (location_id, agent_id, check_id)
       do update set revision = excluded.revision, created_at = now()`,
    [locationId, revision, ...columnsOf(lost)],
  );
}

export interface NewPlace extends Place {
  readonly checkId: string;
  readonly agentEpoch: number | null;
}

/**
 * Only those that differ from what is stored: their agents hear of them. Whoever gets a check answers
 * for its slots from where the agent before it left off, or from its first assignment on: an agent
 * that was killed before it had the check on disk is told so once more.
 */
export async function putAssignments(
  sql: Sql,
  {
    locationId,
    accountId,
    revision,
    places,
  }: OfLocation & {
    readonly accountId: string;
    readonly revision: number;
    readonly places: readonly NewPlace[];
  },
): Promise<void> {
  if (places.length === 0) return;
  const column = <Value>(of: (place: NewPlace) => Value): Value[] => places.map(of);
  await sql.query(
    `insert into assignments (location_id, account_id, revision, check_id, agent_id, agent_epoch,
       unassigned_reason, period_ms, phase_ms, stride, stride_index, check_revision, answered_until)
     select $1, $2, $3::bigint, place.*, case when agent_id is not null then now() end
     from unnest($4::text[], $5::text[], $6::bigint[], $7::text[], $8::int[], $9::int[], $10::int[],
       $11::int[], $12::bigint[]) as place (check_id, agent_id, agent_epoch, unassigned_reason,
       period_ms, phase_ms, stride, stride_index, check_revision)
     on conflict (location_id, check_id) do update set account_id = excluded.account_id,
       revision = excluded.revision, agent_id = excluded.agent_id,
       agent_epoch = excluded.agent_epoch, unassigned_reason = excluded.unassigned_reason,
       period_ms = excluded.period_ms, phase_ms = excluded.phase_ms, stride = excluded.stride,
       stride_index = excluded.stride_index, check_revision = excluded.check_revision,
       answered_until = case
         -- Nobody had it so far, or nobody has it still, or the same one: then it is as it was.
         when assignments.agent_id is null
           then coalesce(assignments.answered_until, excluded.answered_until)
         when assignments.agent_id = excluded.agent_id then assignments.answered_until
         else coalesce((
           select case when g.lease_until is null then g.last_seen_at else now() end
           from agents g where g.location_id = $1 and g.id = assignments.agent_id), now())
       end`,
    [
      locationId,
      accountId,
      revision,
      column(({ checkId }) => checkId),
      column(({ agentId }) => agentId),
      column(({ agentEpoch }) => agentEpoch),
      column(({ unassignedReason }) => unassignedReason),
      column(({ slots }) => slots.periodMs),
      column(({ slots }) => slots.phaseMs),
      column(({ slots }) => slots.stride),
      column(({ slots }) => slots.index),
      column(({ checkRevision }) => checkRevision),
    ],
  );
}

/**
 * Agents that took their lease anew and kept their checks: nobody needs to hear of it, as they get
 * the whole set anyway.
 */
export async function renewEpochs(sql: Sql, { locationId }: OfLocation): Promise<void> {
  await sql.query(
    `update assignments a set agent_epoch = g.epoch from agents g
     where a.location_id = $1 and g.location_id = $1 and g.id = a.agent_id
       and g.lease_until is not null and a.agent_epoch <> g.epoch`,
    [locationId],
  );
}
