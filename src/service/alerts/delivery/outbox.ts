import {
  certificateEndMs,
  isSameCertificateEnd,
  wantsNotice,
} from '../../../model/alerting/alert-channel.ts';
import { stableId } from '../../../model/ids.ts';
import type { Sql } from '../../database/port.ts';
import {
  type CertificateNotice,
  type Listener,
  listCertificateNotices,
  lockListeningChannels,
  saveCertificateNotices,
} from '../channels/subscriptions.sql.ts';
import type { AlertNotice, Outbox } from '../notice.ts';
import { insertDeliveries, type NewDelivery, unfinishedLanes } from './sql.ts';

/** Where much fails at once and many listen, so that no statement's text is too large to hold. */
const ROWS_AT_ONCE = 1_000;

interface PendingDelivery {
  readonly notice: AlertNotice;
  readonly listener: Listener;
}

/**
 * The transactional outbox. What is put twice (the same alert, reminder and channel) is there once.
 * Of a certificate near its end each channel is told once, whatever number of days it is told of. A
 * reminder is left out where what it reminds of, or another one, is still to be sent.
 */
export function createOutbox(): Outbox {
  return {
    async put(tx, accountId, notices) {
      const checkIds = [...new Set(notices.map(({ check }) => check.id))];
      const listeners = await lockListeningChannels(tx, { accountId, checkIds });
      if (listeners.length === 0) return;
      const wanted = notices.flatMap((notice) =>
        listeners
          .filter(({ checkId }) => checkId === notice.check.id)
          .filter((listener) => wantsNotice(listener, notice))
          .map((listener): PendingDelivery => ({ notice, listener })),
      );
      const news = await withoutToldCertificates(tx, accountId, wanted);
      const letters = await withoutIdleReminders(tx, accountId, news);
      for (const [atMs, ones] of byInstant(letters)) {
        for (let from = 0; from < ones.length; from += ROWS_AT_ONCE) {
          const some = ones.slice(from, from + ROWS_AT_ONCE);
          const deliveries = some.map((one) => deliveryOf(accountId, one));
          await insertDeliveries(tx, { accountId, deliveries, atMs });
        }
      }
    },
  };
}

async function withoutToldCertificates(
  tx: Sql,
  accountId: string,
  letters: readonly PendingDelivery[],
): Promise<readonly PendingDelivery[]> {
  const ofCertificates = letters.filter(({ notice }) => notice.alertType === 'ALERT_SSL');
  if (ofCertificates.length === 0) return letters;
  const checkIds = [...new Set(ofCertificates.map(({ notice }) => notice.check.id))];
  const told = new Map<string, CertificateNotice>();
  for (const one of await listCertificateNotices(tx, { accountId, checkIds }))
    told.set(keyOf(one), one);
  const news = new Map<string, CertificateNotice>();
  const kept = letters.filter(({ notice, listener }) => {
    if (notice.alertType !== 'ALERT_SSL' || notice.sslDaysRemaining === null) return true;
    const { channelId, checkId } = listener;
    const endsAtMs = certificateEndMs(notice.startedAtMs, notice.sslDaysRemaining);
    const before = news.get(keyOf(listener)) ?? told.get(keyOf(listener));
    if (before !== undefined && isSameCertificateEnd(before.endsAtMs, endsAtMs)) return false;
    news.set(keyOf(listener), { channelId, checkId, endsAtMs });
    return true;
  });
  await saveCertificateNotices(tx, { accountId, told: [...news.values()] });
  return kept;
}

/** A receiver that is away for a day is not to get one for each minute of it, nor is the outbox. */
async function withoutIdleReminders(
  tx: Sql,
  accountId: string,
  letters: readonly PendingDelivery[],
): Promise<readonly PendingDelivery[]> {
  const reminders = letters.filter(({ notice }) => notice.reminder > 0);
  if (reminders.length === 0) return letters;
  const lanes = await unfinishedLanes(tx, {
    accountId,
    channelIds: [...new Set(reminders.map(({ listener }) => listener.channelId))],
    checkIds: [...new Set(reminders.map(({ listener }) => listener.checkId))],
  });
  const busy = new Set(lanes.map(keyOf));
  return letters.filter(({ notice, listener }) => {
    return notice.reminder === 0 || !busy.has(keyOf(listener));
  });
}

function keyOf({ channelId, checkId }: { readonly channelId: number; readonly checkId: string }) {
  return `${channelId} ${checkId}`;
}

/** Mostly there is one instant. */
function byInstant(
  letters: readonly PendingDelivery[],
): ReadonlyMap<number, readonly PendingDelivery[]> {
  const groups = new Map<number, PendingDelivery[]>();
  for (const letter of letters) {
    const group = groups.get(letter.notice.atMs);
    if (group === undefined) groups.set(letter.notice.atMs, [letter]);
    else group.push(letter);
  }
  return groups;
}

function deliveryOf(accountId: string, { notice, listener }: PendingDelivery): NewDelivery {
  const { alertId, alertType, reminder } = notice;
  const { channelId, checkId } = listener;
  return {
    id: stableId('delivery', accountId, channelId, alertId, reminder),
    channelId,
    checkId,
    alertId,
    alertType,
    reminder,
    notice,
  };
}
