import type {
  NoticePreferences,
  ProblemPreferences,
} from '../../model/alerting/notice-preferences.ts';
import type { Sql } from '../database/store.ts';
import { SUBSCRIBERS } from './channels/subscribers.sql.ts';

/** A channel that is subscribed to checks of a location, by the tags of those checks. */
export type LocationSubscriber = NoticePreferences &
  ProblemPreferences & {
    readonly channelId: number;
    /** The tags of some of the checks and of their groups. */
    readonly tags: readonly string[];
  };

/** What the channel `c` is notified of. */
export const NOTICE_PREFERENCES = `c.send_failure, c.send_recovery, c.send_degraded,
  c.send_location_silent, c.send_monitoring_problems, c.ssl_expiry, c.ssl_expiry_threshold`;

/**
 * The channels that are notified of checks that are assigned to the location and not muted. A channel is
 * listed once for each combination of tags.
 */
export function listLocationSubscribers(
  sql: Sql,
  { accountId, locationId }: { readonly accountId: string; readonly locationId: string },
): Promise<readonly LocationSubscriber[]> {
  return sql.query<LocationSubscriber>(
    `select distinct c.id as channel_id, ${NOTICE_PREFERENCES}, k.tags || coalesce(g.tags, '[]'::jsonb) as tags
     from assignments a
       join checks k on k.account_id = a.account_id and k.id = a.check_id
       left join check_groups g on g.id = k.group_id
       join ${SUBSCRIBERS} s on s.account_id = a.account_id and s.check_id = a.check_id
       join alert_channels c on c.account_id = s.account_id and c.id = s.channel_id
     where a.location_id = $2 and a.account_id = $1
       and not (k.muted or coalesce(g.muted, false))
     order by channel_id`,
    [accountId, locationId],
  );
}

/** The channels that have a delivery of the alert, also a pending or failed one. */
export function listChannelsWithAnyDelivery(
  sql: Sql,
  { accountId, alertId }: { readonly accountId: string; readonly alertId: string },
): Promise<readonly (NoticePreferences & { readonly channelId: number })[]> {
  return sql.query<NoticePreferences & { readonly channelId: number }>(
    `select c.id as channel_id, ${NOTICE_PREFERENCES} from alert_channels c
     where c.account_id = $1 and exists (select from alert_deliveries d
       where d.account_id = $1 and d.channel_id = c.id and d.alert_id = $2)
     order by c.id`,
    [accountId, alertId],
  );
}
