import type { RotationRule } from '../../../model/schedule/rotation.ts';
import type { Sql } from '../../database/store.ts';
import type { OfLocation } from '../sql.ts';

/**
 * Writes of the assigner, within a transaction that has locked the location with `lockAssignments`.
 * ../agent-share.sql.ts reads these rows for agents.
 */

/** Which agent runs a check, and at which slots. */
export interface AgentAssignment {
  readonly agentId: string | null;
  readonly unassignedReason: string | null;
  readonly slots: RotationRule;
  /** The revision of the check when it was assigned. */
  readonly checkRevision: number;
}

/** Deletes the assignments of checks, with tombstones for the live agents that had them. */
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

/** Records for these agents that they lost these checks. */
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

export interface NewAssignment extends AgentAssignment {
  readonly checkId: string;
  readonly agentEpoch: number | null;
}

/**
 * Stores the assignments that differ from the stored ones: each of these is sent to its agent. An agent
 * that gets a check is responsible for its slots from where the previous agent stopped. The first agent
 * is responsible from the end of its lease at the latest: until then the check is in transit, and no agent
 * is responsible for slots that are due before it arrives. An agent that was killed before it saved the
 * check gets it again (`answerFromAssignmentOn`). An agent that loses a check before it confirmed with a
 * poll that it has it on disk leaves all its slots to the next.
 *
 * A check that was dropped and assigned again before its agent polled is not in transit: the agent still
 * runs it, and gives up the slots that are due and have not begun when the answer arrives.
 */
export async function putAssignments(
  sql: Sql,
  {
    locationId,
    accountId,
    revision,
    assignments,
  }: OfLocation & {
    readonly accountId: string;
    readonly revision: number;
    readonly assignments: readonly NewAssignment[];
  },
): Promise<void> {
  if (assignments.length === 0) return;
  const column = <Value>(of: (one: NewAssignment) => Value): Value[] => assignments.map(of);
  await sql.query(
    `insert into assignments (location_id, account_id, revision, check_id, agent_id, agent_epoch,
       unassigned_reason, period_ms, phase_ms, stride, stride_index, check_revision, answered_until,
       first_assigned_at, assigned_revision)
     select $1, $2, $3::bigint, one.*, case when agent_id is not null then coalesce((
         select case when exists (
             select from assignment_tombstones t where t.location_id = $1 and t.agent_id = g.id
               and t.check_id = one.check_id and t.created_at >= g.last_seen_at)
           then now() else greatest(g.lease_until, now()) end
         from agents g where g.location_id = $1 and g.id = one.agent_id), now()) end,
       case when agent_id is not null then now() end, $3::bigint
     from unnest($4::text[], $5::text[], $6::bigint[], $7::text[], $8::int[], $9::int[], $10::int[],
       $11::int[], $12::bigint[]) as one (check_id, agent_id, agent_epoch, unassigned_reason,
       period_ms, phase_ms, stride, stride_index, check_revision)
     on conflict (location_id, check_id) do update set account_id = excluded.account_id,
       revision = excluded.revision, agent_id = excluded.agent_id,
       agent_epoch = excluded.agent_epoch, unassigned_reason = excluded.unassigned_reason,
       period_ms = excluded.period_ms, phase_ms = excluded.phase_ms, stride = excluded.stride,
       stride_index = excluded.stride_index, check_revision = excluded.check_revision,
       answered_until = case
         -- Unchanged if no agent had the check before, or if the same agent has it.
         when assignments.agent_id is null
           then coalesce(assignments.answered_until, excluded.answered_until)
         when assignments.agent_id = excluded.agent_id then assignments.answered_until
         else coalesce((
           select least(
             case when g.lease_until is null then g.last_seen_at else now() end,
             -- The agent may not have received the check: it is responsible for nothing.
             case when g.known_revision < assignments.assigned_revision
               then assignments.answered_until end)
           from agents g where g.location_id = $1 and g.id = assignments.agent_id), now())
       end,
       assigned_revision = case
         when assignments.agent_id = excluded.agent_id then assignments.assigned_revision
         else excluded.assigned_revision
       end,
       first_assigned_at = case
         when assignments.agent_id = excluded.agent_id then assignments.first_assigned_at
         when assignments.answered_until is null then excluded.first_assigned_at
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
 * Makes a new process of the agent responsible for its checks from their first assignment on: the previous
 * process may have received them and been killed before they were on disk. A new process that finds them
 * on disk ignores the instant.
 */
export async function answerFromAssignmentOn(
  sql: Sql,
  { locationId, agentId }: OfLocation & { readonly agentId: string },
): Promise<void> {
  await sql.query(
    `update assignments set answered_until = first_assigned_at, first_assigned_at = null
     where location_id = $1 and agent_id = $2 and first_assigned_at < answered_until`,
    [locationId, agentId],
  );
}

/** Updates the epochs of assignments whose agents acquired a new lease: these agents get the whole set anyway. */
export async function renewEpochs(sql: Sql, { locationId }: OfLocation): Promise<void> {
  await sql.query(
    `update assignments a set agent_epoch = g.epoch from agents g
     where a.location_id = $1 and g.location_id = $1 and g.id = a.agent_id
       and g.lease_until is not null and a.agent_epoch <> g.epoch`,
    [locationId],
  );
}
