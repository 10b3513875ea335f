import { RECOVERY_TYPES } from '../../../model/alerting/alert.ts';
import {
  certificateEndMs,
  isSameCertificateEnd,
} from '../../../model/alerting/certificate-expiry.ts';
import { wantsNotice } from '../../../model/alerting/notice-preferences.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { Sql } from '../../database/store.ts';
import { lockChannels } from '../acknowledgements/sql.ts';
import { withBundles } from '../bundling/bundles.ts';
import {
  type CertificateNotice,
  type ChannelSubscriber,
  listCertificateNotices,
  lockSubscribedChannels,
  saveCertificateNotices,
} from '../channels/subscriptions.sql.ts';
import type { AlertNotice, NotifiedBy, Outbox } from '../notice.ts';
import { incidentActionOf } from '../senders/incident-key.ts';
import {
  type CheckChannel,
  pairsAmong,
  pairsWithProblem,
  unfinishedPairs,
} from './check-channels.sql.ts';
import { type NoticeRecipient, newDeliveryOf, type PendingDelivery } from './pending-delivery.ts';
import { insertDeliveries } from './sql.ts';

/** Bounds the parameters of a statement where many checks fail at once. */
const ROWS_AT_ONCE = 1_000;

/**
 * The transactional outbox. Stores one delivery for each alert, reminder and channel, however often `put` is called.
 * Each channel gets one notice of a certificate's expiry. Only channels that were notified of a problem get the notice
 * of its end. Skips a reminder while an earlier notice of its check to its channel is still to be sent.
 */
export function createOutbox(): Outbox {
  return {
    async put(tx, accountId, notices, escalated = []) {
      const checkIds = [...new Set(notices.map(({ check }) => check.id))];
      const subscribed = await lockSubscribedChannels(tx, { accountId, checkIds });
      const more = await escalatedChannels(tx, accountId, escalated);
      const wanted = notices.flatMap((notice) =>
        recipientsOf(notice, subscribed, more)
          .filter((recipient) => wantsNotice(recipient, notice))
          .map((recipient): PendingDelivery => ({ notice, recipient })),
      );
      if (wanted.length === 0) return;
      const known = await withoutUnknownEnds(tx, accountId, wanted);
      const fresh = await withoutSentCertificates(tx, accountId, known);
      const pending = await withoutQueuedReminders(tx, accountId, fresh);
      const bundled = await withBundles(tx, accountId, pending);
      for (const [atMs, group] of groupBy(bundled, ({ notice }) => notice.atMs)) {
        for (let from = 0; from < group.length; from += ROWS_AT_ONCE) {
          const batch = group.slice(from, from + ROWS_AT_ONCE);
          const deliveries = batch.map((each) => newDeliveryOf(accountId, each));
          await insertDeliveries(tx, { accountId, deliveries, atMs });
        }
      }
    },
  };
}

type Channel = Omit<ChannelSubscriber, 'checkId'>;

/** The channels that get the notices of an alert by escalation, by the id of the alert. */
async function escalatedChannels(
  tx: Sql,
  accountId: string,
  escalated: readonly { readonly alertId: string; readonly channelId: number }[],
): Promise<ReadonlyMap<string, readonly Channel[]>> {
  if (escalated.length === 0) return new Map();
  const channelIds = [...new Set(escalated.map(({ channelId }) => channelId))];
  const channels = new Map(
    (await lockChannels(tx, { accountId, ids: channelIds })).map((each) => [each.channelId, each]),
  );
  return new Map(
    [...groupBy(escalated, ({ alertId }) => alertId)].map(([alertId, group]) => {
      const ids = new Set(group.map(({ channelId }) => channelId));
      return [alertId, [...ids].flatMap((id) => channels.get(id) ?? [])];
    }),
  );
}

function recipientsOf(
  { alertId, check: { id: checkId } }: AlertNotice,
  subscribed: readonly ChannelSubscriber[],
  escalated: ReadonlyMap<string, readonly Channel[]>,
): readonly NoticeRecipient[] {
  const own = subscribed
    .filter((recipient) => recipient.checkId === checkId)
    .map((recipient) => ({ ...recipient, notifiedBy: byOf(recipient) }));
  const more = (escalated.get(alertId) ?? []).filter(
    ({ channelId }) => !own.some((recipient) => recipient.channelId === channelId),
  );
  return [
    ...own,
    ...more.map((channel) => ({ ...channel, checkId, notifiedBy: 'ESCALATION' as const })),
  ];
}

function byOf({ isNamed = true }: ChannelSubscriber): NotifiedBy {
  return isNamed ? 'CHECK' : 'ALL_CHECKS';
}

/**
 * Drops the ends of problems that their channel was not notified of. A notice counts as soon as it is in the outbox,
 * even if its delivery fails: it may have arrived without a response, and an incident may be open there.
 */
async function withoutUnknownEnds(
  tx: Sql,
  accountId: string,
  wanted: readonly PendingDelivery[],
): Promise<readonly PendingDelivery[]> {
  const ends = wanted.filter(({ notice }) => incidentActionOf(notice) === 'resolve');
  if (ends.length === 0) return wanted;
  const asked = pairsAmong(
    accountId,
    ends.map(({ recipient }) => recipient),
  );
  const pairs = await pairsWithProblem(tx, { ...asked, ends: RECOVERY_TYPES });
  const open = new Set(pairs.map(keyOf));
  // A problem may begin and end in one batch.
  return wanted.filter(({ notice, recipient }) => {
    if (notice.alertType === 'ALERT_SSL') return true;
    if (incidentActionOf(notice) === 'resolve') return open.delete(keyOf(recipient));
    open.add(keyOf(recipient));
    return true;
  });
}

async function withoutSentCertificates(
  tx: Sql,
  accountId: string,
  wanted: readonly PendingDelivery[],
): Promise<readonly PendingDelivery[]> {
  const ofCertificates = wanted.filter(({ notice }) => notice.alertType === 'ALERT_SSL');
  if (ofCertificates.length === 0) return wanted;
  const checkIds = [...new Set(ofCertificates.map(({ notice }) => notice.check.id))];
  const sent = new Map<string, CertificateNotice>();
  for (const each of await listCertificateNotices(tx, { accountId, checkIds })) {
    sent.set(keyOf(each), each);
  }
  const fresh = new Map<string, CertificateNotice>();
  const kept = wanted.filter(({ notice, recipient }) => {
    if (notice.alertType !== 'ALERT_SSL' || notice.sslDaysRemaining === null) return true;
    const { channelId, checkId } = recipient;
    const endsAtMs = certificateEndMs(notice.startedAtMs, notice.sslDaysRemaining);
    const before = fresh.get(keyOf(recipient)) ?? sent.get(keyOf(recipient));
    if (before !== undefined && isSameCertificateEnd(before.endsAtMs, endsAtMs)) return false;
    fresh.set(keyOf(recipient), { channelId, checkId, endsAtMs });
    return true;
  });
  await saveCertificateNotices(tx, { accountId, notices: [...fresh.values()] });
  return kept;
}

/** A receiver that is unreachable for a day must not get a reminder for each minute of it. */
async function withoutQueuedReminders(
  tx: Sql,
  accountId: string,
  wanted: readonly PendingDelivery[],
): Promise<readonly PendingDelivery[]> {
  const reminders = wanted.filter(({ notice }) => notice.reminder > 0);
  if (reminders.length === 0) return wanted;
  const asked = pairsAmong(
    accountId,
    reminders.map(({ recipient }) => recipient),
  );
  const pairs = await unfinishedPairs(tx, asked);
  const busy = new Set(pairs.map(keyOf));
  return wanted.filter(({ notice, recipient }) => {
    return notice.reminder === 0 || !busy.has(keyOf(recipient));
  });
}

function keyOf({ channelId, checkId }: CheckChannel): string {
  return `${channelId} ${checkId}`;
}
