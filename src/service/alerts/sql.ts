import type { AlertType } from '../../model/alerting/alert.ts';
import type { CheckType } from '../../model/enums.ts';
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

export interface AlertFilter {
  readonly accountId: string;
  /** The window of the alerts: epoch milliseconds; its end is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
  readonly offset: number;
}

/** Newest first. */
export async function listAlerts(
  sql: Sql,
  { accountId, fromMs, toMs, limit, offset }: AlertFilter,
): Promise<readonly CheckAlert[]> {
  return sql.query<CheckAlert>(
    `select ${COLUMNS} from check_alerts
     where account_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz
     order by created_at desc, number desc limit $4::bigint offset $5::bigint`,
    [accountId, new Date(fromMs), new Date(toMs), limit, offset],
  );
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
