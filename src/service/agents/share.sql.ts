import type { AssignmentMessage } from '../../wire/v1/assignment.ts';
import { MAY_BEGIN } from '../check-runs/exports.ts';
import type { Sql } from '../database/port.ts';

/** What an agent is told: of itself, of its location, and of its checks. */

export interface AgentOfLocation {
  readonly locationId: string;
  readonly agentId: string;
}

export interface AgentPosition {
  readonly slug: string;
  /** With a mask in the place of its password, where that is encrypted. */
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
  readonly revision: number;
  /** When the settings of the location last changed: an agent at an older one is told them. */
  readonly settingsRevision: number;
  /** An agent at an older revision gets the whole set. */
  readonly purgedRevision: number;
  /** An agent came, went or changed, and the checks are not shared out anew yet. */
  readonly pending: boolean;
  /** When the agent last got or lost a check. */
  readonly changedRevision: number;
  /** There are runs beside the plan in the location, of whoever: mostly there are none. */
  readonly openRuns: boolean;
  /** An operator ended the agent. */
  readonly ended: boolean;
  /** The agent's lease; null where it has none that anybody knows of. */
  readonly lease: {
    readonly epoch: number;
    readonly instanceId: string;
    readonly held: boolean;
    readonly live: boolean;
  } | null;
}

type StandingRow = {
  readonly slug: string;
  readonly proxyUrl: string | null;
  readonly sealedProxyPassword: Buffer | null;
  readonly revision: number;
  readonly settingsRevision: number;
  readonly purgedRevision: number;
  readonly pending: boolean;
  readonly changedRevision: number;
  readonly openRuns: boolean;
  readonly agentId: string;
  readonly epoch: number | null;
  readonly instanceId: string | null;
  readonly held: boolean;
  readonly live: boolean;
  readonly ended: boolean;
};

/**
 * Of some agents of a location, each once or more often. To be read before the checks: what changes
 * meanwhile has a later revision, and is told again.
 *
 * @returns in their order; null where the location is gone
 */
export async function readStandings(
  sql: Sql,
  { locationId, agentIds }: { readonly locationId: string; readonly agentIds: readonly string[] },
): Promise<readonly AgentPosition[] | null> {
  const rows = await sql.query<StandingRow>(
    `with location as materialized (
       select l.id, l.slug, l.proxy_url, l.sealed_proxy_password, s.revision, s.settings_revision,
         s.purged_revision,
         exists (select from location_changes c
                 where c.location_id = l.id and c.check_id is null) as pending,
         exists (select from one_off_runs r where r.location_id = l.id and ${MAY_BEGIN}) as open_runs
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
  const standings = new Map(rows.map((row) => [row.agentId, standingOf(row)]));
  return agentIds.flatMap((agentId) => standings.get(agentId) ?? []);
}

function standingOf(row: StandingRow): AgentPosition {
  const { epoch, instanceId, held, live } = row;
  return {
    slug: row.slug,
    proxyUrl: row.proxyUrl,
    sealedProxyPassword: row.sealedProxyPassword,
    revision: row.revision,
    settingsRevision: row.settingsRevision,
    purgedRevision: row.purgedRevision,
    pending: row.pending,
    changedRevision: row.changedRevision,
    openRuns: row.openRuns,
    ended: row.ended,
    lease: epoch === null || instanceId === null ? null : { epoch, instanceId, held, live },
  };
}

/** Which of an agent's checks: those that changed after a revision, or those past an id. */
export type ShareRange = { readonly sinceRevision: number } | { readonly after: string };

/** A check of an agent, before its secret variables are opened. */
export interface SharedCheck {
  readonly accountId: string;
  /** Of the location, when the agent got it or it changed. */
  readonly revision: number;
  readonly assignment: AssignmentMessage;
  /** The values of its secret variables, encrypted; null where it has none. */
  readonly sealedVariables: Buffer | null;
}

export interface Share {
  readonly checks: readonly SharedCheck[];
  /** The last one, where there are more; null where there are not. */
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
  /** JSON; null for one that is deleted or deactivated. */
  readonly body: string | null;
  readonly groupId: number | null;
  readonly sealedVariables: Buffer | null;
  readonly groupTags: string[];
  readonly chosen: number;
};

/** What stands in JSON beside a check's body, at the most. */
const ENVELOPE_BYTES = 400;
/** As JSON; most are shorter. */
const SHORT_BODY_BYTES = 2_000;

/**
 * The agent's checks with their bodies, as many as fit into `maxRows` and `maxBytes`, and one at
 * least. The bodies are those of now, which may be newer than the assignment: then another change
 * follows. One that is deleted or deactivated meanwhile is left out: its end follows, too.
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
       -- Once for each, as it is most of the work; long ones twice, as they are too much to keep.
       select chosen.*, c.activated, c.body, c.group_id, c.sealed_variables, t.bytes as body_bytes,
         case when t.bytes <= ${SHORT_BODY_BYTES} then t.json end as short
       from chosen left join checks c on c.account_id = chosen.account_id and c.id = chosen.check_id
       left join lateral (
         select x.json, octet_length(x.json) as bytes from (select c.body::text as json offset 0) x
       ) t on true
     ), sized as (
       select written.*, row_number() over told as place,
         sum(coalesce(body_bytes, 0)
           + coalesce(octet_length(sealed_variables), 0)
           + ${ENVELOPE_BYTES}) over told as bytes
       from written window told as (order by ${order}, check_id rows unbounded preceding)
     )
     select s.account_id, s.check_id, s.revision, s.period_ms, s.phase_ms, s.stride, s.stride_index,
       s.answered_until, (select count(*) from chosen) as chosen,
       case when s.activated then coalesce(s.short, s.body::text) end as body, s.group_id,
       s.sealed_variables, coalesce(g.tags, '[]'::jsonb) as group_tags
     from sized s left join check_groups g on g.id = s.group_id
     where s.place <= $4::int and (s.bytes <= $5::bigint or s.place = 1)
     order by s.place`,
    [locationId, agentId, start, maxRows, maxBytes],
  );
  const last = rows.at(-1);
  return {
    checks: rows.flatMap(({ checkId, body, ...row }) => {
      if (body === null) return [];
      const { periodMs, phaseMs, stride, strideIndex: index } = row;
      const slots = { periodMs, phaseMs, stride, index };
      const answeredUntil = row.answeredUntil?.getTime() ?? null;
      // The column holds the group: a deleted one is cleared there, and not in the body.
      const check = { ...JSON.parse(body), groupId: row.groupId };
      const assignment = { checkId, slots, check, answeredUntil, groupTags: row.groupTags };
      const { accountId, sealedVariables, revision } = row;
      return [{ accountId, revision, assignment, sealedVariables }];
    }),
    lastOfPart:
      last === undefined || last.chosen <= rows.length
        ? null
        : { checkId: last.checkId, revision: last.revision },
  };
}

/** A check that an agent has no more. */
export interface LostCheck {
  readonly checkId: string;
  readonly revision: number;
}

/** The checks that the agent lost after a revision, at most so many, in the order of theirs. */
export async function listLost(
  sql: Sql,
  {
    locationId,
    agentId,
    sinceRevision,
    limit,
  }: AgentOfLocation & { readonly sinceRevision: number; readonly limit: number },
): Promise<readonly LostCheck[]> {
  const rows = await sql.query<{ checkId: string; revision: number }>(
    `select check_id, revision from assignment_tombstones
     where location_id = $1 and agent_id = $2 and revision > $3::bigint
     order by revision limit $4::int`,
    [locationId, agentId, sinceRevision, limit],
  );
  return rows.map(({ checkId, revision }) => ({ checkId, revision }));
}
