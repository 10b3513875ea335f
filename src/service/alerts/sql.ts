import type { AlertType } from '../../model/alerting/alert.ts';
import type { CheckType } from '../../model/enums.ts';
import { readList } from '../database/lists.ts';
import type { AccountRange } from '../database/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

/** src/service/README.md, "Alerts". */
export type CheckAlert = {
  readonly id: string;
  readonly checkId: string;
  /** The name of the check when the alert was given. */
  readonly name: string;
  readonly checkType: CheckType;
  readonly alertType: AlertType;
  readonly runLocation: string;
  /** Milliseconds. */
  readonly responseTime: number;
  readonly error: string | null;
  readonly statusCode: string | null;
  /** When the run that led to it began. */
  readonly startedAt: Date;
  readonly createdAt: Date;
};

const COLUMNS = `id, check_id, name, check_type, alert_type, run_location, response_time, error,
  status_code, started_at, created_at`;

/** In the order of the list. */
export async function insertAlerts(
  sql: Sql,
  { accountId, alerts }: { readonly accountId: string; readonly alerts: readonly CheckAlert[] },
): Promise<void> {
  const numbered = alerts.map((alert, number) => ({ ...alert, number }));
  await sql.query(
    `insert into check_alerts (account_id, ${COLUMNS})
     select $1, id, "checkId", name, "checkType", "alertType", "runLocation", "responseTime", error,
       "statusCode", "startedAt", "createdAt"
     from jsonb_to_recordset($2::jsonb) as given (number int, id text, "checkId" text, name text,
       "checkType" text, "alertType" text, "runLocation" text, "responseTime" float8, error text,
       "statusCode" text, "startedAt" timestamptz, "createdAt" timestamptz)
     order by given.number`,
    [accountId, jsonText(numbered)],
  );
}

export interface AlertFilter extends AccountRange {
  /** The window of the alerts: epoch milliseconds; its end is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Newest first. */
export async function listAlerts(
  sql: Sql,
  { accountId, fromMs, toMs, ...range }: AlertFilter,
): Promise<readonly CheckAlert[]> {
  const list = {
    columns: COLUMNS,
    from: 'check_alerts',
    where: 'account_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz',
    params: [accountId, new Date(fromMs), new Date(toMs)],
    order: 'created_at desc, number desc',
    id: { sql: 'number', type: 'bigint' } as const,
  };
  return readList<CheckAlert>(sql, list, range);
}

/** @returns how many it deleted, at most the limit */
export async function deleteAlertsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from check_alerts where id = any (array(
       select id from check_alerts where created_at < $1::timestamptz
       order by created_at limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
