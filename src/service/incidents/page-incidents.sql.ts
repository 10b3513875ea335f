import type { IncidentStatus } from '../../model/status-page/incident.ts';
import type {
  IncidentSeverity,
  PageIncidentFields,
} from '../../model/status-page/status-page-incident.ts';
import type { Sql } from '../database/port.ts';
import {
  type IncidentKey,
  type StoredUpdate,
  type UpdateJson,
  type UpdatesRead,
  updateOf,
  updatesOf,
} from './updates.sql.ts';

export interface StoredPageIncident {
  readonly id: string;
  readonly fields: PageIncidentFields;
  readonly lastUpdateStatus: IncidentStatus;
  /** Oldest first; all, or the first alone, as it was asked for. */
  readonly updates: readonly StoredUpdate[];
  readonly createdAt: Date;
  /** null until it, or what is told of it, first changed. */
  readonly updatedAt: Date | null;
}

type IncidentRow = {
  readonly id: string;
  readonly name: string;
  readonly severity: IncidentSeverity;
  readonly lastUpdateStatus: IncidentStatus;
  readonly services: readonly string[];
  readonly updates: readonly UpdateJson[];
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/**
 * With all that is its own in one statement, so that it is of one moment.
 *
 * @param from the table, or a query of the rows that are wanted
 */
function incidentWith(read: UpdatesRead, from = 'status_page_incidents'): string {
  return `select i.id, i.name, i.severity, i.last_update_status, i.created_at, i.updated_at,
      array(
        select s.service_id from status_page_incident_services s
        where s.account_id = i.account_id and s.incident_id = i.id order by s.position
      ) as services, ${updatesOf('status page', read)} as updates
    from ${from} i`;
}

function incidentOf(row: IncidentRow): StoredPageIncident {
  return {
    id: row.id,
    fields: { name: row.name, severity: row.severity, services: [...row.services] },
    lastUpdateStatus: row.lastUpdateStatus,
    updates: row.updates.map(updateOf),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** Without its updates and services. */
export async function insertPageIncident(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    lastUpdateStatus,
    createdAtMs,
  }: IncidentKey & {
    readonly fields: PageIncidentFields;
    readonly lastUpdateStatus: IncidentStatus;
    readonly createdAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into status_page_incidents (account_id, id, name, severity, last_update_status,
       created_at)
     values ($1, $2, $3, $4, $5, $6::timestamptz)`,
    [accountId, id, fields.name, fields.severity, lastUpdateStatus, new Date(createdAtMs)],
  );
}

/** The services of the incident from now on, which `requireServices` locks. */
export async function replaceIncidentServices(
  sql: Sql,
  { accountId, id, serviceIds }: IncidentKey & { readonly serviceIds: readonly string[] },
): Promise<void> {
  await sql.query(
    'delete from status_page_incident_services where account_id = $1 and incident_id = $2',
    [accountId, id],
  );
  await sql.query(
    `insert into status_page_incident_services (account_id, incident_id, service_id, position)
     select $1, $2, given.id, given.position
     from unnest($3::text[]) with ordinality as given (id, position)`,
    [accountId, id, serviceIds],
  );
}

/** Only for an incident that `lockPageIncident` holds. */
export async function updatePageIncident(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    updatedAtMs,
  }: IncidentKey & { readonly fields: PageIncidentFields; readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update status_page_incidents set name = $3, severity = $4, updated_at = $5::timestamptz
     where account_id = $1 and id = $2`,
    [accountId, id, fields.name, fields.severity, new Date(updatedAtMs)],
  );
}

/**
 * After a change of its updates, of an incident that `lockPageIncident` holds: its status is that of
 * the latest. Once that is RESOLVED, the check that opened it has no more to do with it.
 */
export async function settlePageIncident(
  sql: Sql,
  { accountId, id, atMs }: IncidentKey & { readonly atMs: number },
): Promise<void> {
  await sql.query(
    `update status_page_incidents i
     set last_update_status = latest.status, updated_at = $3::timestamptz,
       follows_check = i.follows_check and latest.status <> 'RESOLVED'
     from (
       select status from status_page_incident_updates
       where account_id = $1 and incident_id = $2 order by n desc limit 1
     ) latest
     where i.account_id = $1 and i.id = $2`,
    [accountId, id, new Date(atMs)],
  );
}

export async function findPageIncident(
  sql: Sql,
  { accountId, id }: IncidentKey,
  read: UpdatesRead,
): Promise<StoredPageIncident | null> {
  const rows = await sql.query<IncidentRow>(
    `${incidentWith(read)} where i.account_id = $1 and i.id = $2`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : incidentOf(rows[0]);
}

/**
 * Until the transaction ends, nobody else changes the incident, its services or its updates.
 *
 * @returns false where there is no such incident
 */
export async function lockPageIncident(sql: Sql, { accountId, id }: IncidentKey): Promise<boolean> {
  const rows = await sql.query(
    'select id from status_page_incidents where account_id = $1 and id = $2 for update',
    [accountId, id],
  );
  return rows.length > 0;
}

/** Rows of a page alone: else the updates and services of all that come before it are read, too. */
const PAGE = `(select * from status_page_incidents where account_id = $1
  order by n limit $2::bigint offset $3::bigint)`;

/** Oldest first, each with its first update. */
export async function listPageIncidents(
  sql: Sql,
  {
    accountId,
    limit,
    offset,
  }: { readonly accountId: string; readonly limit: number; readonly offset: number },
): Promise<readonly StoredPageIncident[]> {
  const rows = await sql.query<IncidentRow>(`${incidentWith('first', PAGE)} order by i.n`, [
    accountId,
    limit,
    offset,
  ]);
  return rows.map(incidentOf);
}

/** @returns whether there was one */
export async function deletePageIncident(
  sql: Sql,
  { accountId, id }: IncidentKey,
): Promise<boolean> {
  const rows = await sql.query(
    'delete from status_page_incidents where account_id = $1 and id = $2 returning id',
    [accountId, id],
  );
  return rows.length > 0;
}

/** A few of the open incidents that name the service: their ids, oldest first. */
export async function openIncidentsNaming(
  sql: Sql,
  {
    accountId,
    serviceId,
    limit,
  }: { readonly accountId: string; readonly serviceId: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await sql.query<{ id: string }>(
    `select i.id from status_page_incident_services s
     join status_page_incidents i on i.account_id = s.account_id and i.id = s.incident_id
     where s.account_id = $1 and s.service_id = $2 and i.last_update_status <> 'RESOLVED'
     order by i.n limit $3::bigint`,
    [accountId, serviceId, limit],
  );
  return rows.map(({ id }) => id);
}

/** The open incidents that name a service of the page, newest first, each with its first update. */
export async function openIncidentsOfPage(
  sql: Sql,
  {
    accountId,
    pageId,
    limit,
  }: { readonly accountId: string; readonly pageId: string; readonly limit: number },
): Promise<readonly StoredPageIncident[]> {
  const rows = await sql.query<IncidentRow>(
    `${incidentWith('first')}
     where i.account_id = $1 and i.last_update_status <> 'RESOLVED' and exists (
       select 1 from status_page_incident_services s
       join status_page_card_services l
         on l.account_id = s.account_id and l.service_id = s.service_id
       join status_page_cards c on c.account_id = l.account_id and c.id = l.card_id
       where s.account_id = $1 and s.incident_id = i.id and c.status_page_id = $2)
     order by i.n desc limit $3::bigint`,
    [accountId, pageId, limit],
  );
  return rows.map(incidentOf);
}

/** By service, how severe the open incidents are that name it. Those without one are left out. */
export async function severitiesOfPage(
  sql: Sql,
  { accountId, pageId }: { readonly accountId: string; readonly pageId: string },
): Promise<ReadonlyMap<string, readonly IncidentSeverity[]>> {
  const rows = await sql.query<{ id: string; severities: readonly IncidentSeverity[] }>(
    `select s.service_id as id, array_agg(distinct i.severity) as severities
     from status_page_incidents i
     join status_page_incident_services s on s.account_id = i.account_id and s.incident_id = i.id
     where i.account_id = $1 and i.last_update_status <> 'RESOLVED' and s.service_id in (
       select l.service_id from status_page_cards c
       join status_page_card_services l on l.account_id = c.account_id and l.card_id = c.id
       where c.account_id = $1 and c.status_page_id = $2)
     group by s.service_id`,
    [accountId, pageId],
  );
  return new Map(rows.map(({ id, severities }) => [id, severities]));
}
