import type { RotationRule } from '../../../model/schedule/rotation.ts';
import type { Sql } from '../../database/port.ts';
import type { OfLocation } from './lock.sql.ts';

/**
 * What the assigner writes, all of it within a transaction that holds the location by
 * `lockAssignments`. What agents read of it is in ../share.sql.ts.
 */

/** Who runs a check, and at which slots. */
export interface Assignment {
  readonly agentId: string | null;
  readonly unassignedReason: string | null;
  readonly slots: RotationRule;
  /** Of the check's body that its agent was told. */
  readonly checkRevision: number;
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

export interface NewAssignment extends Assignment {
  readonly checkId: string;
  readonly agentEpoch: number | null;
}

/**
 * Only those that differ from what is stored: their agents hear of them. Whoever gets a check answers
 * for its slots from where the agent before it left off. The first one answers for them from the end
 * of its lease on, at the latest: until then the check is on its way, and what falls due before it
 * arrives is nobody's. An agent that was killed before it had the check on disk is told so once more.
 *
 * A check that was dropped and comes back before its agent polled again is not on its way: the agent
 * still runs it, and gives up what is due and has not begun up to the instant that it is told.
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
    readonly places: readonly NewAssignment[];
  },
): Promise<void> {
  if (places.length === 0) return;
  const column = <Value>(of: (place: NewAssignment) => Value): Value[] => places.map(of);
  await sql.query(
    `insert into assignments (location_id, account_id, revision, check_id, agent_id, agent_epoch,
       unassigned_reason, period_ms, phase_ms, stride, stride_index, check_revision, answered_until)
     select $1, $2, $3::bigint, place.*, case when agent_id is not null then coalesce((
         select case when exists (
             select from assignment_tombstones t where t.location_id = $1 and t.agent_id = g.id
               and t.check_id = place.check_id and t.created_at >= g.last_seen_at)
           then now() else greatest(g.lease_until, now()) end
         from agents g where g.location_id = $1 and g.id = place.agent_id), now()) end
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
