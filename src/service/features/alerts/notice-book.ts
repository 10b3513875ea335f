import {
  certificateEndMs,
  isSameCertificateEnd,
  wantsNotice,
} from '../../../model/alert-channel.ts';
import { stableId } from '../../../model/ids.ts';
import {
  holdListeners,
  keepSslTold,
  type Listener,
  listSslTold,
  type SslTold,
} from '../../store/alert-subscriptions.ts';
import { insertDeliveries, type NewDelivery } from '../../store/notices.ts';
import type { Sql } from '../../store/port.ts';
import type { AlertNotice, NoticeBook } from './notice.ts';

interface Letter {
  readonly notice: AlertNotice;
  readonly listener: Listener;
}

/**
 * The transactional outbox. What is put twice (the same alert, reminder and channel) is there once.
 * Of a certificate near its end each channel is told once, whatever number of days it is told of.
 */
export function createNoticeBook(): NoticeBook {
  return {
    async put(tx, accountId, notices) {
      const checkIds = [...new Set(notices.map(({ check }) => check.id))];
      const listeners = await holdListeners(tx, { accountId, checkIds });
      if (listeners.length === 0) return;
      const wanted = notices.flatMap((notice) =>
        listeners
          .filter(({ checkId }) => checkId === notice.check.id)
          .filter((listener) => wantsNotice(listener, notice))
          .map((listener): Letter => ({ notice, listener })),
      );
      const letters = await withoutToldCertificates(tx, accountId, wanted);
      for (const [atMs, ones] of byInstant(letters)) {
        const deliveries = ones.map((one) => deliveryOf(accountId, one));
        await insertDeliveries(tx, { accountId, deliveries, atMs });
      }
    },
  };
}

async function withoutToldCertificates(
  tx: Sql,
  accountId: string,
  letters: readonly Letter[],
): Promise<readonly Letter[]> {
  const ofCertificates = letters.filter(({ notice }) => notice.alertType === 'ALERT_SSL');
  if (ofCertificates.length === 0) return letters;
  const checkIds = [...new Set(ofCertificates.map(({ notice }) => notice.check.id))];
  const told = new Map<string, SslTold>();
  for (const one of await listSslTold(tx, { accountId, checkIds })) told.set(keyOf(one), one);
  const news = new Map<string, SslTold>();
  const kept = letters.filter(({ notice, listener }) => {
    if (notice.alertType !== 'ALERT_SSL' || notice.sslDaysRemaining === null) return true;
    const { channelId, checkId } = listener;
    const endsAtMs = certificateEndMs(notice.startedAtMs, notice.sslDaysRemaining);
    const before = news.get(keyOf(listener)) ?? told.get(keyOf(listener));
    if (before !== undefined && isSameCertificateEnd(before.endsAtMs, endsAtMs)) return false;
    news.set(keyOf(listener), { channelId, checkId, endsAtMs });
    return true;
  });
  await keepSslTold(tx, { accountId, told: [...news.values()] });
  return kept;
}

function keyOf({ channelId, checkId }: { readonly channelId: number; readonly checkId: string }) {
  return `${channelId} ${checkId}`;
}

/** Mostly there is one instant. */
function byInstant(letters: readonly Letter[]): ReadonlyMap<number, readonly Letter[]> {
  const groups = new Map<number, Letter[]>();
  for (const letter of letters) {
    const group = groups.get(letter.notice.atMs);
    if (group === undefined) groups.set(letter.notice.atMs, [letter]);
    else group.push(letter);
  }
  return groups;
}

function deliveryOf(accountId: string, { notice, listener }: Letter): NewDelivery {
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
