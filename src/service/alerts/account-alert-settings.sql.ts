import type { AlertSettings } from '../../model/alerting/alert-settings.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

/** null if the account never set any. */
export async function findAlertSettings(
  sql: Sql,
  accountId: string,
): Promise<AlertSettings | null> {
  const rows = await sql.query<{ settings: AlertSettings }>(
    'select settings from account_alert_settings where account_id = $1',
    [accountId],
  );
  return rows[0]?.settings ?? null;
}

export async function putAlertSettings(
  sql: Sql,
  {
    accountId,
    settings,
    updatedAtMs,
  }: {
    readonly accountId: string;
    readonly settings: AlertSettings;
    readonly updatedAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into account_alert_settings (account_id, settings, updated_at)
     values ($1, $2::jsonb, $3::timestamptz)
     on conflict (account_id) do update set
       settings = excluded.settings, updated_at = excluded.updated_at`,
    [accountId, jsonText(settings), new Date(updatedAtMs)],
  );
}
