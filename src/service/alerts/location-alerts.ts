import { wantsNotice, wantsSilence } from '../../model/alerting/notice-preferences.ts';
import { stableId } from '../../model/ids.ts';
import { countText } from '../../runtime/text/count-text.ts';
import type { Sql } from '../database/store.ts';
import { lockChannelsShared } from './channels/sql.ts';
import { insertDeliveries } from './delivery/sql.ts';
import { listChannelsWithAnyDelivery, listLocationSubscribers } from './location-alerts.sql.ts';
import type { Silences } from './maintenance-silences.ts';
import type { AlertNotice } from './notice.ts';

/** A private location that became silent, or is no longer silent. */
export type SilentLocation = {
  readonly accountId: string;
  readonly locationId: string;
  readonly slug: string;
  readonly name: string;
  /** The last poll of an agent. */
  readonly since: Date;
  /** How many checks are assigned to it. */
  readonly checks: number;
};

/**
 * Notices of silent locations (src/service/README.md, "Silent locations"): one to each channel, however
 * many checks of the location it is subscribed to. Stored in the transaction that changes the location.
 */
export interface LocationAlerts {
  /**
   * Notifies the channels that want the notice and are subscribed to a check of the location that is neither muted nor
   * in a maintenance window. Notifies no channel twice.
   *
   * @returns whether to call it again, because a maintenance window silences a channel
   */
  silent(tx: Sql, location: SilentLocation, atMs: number): Promise<boolean>;
  /** Notifies the channels that were notified of the silence and want recoveries. */
  ended(tx: Sql, location: SilentLocation, atMs: number): Promise<void>;
}

export function createLocationAlerts({
  silences,
}: {
  readonly silences: Silences;
}): LocationAlerts {
  return {
    async silent(tx, location, atMs) {
      const subscribers = (await listLocationSubscribers(tx, location)).filter(wantsSilence);
      if (subscribers.length === 0) return false;
      const isSilenced = await silences.from(tx, location.accountId, atMs);
      const unsilenced = subscribers.filter(({ tags }) => !isSilenced(tags, atMs));
      await notify(tx, location, unsilenced, silentNotice(location, atMs));
      const notified = new Set(unsilenced.map(({ channelId }) => channelId));
      return subscribers.some(({ channelId }) => !notified.has(channelId));
    },

    async ended(tx, location, atMs) {
      const alertId = alertIdOf('silent', location);
      const notified = await listChannelsWithAnyDelivery(tx, {
        accountId: location.accountId,
        alertId,
      });
      const notice = endNotice(location, atMs);
      const wanted = notified.filter((channel) => wantsNotice(channel, notice));
      await notify(tx, location, wanted, notice);
    },
  };
}

async function notify(
  tx: Sql,
  { accountId, locationId }: SilentLocation,
  channels: readonly { readonly channelId: number }[],
  notice: AlertNotice,
): Promise<void> {
  const ids = [...new Set(channels.map(({ channelId }) => channelId))];
  const existing = await lockChannelsShared(tx, { accountId, ids });
  const { alertId, alertType, atMs, reminder } = notice;
  const deliveries = existing.map((channelId) => ({
    id: stableId('delivery', accountId, channelId, alertId, reminder),
    channelId,
    // The end is sent after the beginning.
    checkId: locationId,
    alertId,
    alertType,
    reminder,
    notice,
  }));
  await insertDeliveries(tx, { accountId, deliveries, atMs });
}

/** Each replica computes the same id, so channels are notified once of a silence. */
function alertIdOf(what: 'silent' | 'ended', { locationId, since }: SilentLocation): string {
  return stableId('location', what, locationId, since.getTime());
}

function silentNotice(location: SilentLocation, atMs: number): AlertNotice {
  const { checks } = location;
  const verb = checks === 1 ? 'does' : 'do';
  // The facts of the message contain the time, in the time zone of the account.
  const error = `No agent polls: ${countText(checks, 'check')} of the location ${verb} not run. Start an agent there, or check the log of its agents, their network and their location key.`;
  const alertId = alertIdOf('silent', location);
  return { ...noticeOf(location, atMs), alertId, alertType: 'ALERT_FAILURE', error };
}

function endNotice(location: SilentLocation, atMs: number): AlertNotice {
  const alertId = alertIdOf('ended', location);
  return { ...noticeOf(location, atMs), alertId, alertType: 'ALERT_RECOVERY', error: null };
}

function noticeOf({ locationId: id, slug, name, since, checks }: SilentLocation, atMs: number) {
  return {
    atMs,
    location: { id, slug, name, checks },
    check: { id, name: `Location ${name}`, checkType: 'URL', tags: [], groupName: null },
    runLocation: slug,
    responseTime: 0,
    statusCode: null,
    startedAtMs: since.getTime(),
    sslDaysRemaining: null,
    reminder: 0,
  } as const;
}
