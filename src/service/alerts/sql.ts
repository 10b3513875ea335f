import type { Acknowledgement } from '../../model/alerting/acknowledgement.ts';
import type { AlertType } from '../../model/alerting/alert.ts';
import type { CheckType } from '../../model/enums.ts';
import type { AccountKey } from '../database/account-key.ts';
import { readList } from '../database/lists/lists.ts';
import type { AccountRange } from '../database/lists/page-entries.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';
import { SHOWN_STATE } from './delivery/shown-state.sql.ts';
import type { FlappingChange } from './notice.ts';

/** src/service/README.md, "Alerts". */
export type CheckAlert = {
  readonly id: string;
  readonly checkId: string;
  /** The name of the check at the time of the alert. */
  readonly name: string;
  readonly checkType: CheckType;
  readonly alertType: AlertType;
  readonly runLocation: string;
  /** Milliseconds. */
  readonly responseTime: number;
  readonly error: string | null;
  readonly statusCode: string | null;
  /** The result of that run; null for a heartbeat, and for alerts of earlier releases. */
  readonly resultId: string | null;
  /** Whether it reports that the check flaps, or is calm again; null for any other alert. */
  readonly flapping: FlappingChange | null;
  /** When the run that led to it began. */
  readonly startedAt: Date;
  readonly createdAt: Date;
  /** Who acknowledged it; null for nobody. */
  readonly acknowledgement: Acknowledgement | null;
};

const COLUMNS = `id, check_id, name, check_type, alert_type, run_location, response_time, error,
  status_code, result_id, flapping, started_at, created_at, acknowledgement`;

/** The alert states of checks, with their checks and groups. */
export const STATES_OF_CHECKS = `check_alert_states s
  join checks c on c.account_id = s.account_id and c.id = s.check_id
  left join check_groups g on g.account_id = c.account_id and g.id = c.group_id`;

/** Whether the check of a state is activated and has not recovered since its latest alert, or flaps. */
export const IS_STATE_OPEN = `c.activated and coalesce(g.activated, true)
    and (s.condition <> 'passing'
      or (s.due_at is not null and s.body #>> '{flapping,started}' is not null))`;

const OPEN_STATES = `${STATES_OF_CHECKS} where ${IS_STATE_OPEN}`;

/** Whether it is the latest alert of such a check. */
const IS_OPEN = `exists (select from ${OPEN_STATES}
    and s.account_id = check_alerts.account_id and s.check_id = check_alerts.check_id
    and s.body ->> 'alertId' = check_alerts.id)`;

/** The same for all alerts of the account, so that the database starts from the few open states. */
const OPEN_IDS = `select s.body ->> 'alertId' from ${OPEN_STATES} and s.account_id = $1`;

/** The number of deliveries of the alert and its reminders, by state. */
const DELIVERIES = `(
  select jsonb_build_object('sent', count(*) filter (where ${SHOWN_STATE} = 'sent'),
    'failed', count(*) filter (where ${SHOWN_STATE} = 'failed'),
    'pending', count(*) filter (where d.finished_at is null))
  from alert_deliveries d
  where d.account_id = check_alerts.account_id and d.alert_id = check_alerts.id)`;

const LISTED = `${COLUMNS}, ${IS_OPEN} as is_open, ${DELIVERIES} as deliveries`;

export type ListedAlert = CheckAlert & {
  readonly isOpen: boolean;
  readonly deliveries: {
    readonly sent: number;
    readonly pending: number;
    readonly failed: number;
  };
};

/** In the order of the list. */
export async function insertAlerts(
  sql: Sql,
  { accountId, alerts }: { readonly accountId: string; readonly alerts: readonly CheckAlert[] },
): Promise<void> {
  const numbered = alerts.map((alert, number) => ({ ...alert, number }));
  await sql.query(
    `insert into check_alerts (account_id, ${COLUMNS})
     select $1, id, "checkId", name, "checkType", "alertType", "runLocation", "responseTime", error,
       "statusCode", "resultId", flapping, "startedAt", "createdAt", acknowledgement
     from jsonb_to_recordset($2::jsonb) as given (number int, id text, "checkId" text, name text,
       "checkType" text, "alertType" text, "runLocation" text, "responseTime" float8, error text,
       "statusCode" text, "resultId" text, flapping text, "startedAt" timestamptz,
       "createdAt" timestamptz, acknowledgement jsonb)
     order by given.number`,
    [accountId, jsonText(numbered)],
  );
}

/** @param acknowledgement null if it was undone or has lapsed */
export async function saveAcknowledgement(
  sql: Sql,
  {
    accountId,
    id,
    acknowledgement,
  }: AccountKey & { readonly acknowledgement: Acknowledgement | null },
): Promise<void> {
  await sql.query(
    'update check_alerts set acknowledgement = $3::jsonb where account_id = $1 and id = $2',
    [accountId, id, acknowledgement === null ? null : jsonText(acknowledgement)],
  );
}

/** The acknowledged open alerts of the checks. */
export function listOpenAcknowledgements(
  sql: Sql,
  { accountId, checkIds }: { readonly accountId: string; readonly checkIds: readonly string[] },
): Promise<readonly { readonly checkId: string; readonly acknowledgement: Acknowledgement }[]> {
  return sql.query<{ checkId: string; acknowledgement: Acknowledgement }>(
    `select s.check_id, a.acknowledgement
     from ${STATES_OF_CHECKS}
       join check_alerts a on a.account_id = s.account_id and a.id = s.body ->> 'alertId'
     where s.account_id = $1 and s.check_id = any($2::text[]) and ${IS_STATE_OPEN}
       and a.acknowledgement is not null`,
    [accountId, checkIds],
  );
}

export interface AlertFilter extends AccountRange {
  /** The window of the alerts: epoch milliseconds; its end is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  /** null for all. */
  readonly checkId: string | null;
  /** Empty for all. */
  readonly alertTypes: readonly AlertType[];
  /** null for all. */
  readonly isOpen: boolean | null;
}

/** Newest first. */
export async function listAlerts(
  sql: Sql,
  { accountId, fromMs, toMs, checkId, alertTypes, isOpen, ...range }: AlertFilter,
): Promise<readonly ListedAlert[]> {
  const where = [
    'account_id = $1 and created_at >= $2::timestamptz and created_at < $3::timestamptz',
    ...(checkId === null ? [] : ['check_id = $4']),
    ...(isOpen === true ? [`id in (${OPEN_IDS})`] : []),
  ];
  const list = {
    columns: LISTED,
    from: 'check_alerts',
    where: where.join(' and '),
    filter: `($4::text is null or check_id = $4)
      and (cardinality($5::text[]) = 0 or alert_type = any($5::text[]))
      and ${isOpen === false ? `not ${IS_OPEN}` : 'true'}`,
    params: [accountId, new Date(fromMs), new Date(toMs), checkId, alertTypes],
    order: 'created_at desc, number desc',
    id: { sql: 'number', type: 'bigint' } as const,
  };
  return readList<ListedAlert>(sql, list, range);
}

export async function findAlert(
  sql: Sql,
  { accountId, id }: AccountKey,
): Promise<ListedAlert | null> {
  const [row] = await sql.query<ListedAlert>(
    `select ${LISTED} from check_alerts where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return row ?? null;
}

/**
 * Keeps those that are still open.
 *
 * @returns how many it deleted, at most the limit
 */
export async function deleteAlertsBefore(
  sql: Sql,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    `delete from check_alerts where id = any (array(
       select id from check_alerts where created_at < $1::timestamptz and not ${IS_OPEN}
       order by created_at limit $2::bigint))
     returning 1`,
    [new Date(beforeMs), limit],
  );
  return rows.length;
}
