import type { IncidentStatus } from '../../model/incident/dashboard-incident.ts';
import type { IncidentSeverity } from '../../model/incident/status-page-incident.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';

/** An incident as readers of status pages see it. */
export type PublicIncident = {
  readonly id: string;
  readonly name: string;
  readonly severity: IncidentSeverity;
  readonly status: IncidentStatus;
  /** The ids of its services, among those that the caller passed. */
  readonly serviceIds: readonly string[];
  /** The earliest time of an update that readers see. */
  readonly startedAt: Date;
  /** null while it is open. */
  readonly resolvedAt: Date | null;
};

/** The time of update `u` that readers see. */
const AT = 'coalesce(u.public_at, u.created_at)';

/** The end of a statement that selects the incidents of account $1 with one of the services $2. */
const PUBLIC_INCIDENTS = `i.id, i.name, i.severity, i.last_update_status as status, array(
    select s.service_id from status_page_incident_services s
    where s.account_id = i.account_id and s.incident_id = i.id
      and s.service_id = any($2::text[]) order by s.position
  ) as service_ids,
  coalesce((
    select min(${AT}) from status_page_incident_updates u
    where u.account_id = i.account_id and u.incident_id = i.id
  ), i.created_at) as started_at,
  case when i.last_update_status = 'RESOLVED' then (
    select ${AT} from status_page_incident_updates u
    where u.account_id = i.account_id and u.incident_id = i.id order by u.n desc limit 1
  ) end as resolved_at
  from status_page_incidents i
  where i.account_id = $1 and not i.is_draft and i.id in (
    select incident_id from status_page_incident_services
    where account_id = $1 and service_id = any($2::text[]))`;

/**
 * Returns the incidents, except drafts, that name one of the services and were open at the instant or later. Open
 * ones come first, then the newest.
 */
export function publicIncidentsSince(
  sql: Sql,
  {
    accountId,
    serviceIds,
    sinceMs,
    limit,
  }: {
    readonly accountId: string;
    readonly serviceIds: readonly string[];
    readonly sinceMs: number;
    readonly limit: number;
  },
): Promise<readonly PublicIncident[]> {
  return sql.query<PublicIncident>(
    `select * from (
       select ${PUBLIC_INCIDENTS}
         -- It changes when it is resolved.
         and (i.last_update_status <> 'RESOLVED'
           or coalesce(i.updated_at, i.created_at) >= $3::timestamptz)
       order by i.last_update_status <> 'RESOLVED' desc, i.n desc limit $4::int
     ) as incidents
     where resolved_at is null or resolved_at >= $3::timestamptz`,
    [accountId, serviceIds, new Date(sinceMs), limit],
  );
}

/** Returns the incident with its post-mortem, if it names one of the services and is no draft. */
export async function publicIncident(
  sql: Sql,
  { accountId, serviceIds, id }: AccountKey & { readonly serviceIds: readonly string[] },
): Promise<(PublicIncident & { readonly postMortem: string | null }) | null> {
  const [row] = await sql.query<PublicIncident & { readonly postMortem: string | null }>(
    `select i.post_mortem, ${PUBLIC_INCIDENTS} and i.id = $3`,
    [accountId, serviceIds, id],
  );
  return row ?? null;
}

/** Returns the newest incidents, except drafts, that name one of the services and started in the time range. */
export async function publicIncidentsStarted(
  sql: Sql,
  {
    accountId,
    serviceIds,
    fromMs,
    toMs,
    limit,
  }: {
    readonly accountId: string;
    readonly serviceIds: readonly string[];
    readonly fromMs: number;
    /** Not included. */
    readonly toMs: number;
    readonly limit: number;
  },
): Promise<{ readonly incidents: readonly PublicIncident[]; readonly total: number }> {
  const rows = await sql.query<PublicIncident & { readonly total: number }>(
    `select *, count(*) over () as total from (
       select ${PUBLIC_INCIDENTS}
         -- Only these can have started in the time: the others are not read one by one.
         and i.id in (
           select u.incident_id from status_page_incident_updates u
           where u.account_id = $1 and ${AT} >= $3::timestamptz and ${AT} < $4::timestamptz
           union all
           select id from status_page_incidents
           where account_id = $1 and created_at >= $3::timestamptz and created_at < $4::timestamptz
         )
     ) as incidents
     where started_at >= $3::timestamptz and started_at < $4::timestamptz
     order by started_at desc, id limit $5::int`,
    [accountId, serviceIds, new Date(fromMs), new Date(toMs), limit],
  );
  return { incidents: rows, total: rows[0]?.total ?? 0 };
}

/** An update as readers of status pages see it. */
export type PublicUpdate = {
  readonly id: string;
  readonly incidentId: string;
  readonly status: IncidentStatus;
  readonly description: string;
  readonly at: Date;
};

/** The newest updates of each of the incidents, newest first. */
export async function publicUpdatesOf(
  sql: Sql,
  {
    accountId,
    incidentIds,
    each,
  }: {
    readonly accountId: string;
    readonly incidentIds: readonly string[];
    /** Maximum number of updates of each incident. */
    readonly each: number;
  },
): Promise<readonly PublicUpdate[]> {
  if (incidentIds.length === 0) return [];
  return sql.query<PublicUpdate>(
    `select updates.* from unnest($2::text[]) as incidents (id) cross join lateral (
       select u.id, u.incident_id, u.status, u.description, ${AT} as at
       from status_page_incident_updates u
       where u.account_id = $1 and u.incident_id = incidents.id
       order by u.n desc limit $3::int
     ) as updates`,
    [accountId, incidentIds, each],
  );
}
