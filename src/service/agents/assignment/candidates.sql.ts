import type { CheckFeature } from '../../../model/check/check-features.ts';
import type { FamilyChoice, Frequency, RunnableCheckType } from '../../../model/enums.ts';
import type { RotationRule } from '../../../model/schedule/rotation.ts';
import { NEEDED_FEATURES } from '../../check-runs/shared.sql.ts';
import { PRIVATE_LOCATIONS_IN_FORCE } from '../../checks/shared.sql.ts';
import type { Sql } from '../../database/store.ts';
import type { OfLocation } from '../sql.ts';
import type { AgentAssignment } from './sql.ts';

/** Which checks the assigner has to assign, read within a transaction of `lockAssignments`. */

/**
 * Some of the checks: those with these ids, or those with `after` < id <= `last`; null for `last` sets
 * no upper bound.
 */
export type CheckRange =
  | { readonly checkIds: readonly string[] }
  | { readonly after: string; readonly last: string | null };

/** Returns the last id of a range of `count` checks of an account; null if fewer are left. */
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

/** The condition on a column of check ids, with parameters numbered from `from`. */
function inRange(column: string, range: CheckRange, from: number): [string, readonly unknown[]] {
  if ('checkIds' in range) return [`${column} = any($${from}::text[])`, [range.checkIds]];
  const { after, last } = range;
  return last === null
    ? [`${column} > $${from}`, [after]]
    : [`${column} > $${from} and ${column} <= $${from + 1}`, [after, last]];
}

/** $1 is the location, $2 the account, $3 the slug. */
const RUNS_HERE = `c.account_id = $2 and c.check_type <> 'HEARTBEAT' and c.activated and coalesce(g.activated, true) and ${PRIVATE_LOCATIONS_IN_FORCE} ? $3`;

/** A check that is to run in a location: what decides which agent runs it, and when. */
export interface Candidate {
  readonly id: string;
  readonly checkType: RunnableCheckType;
  readonly ipFamily: FamilyChoice;
  readonly features: readonly CheckFeature[];
  readonly frequency: Frequency;
  readonly frequencyOffset: number | null;
  readonly runParallel: boolean;
  /** All private locations that it names; some may not exist. */
  readonly slugs: readonly string[];
  readonly revision: number;
  /** The stored assignment; null for a check that is new here. */
  readonly before: AgentAssignment | null;
}

type AssignmentRow = Omit<AgentAssignment, 'slots'> &
  Omit<RotationRule, 'index'> & { readonly strideIndex: number };

/** The columns of an assignment `a`. */
const ASSIGNMENT = `a.agent_id, a.unassigned_reason, a.period_ms, a.phase_ms, a.stride,
  a.stride_index, a.check_revision`;

function assignmentOf(row: AssignmentRow): AgentAssignment {
  const { agentId, unassignedReason, checkRevision } = row;
  const { periodMs, phaseMs, stride, strideIndex: index } = row;
  const slots = { periodMs, phaseMs, stride, index };
  return { agentId, unassignedReason, checkRevision, slots };
}

/** The IP family of a check `c`. */
const IP_FAMILY = `coalesce(c.body #>> '{request,ipFamily}', 'IPv4')`;

type CandidateRow = Omit<Candidate, 'before'> & AssignmentRow & { readonly known: string | null };

/**
 * The FROM clause for the checks of a range. Looks up named checks one by one: for thousands of ids the
 * planner would otherwise scan the whole table.
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

/** The checks of a range that run in the location now. */
export async function listCandidates(
  sql: Sql,
  {
    locationId,
    accountId,
    slug,
    range,
  }: OfLocation & {
    readonly accountId: string;
    readonly slug: string;
    readonly range: CheckRange;
  },
): Promise<readonly Candidate[]> {
  const [source, condition, params] = checksIn(range);
  const rows = await sql.query<CandidateRow>(
    `select c.id, c.check_type, ${IP_FAMILY} as ip_family, ${NEEDED_FEATURES} as features,
       c.frequency, (c.body ->> 'frequencyOffset')::float8 as frequency_offset,
       coalesce((c.body ->> 'runParallel')::boolean, false) as run_parallel, ${PRIVATE_LOCATIONS_IN_FORCE} as slugs,
       c.revision, a.check_id as known, ${ASSIGNMENT}
     from ${source} left join check_groups g on g.id = c.group_id
       left join assignments a on a.location_id = $1 and a.check_id = c.id
     where ${RUNS_HERE} and ${condition}`,
    [locationId, accountId, slug, ...params],
  );
  return rows.map((row) => ({ ...row, before: row.known === null ? null : assignmentOf(row) }));
}

/** The checks of a range that have an assignment in the location, whether they still run there or not. */
export async function listAssigned(
  sql: Sql,
  { locationId, range }: OfLocation & { readonly range: CheckRange },
): Promise<readonly string[]> {
  const [condition, params] = inRange('check_id', range, 2);
  const rows = await sql.query<{ checkId: string }>(
    `select check_id from assignments where location_id = $1 and ${condition}`,
    [locationId, ...params],
  );
  return rows.map(({ checkId }) => checkId);
}

/** A check of a location whose agent is gone. */
export interface Orphan extends Pick<Candidate, 'id' | 'checkType' | 'ipFamily' | 'features'> {
  readonly before: AgentAssignment;
}

type OrphanRow = AssignmentRow & {
  readonly id: string;
  readonly checkType: RunnableCheckType | null;
  readonly ipFamily: FamilyChoice | null;
  readonly features: readonly CheckFeature[] | null;
};

/**
 * The checks of the location that these agents have, at most `limit`.
 *
 * @returns `deleted` are the ids of checks that do not exist any more; `all` is true if there are
 *   no others
 */
export async function listOrphans(
  sql: Sql,
  {
    locationId,
    agentIds,
    limit,
  }: OfLocation & { readonly agentIds: readonly string[]; readonly limit: number },
): Promise<{
  readonly orphans: readonly Orphan[];
  readonly deleted: readonly string[];
  readonly all: boolean;
}> {
  const rows = await sql.query<OrphanRow>(
    // With limit 1 the planner looks each check up; otherwise it might scan the whole table.
    `select a.*, c.* from (
       select account_id, check_id as id, ${ASSIGNMENT} from assignments a
       where location_id = $1 and agent_id = any($2::text[]) limit $3::int
     ) a left join lateral (
       select check_type, ${IP_FAMILY} as ip_family, ${NEEDED_FEATURES} as features from checks c
       where c.account_id = a.account_id and c.id = a.id limit 1
     ) c on true`,
    [locationId, agentIds, limit],
  );
  const deleted: string[] = [];
  const orphans: Orphan[] = [];
  for (const { id, checkType, ipFamily, features, ...row } of rows) {
    if (checkType === null || ipFamily === null || features === null) deleted.push(id);
    else orphans.push({ id, checkType, ipFamily, features, before: assignmentOf(row) });
  }
  return { orphans, deleted, all: rows.length < limit };
}

/** The checks of the location without an agent. */
export async function listUnassigned(
  sql: Sql,
  { locationId }: OfLocation,
): Promise<readonly string[]> {
  const rows = await sql.query<{ checkId: string }>(
    'select check_id from assignments where location_id = $1 and agent_id is null',
    [locationId],
  );
  return rows.map(({ checkId }) => checkId);
}
