import type { IncidentStatus } from '../../model/incident/dashboard-incident.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import type { IncidentTables } from './tables.sql.ts';

export type UpdateFields = {
  readonly status: IncidentStatus;
  readonly description: string;
  /** null for the time of its creation. */
  readonly publicAt: Date | null;
  readonly notifySubscribers: boolean;
};

export type StoredUpdate = UpdateFields & {
  readonly id: string;
  readonly incidentId: string;
  readonly createdAt: Date;
  /** null until it was first updated. */
  readonly updatedAt: Date | null;
};

export interface UpdateKey {
  readonly accountId: string;
  readonly incidentId: string;
  readonly id: string;
}

/** An update in JSON, where times are texts. */
export type UpdateJson = Omit<StoredUpdate, 'publicAt' | 'createdAt' | 'updatedAt'> & {
  readonly publicAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string | null;
};

export function readUpdate(json: UpdateJson): StoredUpdate {
  const { publicAt, createdAt, updatedAt } = json;
  return {
    ...json,
    publicAt: publicAt === null ? null : new Date(publicAt),
    createdAt: new Date(createdAt),
    updatedAt: updatedAt === null ? null : new Date(updatedAt),
  };
}

/** The updates with which an incident is read. */
export type UpdatesRead = 'all' | 'first';

/** An expression for the updates of the incident `i`, oldest first, as `UpdateJson`. */
export function selectUpdates({ updates }: IncidentTables, read: UpdatesRead): string {
  return `coalesce((
    select jsonb_agg(jsonb_build_object('id', u.id, 'incidentId', u.incident_id, 'status', u.status,
      'description', u.description, 'publicAt', u.public_at, 'notifySubscribers',
      u.notify_subscribers, 'createdAt', u.created_at, 'updatedAt', u.updated_at) order by u.n)
    from (
      select * from ${updates}
      where account_id = i.account_id and incident_id = i.id
      order by n ${read === 'first' ? 'limit 1' : ''}
    ) u), '[]')`;
}

/** Inserts updates in order. Only for an incident that is new or locked. */
export async function insertUpdates(
  sql: Sql,
  tables: IncidentTables,
  {
    accountId,
    id,
    updates,
    createdAtMs,
  }: AccountKey & {
    readonly updates: readonly (UpdateFields & { readonly id: string })[];
    readonly createdAtMs: number;
  },
): Promise<void> {
  if (updates.length === 0) return;
  await sql.query(
    `insert into ${tables.updates} (account_id, incident_id, id, status, description, public_at,
       notify_subscribers, created_at)
     select $1, $2, given."id", given."status", given."description",
       given."publicAt", given."notifySubscribers", $4::timestamptz
     from jsonb_array_elements($3::jsonb) with ordinality as each (item, position),
       jsonb_to_record(item) as given ("id" text, "status" text, "description" text,
         "publicAt" timestamptz, "notifySubscribers" boolean)
     order by position`,
    [accountId, id, jsonText(updates), new Date(createdAtMs)],
  );
}

export async function countUpdates(
  sql: Sql,
  tables: IncidentTables,
  { accountId, id }: AccountKey,
): Promise<number> {
  const [row] = await sql.query<{ count: number }>(
    `select count(*) as count from ${tables.updates} where account_id = $1 and incident_id = $2`,
    [accountId, id],
  );
  return row?.count ?? 0;
}

export async function findUpdate(
  sql: Sql,
  tables: IncidentTables,
  { accountId, incidentId, id }: UpdateKey,
): Promise<StoredUpdate | null> {
  const [row] = await sql.query<StoredUpdate>(
    `select id, incident_id, status, description, public_at, notify_subscribers, created_at,
       updated_at
     from ${tables.updates} where account_id = $1 and incident_id = $2 and id = $3`,
    [accountId, incidentId, id],
  );
  return row ?? null;
}

/** Only for an incident that is locked. */
export async function changeUpdate(
  sql: Sql,
  tables: IncidentTables,
  {
    accountId,
    incidentId,
    id,
    fields,
    updatedAtMs,
  }: UpdateKey & { readonly fields: UpdateFields; readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update ${tables.updates} set status = $4, description = $5, public_at = $6::timestamptz,
       notify_subscribers = $7::boolean, updated_at = $8::timestamptz
     where account_id = $1 and incident_id = $2 and id = $3`,
    [
      accountId,
      incidentId,
      id,
      fields.status,
      fields.description,
      fields.publicAt,
      fields.notifySubscribers,
      new Date(updatedAtMs),
    ],
  );
}

/** Only for an incident that is locked. */
export async function deleteUpdate(
  sql: Sql,
  tables: IncidentTables,
  { accountId, incidentId, id }: UpdateKey,
): Promise<void> {
  await sql.query(
    `delete from ${tables.updates} where account_id = $1 and incident_id = $2 and id = $3`,
    [accountId, incidentId, id],
  );
}
