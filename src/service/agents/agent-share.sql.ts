import type { AssignmentMessage } from '../../wire/v1/assignment.ts';
import {
  IS_TO_BE_CANCELLED,
  MAY_BEGIN,
  SENT_SCRIPTS,
  SENT_SCRIPTS_BYTES,
} from '../check-runs/shared.sql.ts';
import { HAS_OPEN_TRIALS } from '../check-trials/shared.sql.ts';
import type { Sql } from '../database/store.ts';
import type { AgentOfLocation } from './sql.ts';

/** Reads what the answer to a poll contains about the agent, its location and its checks. */

/** An agent and its location, as far as the answer to a poll depends on them. */
export type AgentPosition = {
  readonly agentId: string;
  readonly slug: string;
  /** A password that is encrypted is replaced by a mask. */
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
  readonly revision: number;
  /** When the settings of the location last changed: they are sent to an agent at an older revision. */
  readonly settingsRevision: number;
  /** An agent at an older revision gets the whole set. */
  readonly purgedRevision: number;
  /** An agent is new, gone or changed, and the assigner has not handled that yet. */
  readonly pending: boolean;
  /** When the agent last got or lost a check. */
  readonly changedRevision: number;
  /** The location has one-off runs that an agent may begin; usually there are none. */
  readonly openRuns: boolean;
  /** The location has cancelled runs that an agent may still be executing. */
  readonly cancelledRuns: boolean;
  /** The location has trials that no agent has, or that have not ended; usually there are none. */
  readonly openTrials: boolean;
  /** An operator ended the agent. */
  readonly ended: boolean;
  /** The epoch of the last lease; null, like the instance, for an agent that is not stored. */
  readonly epoch: number | null;
  readonly instanceId: string | null;
  /** The lease was neither given back nor found expired. */
  readonly held: boolean;
  /** The lease has not expired. */
  readonly live: boolean;
};

/**
 * Reads the positions of agents of one location; an id may occur more than once. Read them before the
 * checks: a change in between has a later revision, and is sent again.
 *
 * @returns the positions in the order of the ids; null if the location is gone
 */
export async function readPositions(
  sql: Sql,
  { locationId, agentIds }: { readonly locationId: string; readonly agentIds: readonly string[] },
): Promise<readonly AgentPosition[] | null> {
  const rows = await sql.query<AgentPosition>(
    `with location as materialized (
       select l.id, l.slug, l.proxy_url, l.sealed_proxy_password, s.revision, s.settings_revision,
         s.purged_revision,
         exists (select from location_changes c
                 where c.location_id = l.id and c.check_id is null) as pending,
         exists (select from one_off_runs r where r.location_id = l.id and ${MAY_BEGIN}) as open_runs,
         exists (select from one_off_runs r
                 where r.location_id = l.id and ${IS_TO_BE_CANCELLED}) as cancelled_runs,
         ${HAS_OPEN_TRIALS} as open_trials
       from private_locations l join location_assignments s on s.location_id = l.id
       where l.id = $1
     )
     select l.*, asked.id as agent_id, a.epoch, a.instance_id,
       a.lease_until is not null as held, coalesce(a.lease_until > now(), false) as live,
       a.ended_at is not null as ended,
       greatest(
         (select max(g.revision) from assignments g
          where g.location_id = l.id and g.agent_id = asked.id),
         (select max(t.revision) from assignment_tombstones t
          where t.location_id = l.id and t.agent_id = asked.id), 0) as changed_revision
     from location l cross join unnest($2::text[]) as asked (id)
       left join agents a on a.location_id = l.id and a.id = asked.id`,
    [locationId, [...new Set(agentIds)]],
  );
  if (rows.length === 0) return null;
  const positions = new Map(rows.map((row) => [row.agentId, row]));
  return agentIds.flatMap((agentId) => positions.get(agentId) ?? []);
}

/** Which of an agent's checks: those that changed after a revision, or those past an id. */
export type ShareRange = { readonly sinceRevision: number } | { readonly after: string };

/** A check of an agent, before its secret variables are decrypted. */
export interface SharedCheck {
  readonly accountId: string;
  /** The revision of the location when the agent got the check, or when the check last changed. */
  readonly revision: number;
  readonly assignment: AssignmentMessage;
  /** The encrypted values of the secret variables; null if there are none. */
  readonly sealedVariables: Buffer | null;
}

export interface Share {
  readonly checks: readonly SharedCheck[];
  /** The last check read, if there are more; else null. */
  readonly lastOfPart: { readonly checkId: string; readonly revision: number } | null;
}

type ShareRow = {
  readonly accountId: string;
  readonly checkId: string;
  readonly revision: number;
  readonly periodMs: number;
  readonly phaseMs: number;
  readonly stride: number;
  readonly strideIndex: number;
  readonly answeredUntil: Date | null;
  /** JSON; null for a check that is deleted or deactivated. */
  readonly body: string | null;
  readonly groupId: number | null;
  readonly sealedVariables: Buffer | null;
  readonly scripts: AssignmentMessage['scripts'];
  readonly groupTags: string[];
  readonly chosen: number;
};

/** An upper bound for the JSON of an assignment without the check's body. */
const ENVELOPE_BYTES = 400;
/** Most bodies are shorter than this. */
const SHORT_BODY_BYTES = 2_000;

/**
 * Reads the agent's checks with their bodies: as many as fit into `maxRows` and `maxBytes`, at least one.
 * A body may be newer than the assignment; another change is then sent later. Omits checks that are deleted
 * or deactivated; their removal is sent later.
 */
export async function readShare(
  sql: Sql,
  {
    locationId,
    agentId,
    range,
    maxRows,
    maxBytes,
  }: AgentOfLocation & {
    readonly range: ShareRange;
    readonly maxRows: number;
    readonly maxBytes: number;
  },
): Promise<Share> {
  // Each has its own index: assignments_delta and assignments_page.
  const [condition, order, start] =
    'after' in range
      ? ['a.check_id > $3', 'check_id', range.after]
      : ['a.revision > $3::bigint', 'revision', range.sinceRevision];
  const rows = await sql.query<ShareRow>(
    `with chosen as materialized (
       select a.account_id, a.check_id, a.revision, a.period_ms, a.phase_ms, a.stride,
         a.stride_index, a.answered_until
       from assignments a where a.location_id = $1 and a.agent_id = $2 and ${condition}
       order by a.${order} limit $4::int + 1
     ), written as materialized (
       -- Casting a body to text is most of the work: once for a short one; a long one is cast again
       -- below, since it takes too much memory here.
       select chosen.*, c.activated, c.body, c.group_id, c.sealed_variables,
         ${SENT_SCRIPTS_BYTES} as script_bytes, t.bytes as body_bytes,
         case when t.bytes <= ${SHORT_BODY_BYTES} then t.json end as short
       from chosen left join checks c on c.account_id = chosen.account_id and c.id = chosen.check_id
       left join lateral (
         select x.json, octet_length(x.json) as bytes from (select c.body::text as json offset 0) x
       ) t on true
     ), sized as (
       select written.*, row_number() over sent as n,
         sum(coalesce(body_bytes, 0)
           + coalesce(octet_length(sealed_variables), 0)
           + coalesce(script_bytes, 0)
           + ${ENVELOPE_BYTES}) over sent as bytes
       from written window sent as (order by ${order}, check_id rows unbounded preceding)
     )
     select s.account_id, s.check_id, s.revision, s.period_ms, s.phase_ms, s.stride, s.stride_index,
       s.answered_until, (select count(*) from chosen) as chosen,
       case when s.activated then coalesce(s.short, s.body::text) end as body, s.group_id,
       s.sealed_variables, ${SENT_SCRIPTS} as scripts, coalesce(g.tags, '[]'::jsonb) as group_tags
     from sized s left join check_groups g on g.id = s.group_id
     left join checks c on c.account_id = s.account_id and c.id = s.check_id
     where s.n <= $4::int and (s.bytes <= $5::bigint or s.n = 1)
     order by s.n`,
    [locationId, agentId, start, maxRows, maxBytes],
  );
  const last = rows.at(-1);
  return {
    checks: rows.flatMap(({ checkId, body, ...row }) => {
      if (body === null) return [];
      const { periodMs, phaseMs, stride, strideIndex: index } = row;
      const slots = { periodMs, phaseMs, stride, index };
      const answeredUntil = row.answeredUntil?.getTime() ?? null;
      // The column has the group: deleting a group clears it there, but not in the body.
      const check = { ...JSON.parse(body), groupId: row.groupId };
      const { groupTags, scripts } = row;
      const assignment = { checkId, slots, check, answeredUntil, groupTags, scripts };
      const { accountId, sealedVariables, revision } = row;
      return [{ accountId, revision, assignment, sealedVariables }];
    }),
    lastOfPart:
      last === undefined || last.chosen <= rows.length
        ? null
        : { checkId: last.checkId, revision: last.revision },
  };
}

/** A check that an agent lost. */
type LostCheck = { readonly checkId: string; readonly revision: number };

/** The checks that the agent lost after a revision, in the order of their revisions. */
export function listLost(
  sql: Sql,
  {
    locationId,
    agentId,
    sinceRevision,
    limit,
  }: AgentOfLocation & { readonly sinceRevision: number; readonly limit: number },
): Promise<readonly LostCheck[]> {
  return sql.query<LostCheck>(
    `select check_id, revision from assignment_tombstones
     where location_id = $1 and agent_id = $2 and revision > $3::bigint
     order by revision limit $4::int`,
    [locationId, agentId, sinceRevision, limit],
  );
}
