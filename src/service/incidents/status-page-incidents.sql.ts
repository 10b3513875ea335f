import type { IncidentStatus } from '../../model/incident/dashboard-incident.ts';
import type { PageIncidentFields } from '../../model/incident/status-page-incident.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import {
  type IncidentRow,
  readIncident,
  type StoredIncident,
  selectIncidents,
} from './incidents.sql.ts';
import { OPEN_PAGE_TABLES } from './tables.sql.ts';

export type StoredPageFields = Readonly<PageIncidentFields> & {
  readonly lastUpdateStatus: IncidentStatus;
};
export type StoredPageIncident = StoredIncident<StoredPageFields>;

/** Only for services that `requireServices` locks. */
export async function replaceIncidentServices(
  sql: Sql,
  { accountId, id, serviceIds }: AccountKey & { readonly serviceIds: readonly string[] },
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

/** Sets the public time of the updates of a draft when it is published. */
export async function publishUpdates(
  sql: Sql,
  { accountId, id, atMs }: AccountKey & { readonly atMs: number },
): Promise<void> {
  await sql.query(
    `update status_page_incident_updates set public_at = $3::timestamptz
     where account_id = $1 and incident_id = $2 and public_at is null`,
    [accountId, id, new Date(atMs)],
  );
}

/**
 * Returns the ids of the oldest open incidents that name the service, including drafts: without the service,
 * drafts would be on no page when they are published.
 */
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

/**
 * The open incidents that name a service of the page and are no drafts, newest first, each with its
 * first update.
 */
export async function openIncidentsOfPage(
  sql: Sql,
  {
    accountId,
    pageId,
    limit,
  }: { readonly accountId: string; readonly pageId: string; readonly limit: number },
): Promise<readonly StoredPageIncident[]> {
  const rows = await sql.query<IncidentRow<StoredPageFields>>(
    `${selectIncidents(OPEN_PAGE_TABLES, 'first')}
     where i.account_id = $1 and i.last_update_status <> 'RESOLVED' and not i.is_draft and exists (
       select 1 from status_page_incident_services s
       join status_page_card_services l
         on l.account_id = s.account_id and l.service_id = s.service_id
       join status_page_cards c on c.account_id = l.account_id and c.id = l.card_id
       where s.account_id = $1 and s.incident_id = i.id and c.status_page_id = $2)
     order by i.n desc limit $3::bigint`,
    [accountId, pageId, limit],
  );
  return rows.map(readIncident);
}
