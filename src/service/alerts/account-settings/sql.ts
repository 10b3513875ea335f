import type { AlertSettings, EscalationStep } from '../../../model/alerting/alert-settings.ts';
import type { Sql } from '../../database/store.ts';
import { jsonText } from '../../database/values.ts';

/** The stored settings of an account. */
export type StoredAlertSettings = {
  readonly settings: AlertSettings;
  /** Without channels that no longer exist; null for none. */
  readonly escalationStep: EscalationStep | null;
};

/** null if the account never set any. */
export async function findAlertSettings(
  sql: Sql,
  accountId: string,
): Promise<StoredAlertSettings | null> {
  const [row] = await sql.query<StoredAlertSettings>(
    `select settings, case when existing.ids is not null then
       escalation_step || jsonb_build_object('alertChannelIds', existing.ids) end as escalation_step
     from account_alert_settings s, lateral (
       select jsonb_agg(c.id order by given.number) as ids
       from jsonb_array_elements_text(s.escalation_step -> 'alertChannelIds')
         with ordinality as given (id, number)
       join alert_channels c on c.account_id = s.account_id and c.id = given.id::bigint
     ) existing
     where account_id = $1`,
    [accountId],
  );
  return row ?? null;
}

export async function putAlertSettings(
  sql: Sql,
  {
    accountId,
    settings,
    escalationStep,
    updatedAtMs,
  }: StoredAlertSettings & {
    readonly accountId: string;
    readonly updatedAtMs: number;
  },
): Promise<void> {
  await sql.query(
    `insert into account_alert_settings (account_id, settings, escalation_step, updated_at)
     values ($1, $2::jsonb, $3::jsonb, $4::timestamptz)
     on conflict (account_id) do update set settings = excluded.settings,
       escalation_step = excluded.escalation_step, updated_at = excluded.updated_at`,
    [
      accountId,
      jsonText(settings),
      escalationStep === null ? null : jsonText(escalationStep),
      new Date(updatedAtMs),
    ],
  );
}
