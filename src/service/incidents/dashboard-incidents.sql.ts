import type { Incident } from '../../model/status-page/incident.ts';
import type { Sql } from '../database/port.ts';
import {
  type IncidentKey,
  type StoredUpdate,
  type UpdateJson,
  type UpdatesRead,
  updateOf,
  updatesOf,
} from './updates.sql.ts';

/** What an incident of a dashboard has itself, with its times as numbers. */
export interface DashboardIncidentFields {
  readonly name: string;
  readonly impact: Incident['impact'];
  readonly dashboardId: number | null;
  readonly startedAtMs: number;
  /** null while that is open. */
  readonly stoppedAtMs: number | null;
}

export interface StoredIncident {
  readonly id: string;
  readonly fields: DashboardIncidentFields;
  /** Oldest first; all, or the first alone, as it was asked for. */
  readonly updates: readonly StoredUpdate[];
  readonly createdAt: Date;
  /** null until it, or what is told of it, first changed. */
  readonly updatedAt: Date | null;
}

type IncidentRow = {
  readonly id: string;
  readonly name: string;
  readonly impact: Incident['impact'];
  readonly dashboardId: number | null;
  readonly startedAt: Date;
  readonly stoppedAt: Date | null;
  readonly updates: readonly UpdateJson[];
  readonly createdAt: Date;
  readonly updatedAt: Date | null;
};

/** @param from the table, or a query of the rows that are wanted */
function incidentWith(read: UpdatesRead, from = 'incidents'): string {
  return `select i.id, i.name, i.impact, i.dashboard_id, i.started_at, i.stopped_at, i.created_at,
      i.updated_at, ${updatesOf('dashboard', read)} as updates
    from ${from} i`;
}

function incidentOf(row: IncidentRow): StoredIncident {
  return {
    id: row.id,
    fields: {
      name: row.name,
      impact: row.impact,
      dashboardId: row.dashboardId,
      startedAtMs: row.startedAt.getTime(),
      stoppedAtMs: row.stoppedAt?.getTime() ?? null,
    },
    updates: row.updates.map(updateOf),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

function valuesOf(fields: DashboardIncidentFields): readonly unknown[] {
  return [
    fields.name,
    fields.impact,
    fields.dashboardId,
    new Date(fields.startedAtMs),
    fields.stoppedAtMs === null ? null : new Date(fields.stoppedAtMs),
  ];
}

/** Without its updates. */
export async function insertIncident(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    createdAtMs,
  }: IncidentKey & { readonly fields: DashboardIncidentFields; readonly createdAtMs: number },
): Promise<void> {
  await sql.query(
    `insert into incidents (name, impact, dashboard_id, started_at, stopped_at, account_id, id,
       created_at)
     values ($1, $2, $3::bigint, $4::timestamptz, $5::timestamptz, $6, $7, $8::timestamptz)`,
    [...valuesOf(fields), accountId, id, new Date(createdAtMs)],
  );
}

/** Only for an incident that `lockIncident` holds. */
export async function updateIncident(
  sql: Sql,
  {
    accountId,
    id,
    fields,
    updatedAtMs,
  }: IncidentKey & { readonly fields: DashboardIncidentFields; readonly updatedAtMs: number },
): Promise<void> {
  await sql.query(
    `update incidents set name = $1, impact = $2, dashboard_id = $3::bigint,
       started_at = $4::timestamptz, stopped_at = $5::timestamptz, updated_at = $8::timestamptz
     where account_id = $6 and id = $7`,
    [...valuesOf(fields), accountId, id, new Date(updatedAtMs)],
  );
}

/** After a change of its updates. */
export async function touchIncident(
  sql: Sql,
  { accountId, id, atMs }: IncidentKey & { readonly atMs: number },
): Promise<void> {
  await sql.query(
    'update incidents set updated_at = $3::timestamptz where account_id = $1 and id = $2',
    [accountId, id, new Date(atMs)],
  );
}

export async function findIncident(
  sql: Sql,
  { accountId, id }: IncidentKey,
  read: UpdatesRead,
): Promise<StoredIncident | null> {
  const rows = await sql.query<IncidentRow>(
    `${incidentWith(read)} where i.account_id = $1 and i.id = $2`,
    [accountId, id],
  );
  return rows[0] === undefined ? null : incidentOf(rows[0]);
}

/**
 * Until the transaction ends, nobody else changes the incident or its updates.
 *
 * @returns false where there is no such incident
 */
export async function lockIncident(sql: Sql, { accountId, id }: IncidentKey): Promise<boolean> {
  const rows = await sql.query(
    'select id from incidents where account_id = $1 and id = $2 for update',
    [accountId, id],
  );
  return rows.length > 0;
}

/** Rows of a page alone: else the updates of all that come before it are read, too. */
const PAGE = `(select * from incidents where account_id = $1
  order by n limit $2::bigint offset $3::bigint)`;

/** Oldest first, each with its first update. */
export async function listIncidents(
  sql: Sql,
  {
    accountId,
    limit,
    offset,
  }: { readonly accountId: string; readonly limit: number; readonly offset: number },
): Promise<readonly StoredIncident[]> {
  const rows = await sql.query<IncidentRow>(`${incidentWith('first', PAGE)} order by i.n`, [
    accountId,
    limit,
    offset,
  ]);
  return rows.map(incidentOf);
}

/** @returns whether there was one */
export async function deleteIncident(sql: Sql, { accountId, id }: IncidentKey): Promise<boolean> {
  const rows = await sql.query(
    'delete from incidents where account_id = $1 and id = $2 returning id',
    [accountId, id],
  );
  return rows.length > 0;
}
