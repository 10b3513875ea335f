import type { IncidentSeverity } from '../../model/incident/status-page-incident.ts';
import type { Sql } from '../database/store.ts';

export interface IncidentToOpen {
  readonly accountId: string;
  readonly checkId: string;
  readonly serviceId: string;
  readonly incidentId: string;
  readonly updateId: string;
  readonly name: string;
  readonly severity: IncidentSeverity;
  readonly description: string;
  readonly notifySubscribers: boolean;
  readonly atMs: number;
}

/**
 * Inserts the incident of a status page, its service and its first update in one statement. Does
 * nothing if the check has an open incident already, or the service does not exist.
 */
export async function openIncidentOfCheck(
  sql: Sql,
  incident: IncidentToOpen,
): Promise<'opened' | 'open already' | 'no service'> {
  const [row] = await sql.query<{ services: number; opened: number }>(
    `with service as (
       select id from status_page_services where account_id = $1 and id = $2 for key share
     ), opened as (
       insert into status_page_incidents (account_id, id, name, severity, last_update_status,
         check_id, follows_check, created_at)
       select $1, $3, $4, $5, 'INVESTIGATING', $6, true, $7::timestamptz from service
       on conflict (account_id, check_id) where follows_check do nothing
       returning id
     ), named as (
       insert into status_page_incident_services (account_id, incident_id, service_id, position)
       select $1, opened.id, service.id, 1 from opened, service
     ), updates as (
       insert into status_page_incident_updates (account_id, incident_id, id, status, description,
         notify_subscribers, created_at)
       select $1, opened.id, $8, 'INVESTIGATING', $9, $10::boolean, $7::timestamptz from opened
     )
     select (select count(*) from service) as services, (select count(*) from opened) as opened`,
    [
      incident.accountId,
      incident.serviceId,
      incident.incidentId,
      incident.name,
      incident.severity,
      incident.checkId,
      new Date(incident.atMs),
      incident.updateId,
      incident.description,
      incident.notifySubscribers,
    ],
  );
  if (row === undefined || row.services === 0) return 'no service';
  return row.opened > 0 ? 'opened' : 'open already';
}

/**
 * Resolves the incident that follows the check and inserts its last update. The update notifies subscribers if
 * the first one did.
 *
 * @returns whether there was an incident
 */
export async function resolveIncidentOfCheck(
  sql: Sql,
  {
    accountId,
    checkId,
    updateId,
    text,
    atMs,
  }: {
    readonly accountId: string;
    readonly checkId: string;
    readonly updateId: string;
    /** The text of the last update, and when it was written. */
    readonly text: string;
    readonly atMs: number;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `with resolved as (
       update status_page_incidents
       set last_update_status = 'RESOLVED', follows_check = false, updated_at = $3::timestamptz
       where account_id = $1 and check_id = $2 and follows_check
       returning id
     )
     insert into status_page_incident_updates (account_id, incident_id, id, status, description,
       notify_subscribers, created_at)
     select $1, resolved.id, $4, 'RESOLVED', $5, coalesce((
         select notify_subscribers from status_page_incident_updates
         where account_id = $1 and incident_id = resolved.id order by n limit 1
       ), false), $3::timestamptz
     from resolved
     returning id`,
    [accountId, checkId, new Date(atMs), updateId, text],
  );
  return rows.length > 0;
}

/**
 * Whether the resolved incident `i` contains only what its check wrote. Rows of releases before is_edited are
 * recognised by an update whose text or time differs from what a check writes.
 *
 * @param recovered the parameter with the text of the update by which a check resolves its incident
 */
const isUntouched = (recovered: string): string =>
  `not i.is_edited and i.post_mortem is null and not exists (
    select from status_page_incident_updates u
    where u.account_id = i.account_id and u.incident_id = i.id
      and (u.updated_at is not null or u.public_at is not null or not (
        (u.status = 'INVESTIGATING' and u.created_at = i.created_at)
        or (u.status = 'RESOLVED' and u.created_at = i.updated_at and u.description = ${recovered}))))`;

/** The resolved incidents `i` that checks opened. */
const RESOLVED_OF_CHECKS = `i.check_id is not null and i.last_update_status = 'RESOLVED'`;

/**
 * Deletes resolved incidents of all accounts that a check opened, that no person edited, and that have not
 * changed since the instant.
 *
 * @returns how many it deleted, at most the limit
 */
export async function deleteOldIncidentsOfChecks(
  sql: Sql,
  {
    beforeMs,
    limit,
    recoveredText,
  }: { readonly beforeMs: number; readonly limit: number; readonly recoveredText: string },
): Promise<number> {
  const rows = await sql.query(
    `delete from status_page_incidents where (account_id, id) in (
       select i.account_id, i.id from status_page_incidents i
       where ${RESOLVED_OF_CHECKS} and i.updated_at < $1::timestamptz and ${isUntouched('$3')}
       limit $2::bigint for update skip locked
     ) returning id`,
    [new Date(beforeMs), limit, recoveredText],
  );
  return rows.length;
}

/**
 * Deletes such incidents beyond the newest `keep` of each check. Limits what is stored for a check that fails
 * and recovers all the time.
 */
export async function deleteManyIncidentsOfChecks(
  sql: Sql,
  {
    beforeMs,
    keep,
    limit,
    recoveredText,
  }: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
    readonly recoveredText: string;
  },
): Promise<number> {
  const rows = await sql.query(
    `with crowded as (
       select i.account_id, i.check_id from status_page_incidents i
       where ${RESOLVED_OF_CHECKS}
       group by i.account_id, i.check_id having count(*) > $4::bigint
     ), numbered as (
       select i.account_id, i.id,
         row_number() over (partition by i.account_id, i.check_id order by i.n desc) as position
       from crowded join status_page_incidents i using (account_id, check_id)
       where ${RESOLVED_OF_CHECKS}
     )
     delete from status_page_incidents where (account_id, id) in (
       select i.account_id, i.id from numbered join status_page_incidents i using (account_id, id)
       where numbered.position > $4::bigint and ${RESOLVED_OF_CHECKS}
         and i.updated_at < $1::timestamptz and ${isUntouched('$3')}
       limit $2::bigint for update of i skip locked
     ) returning id`,
    [new Date(beforeMs), limit, recoveredText, keep],
  );
  return rows.length;
}
