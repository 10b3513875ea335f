import type { IncidentStatus } from '../../model/status-page/incident.ts';
import type { Sql } from '../database/port.ts';
import { jsonText } from '../database/values.ts';

/** Both families of incidents have updates of the same form, each in a table of its own. */
export type IncidentFamily = 'status page' | 'dashboard';

const TABLES: Readonly<Record<IncidentFamily, string>> = {
  'status page': 'status_page_incident_updates',
  dashboard: 'incident_updates',
};

export interface UpdateFields {
  readonly status: IncidentStatus;
  readonly description: string;
  /** null for the time of its creation. */
  readonly publicAtMs: number | null;
  readonly notifySubscribers: boolean;
}

export interface StoredUpdate {
  readonly id: string;
  readonly incidentId: string;
  readonly fields: UpdateFields;
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
}

/** Of an incident. */
export interface IncidentKey {
  readonly accountId: string;
  readonly id: string;
}

export interface UpdateKey {
  readonly accountId: string;
  readonly incidentId: string;
  readonly id: string;
}

/** As `to_jsonb` writes a row: times are texts. */
export type UpdateJson = {
  readonly id: string;
  readonly incident_id: string;
  readonly status: IncidentStatus;
  readonly description: string;
  readonly public_at: string | null;
  readonly notify_subscribers: boolean;
  readonly created_at: string;
  readonly updated_at: string | null;
};

export function updateOf(row: UpdateJson): StoredUpdate {
  return {
    id: row.id,
    incidentId: row.incident_id,
    fields: {
      status: row.status,
      description: row.description,
      publicAtMs: row.public_at === null ? null : Date.parse(row.public_at),
      notifySubscribers: row.notify_subscribers,
    },
    createdAt: new Date(row.created_at),
    updatedAt: row.updated_at === null ? null : new Date(row.updated_at),
  };
}

/** Which updates an incident is read with. */
export type UpdatesRead = 'all' | 'first';

/** An expression for the updates of the incident `i`, oldest first, as `UpdateJson`. */
export function updatesOf(family: IncidentFamily, read: UpdatesRead): string {
  return `coalesce((
    select jsonb_agg(to_jsonb(u) order by u.n)
    from (
      select * from ${TABLES[family]}
      where account_id = i.account_id and incident_id = i.id
      order by n ${read === 'first' ? 'limit 1' : ''}
    ) u), '[]')`;
}

/** In their order. Only for an incident that is new or locked. */
export async function insertUpdates(
  sql: Sql,
  family: IncidentFamily,
  {
    accountId,
    id,
    updates,
    createdAtMs,
  }: IncidentKey & {
    readonly updates: readonly (UpdateFields & { readonly id: string })[];
    readonly createdAtMs: number;
  },
): Promise<void> {
  if (updates.length === 0) return;
  await sql.query(
    `insert into ${TABLES[family]} (account_id, incident_id, id, status, description, public_at,
       notify_subscribers, created_at)
     select $1, $2, given."id", given."status", given."description",
       given."publicAt", given."notifySubscribers", $4::timestamptz
     from jsonb_array_elements($3::jsonb) with ordinality as each (item, position),
       jsonb_to_record(item) as given ("id" text, "status" text, "description" text,
         "publicAt" timestamptz, "notifySubscribers" boolean)
     order by position`,
    [
      accountId,
      id,
      jsonText(
        updates.map(({ publicAtMs, ...update }) => ({
          ...update,
          publicAt: publicAtMs === null ? null : new Date(publicAtMs).toISOString(),
        })),
      ),
      new Date(createdAtMs),
    ],
  );
}

export async function countUpdates(
  sql: Sql,
  family: IncidentFamily,
  { accountId, id }: IncidentKey,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from ${TABLES[family]} where account_id = $1 and incident_id = $2`,
    [accountId, id],
  );
  return row?.count ?? 0;
}

export async function findUpdate(
  sql: Sql,
  family: IncidentFamily,
  { accountId, incidentId, id }: UpdateKey,
): Promise<StoredUpdate | null> {
  const [row] = await sql.query<{ found: UpdateJson }>(
    `select to_jsonb(u) as found from ${TABLES[family]} u
     where account_id = $1 and incident_id = $2 and id = $3`,
    [accountId, incidentId, id],
  );
  return row === undefined ? null : updateOf(row.found);
}

/** Only for an incident that is locked. */
export async function changeUpdate(
  sql: Sql,
  family: IncidentFamily,
  {
    accountId,
    incidentId,
    id,
    fields,
    updatedAtMs,
  }: UpdateKey & { readonly fields: UpdateFields; readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update ${TABLES[family]} set status = $4, description = $5, public_at = $6::timestamptz,
       notify_subscribers = $7::boolean, updated_at = $8::timestamptz
     where account_id = $1 and incident_id = $2 and id = $3`,
    [
      accountId,
      incidentId,
      id,
      fields.status,
      fields.description,
      fields.publicAtMs === null ? null : new Date(fields.publicAtMs),
      fields.notifySubscribers,
      new Date(updatedAtMs),
    ],
  );
}

/** Only for an incident that is locked. */
export async function deleteUpdate(
  sql: Sql,
  family: IncidentFamily,
  { accountId, incidentId, id }: UpdateKey,
): Promise<void> {
  await sql.query(
    `delete from ${TABLES[family]} where account_id = $1 and incident_id = $2 and id = $3`,
    [accountId, incidentId, id],
  );
}
