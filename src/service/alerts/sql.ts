import type { AlertType } from '../../model/alerting/alert.ts';
import type { CheckType } from '../../model/vocabulary.ts';
import type { Sql } from '../database/port.ts';
import { jsonText } from '../database/values.ts';

/** An alert that was given: src/service/README.md, "Alerts". */
export interface CheckAlert {
  readonly id: string;
  readonly checkId: string;
  /** The check's, when it was given. */
  readonly name: string;
  readonly checkType: CheckType;
  readonly alertType: AlertType;
  readonly runLocation: string;
  /** Milliseconds. */
  readonly responseTime: number;
  readonly error: string | null;
  readonly statusCode: string | null;
  /** Of the run that led to it; epoch milliseconds. */
  readonly startedAtMs: number;
  /** Epoch milliseconds. */
  readonly createdAtMs: number;
}

type AlertRow = {
  readonly id: string;
  readonly checkId: string;
  readonly name: string;
  readonly checkType: CheckType;
  readonly alertType: AlertType;
  readonly runLocation: string;
  readonly responseTime: number;
  readonly error: string | null;
  readonly statusCode: string | null;
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
  const rows = alerts.map((alert, number) => ({
    number,
    id: alert.id,
    check_id: alert.checkId,
    name: alert.name,
    check_type: alert.checkType,
    alert_type: alert.alertType,
    run_location: alert.runLocation,
    response_time: alert.responseTime,
    error: alert.error,
    status_code: alert.statusCode,
    started_at: new Date(alert.startedAtMs),
    created_at: new Date(alert.createdAtMs),
  }));
  await sql.query(
    `insert into check_alerts (account_id, ${COLUMNS})
     select $1, ${COLUMNS} from jsonb_to_recordset($2::jsonb) as given (number int, id text,
       check_id text, name text, check_type text, alert_type text, run_location text,
       response_time float8, error text, status_code text, started_at timestamptz,
       created_at timestamptz)
     order by given.number`,
    [accountId, jsonText(rows)],
  );
}

export interface AlertFilter {
  readonly accountId: string;
  /** Epoch milliseconds of when they were given: from is in it, to is not. */
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
  const rows = await sql.query<AlertRow>(
    `select ${COLUMNS} from check_alerts
     where account_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz
     order by created_at desc, number desc limit $4::bigint offset $5::bigint`,
    [accountId, new Date(fromMs), new Date(toMs), limit, offset],
  );
  return rows.map((row) => ({
    id: row.id,
    checkId: row.checkId,
    name: row.name,
    checkType: row.checkType,
    alertType: row.alertType,
    runLocation: row.runLocation,
    responseTime: row.responseTime,
    error: row.error,
    statusCode: row.statusCode,
    startedAtMs: row.startedAt.getTime(),
    createdAtMs: row.createdAt.getTime(),
  }));
}

/**
 * Removes alerts that were given before the instant, as many as the limit at most.
 *
 * @returns how many
 */
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
