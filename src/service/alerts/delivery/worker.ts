import type { NotificationAttempt } from '../../../model/alerting/notification-attempt.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import type { Store } from '../../database/store.ts';
import { ClaimLoop, tooManyClaims } from '../../outbox/claim-loop.ts';
import { NameCounts } from '../../outbox/name-counts.ts';
import { recordAttempt } from '../../outbox/shared.sql.ts';
import type { LinkBase } from '../../outgoing/link-base.ts';
import { notSent, SEND_LIMIT_MS, type SendOutcome } from '../../outgoing/send-outcome.ts';
import { acknowledgeLink } from '../acknowledgements/acknowledge-link.ts';
import { withBundle } from '../bundling/bundle-notice.ts';
import { recordCarried, releaseOrphans } from '../bundling/bundles.sql.ts';
import type { AlertNotice } from '../notice.ts';
import { headlineOf } from '../senders/headline.ts';
import { incidentActionOf } from '../senders/incident-key.ts';
import { outcomeOfAttempt } from './attempt-outcome.ts';
import { type ClaimedDelivery, claimDeliveries, nextDueAtMs } from './claims.sql.ts';
import { findLastPassingRun } from './last-passing.sql.ts';
import { withPreviousNotice } from './previous-notice.ts';
import { type SealedDelivery, type SealedSending, sendSealed } from './send-sealed.ts';
import { NOTICES_CHANNEL } from './sql.ts';
import { withDependents } from './with-dependents.ts';

export interface DeliveryWorkerParts extends SealedSending {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
  /** The base of links. Default: messages have no links. */
  readonly linkBase?: LinkBase;
  /** Called for each attempt to send a message, once it is stored. Default: for none. */
  readonly onAttempt?: (attempt: NotificationAttempt) => void;
  /** Called for each delivery that is sent, or failed for good, once that is stored. */
  readonly onFinished?: (result: 'sent' | 'failed', of: { readonly isRepeat: boolean }) => void;
}

/** The last passing run is read within the lease of a delivery. After this time the notice is sent without it. */
const LAST_PASSING_LIMIT_MS = 2_000;
/** Concurrent messages of this process, to one channel and for one account, so that none delays the others. */
const MAX_SENDING = 100;
const MAX_PER_CHANNEL = 4;
const MAX_PER_ACCOUNT = 40;
/** The part of these that repeats may not use, so that a new alert does not wait for a repeat to a slow receiver. */
const NOT_FOR_REPEATS = { room: 25, perChannel: 1, perAccount: 10 };
/** At most this many other deliveries are in the message of one. */
const MAX_CARRIED = 10_000;
const RELEASE_EVERY_MS = 60_000;
/** Longer than an attempt and the storage of its outcome can take. */
const LEASE_MS = SEND_LIMIT_MS + 40_000;

/**
 * Sends pending deliveries until the signal aborts. The notices of one check to one channel are sent in order: each
 * waits until the previous one is sent or has failed.
 */
export async function runDeliveryWorker(
  parts: DeliveryWorkerParts,
  signal: AbortSignal,
): Promise<void> {
  const { store, ids } = parts;
  const owner = ids();
  const channels = new NameCounts();
  const accounts = new NameCounts();
  let releaseAtMs = Number.NEGATIVE_INFINITY;
  const loop = new ClaimLoop<ClaimedDelivery, SendOutcome>({
    ...parts,
    channel: NOTICES_CHANNEL,
    words: { all: 'notices', one: 'a delivery' },
    maxSending: MAX_SENDING,
    maxClaimed: MAX_SENDING,
    minClaim: 1,
    async prepare() {
      const nowMs = parts.clock.monotonicMs();
      if (nowMs < releaseAtMs) return false;
      releaseAtMs = nowMs + RELEASE_EVERY_MS;
      const count = await releaseOrphans(store);
      if (count > 0) {
        parts.log.warn(
          `${countText(count, 'notice')} ${count === 1 ? 'is' : 'are'} sent now, because another release of the service sent the message without ${count === 1 ? 'it' : 'them'}`,
        );
      }
      return false;
    },
    async claim(query) {
      const claimed = await claimDeliveries(store, {
        ...query,
        owner,
        leaseMs: LEASE_MS,
        perChannel: MAX_PER_CHANNEL,
        perAccount: MAX_PER_ACCOUNT,
        notForRepeats: NOT_FOR_REPEATS,
        maxCarried: MAX_CARRIED,
        busyChannels: channels.counts(),
        busyAccounts: accounts.counts(),
      });
      for (const { channelId, accountId } of claimed) {
        channels.add(String(channelId));
        accounts.add(accountId);
      }
      return claimed;
    },
    nextDueAtMs: (atMs) => nextDueAtMs(store, { atMs }),
    async send(delivery, cut) {
      const tooMany = tooManyClaims(delivery);
      if (tooMany !== null) return tooMany;
      let bundle: SealedDelivery;
      try {
        bundle = await withBundle(store, openable(delivery), delivery);
      } catch (error) {
        return notSent(`the notifications of the message cannot be read: ${messageOf(error)}`);
      }
      return sendSealed(parts, await withFacts(parts, bundle), cut);
    },
    async record({ id, attempt, isBundle, channel, notice }, sent, { atMs, wasCut }) {
      const outcome = outcomeOfAttempt(sent, { attempt, wasCut: wasCut && !sent.ok, atMs });
      const by = { outbox: 'alert_deliveries', id, owner, attempt } as const;
      const carrying = { deliveryId: id, attempt, atMs, outcome };
      const stored = isBundle
        ? await store.transaction(async (tx) => {
            const isStored = await recordAttempt(tx, { ...by, atMs, outcome });
            return isStored ? 1 + (await recordCarried(tx, carrying)) : 0;
          })
        : Number(await recordAttempt(store, { ...by, atMs, outcome }));
      // As the outbox stored it.
      const { isRepeated } = notice as AlertNotice;
      // An open alert that is sent again says nothing new.
      if (stored > 0 && (!sent.ok || isRepeated !== true)) {
        parts.onAttempt?.({
          channel: { type: channel.type, name: channel.name },
          headline: headlineOf(notice as AlertNotice),
          others: stored - 1,
          error: sent.ok ? null : (outcome.error ?? sent.error),
          isRetried: outcome.state === 'waiting',
        });
      }
      if (outcome.state === 'waiting') return;
      const of = { isRepeat: isRepeated !== undefined };
      for (let one = 0; one < stored; one += 1) parts.onFinished?.(outcome.state, of);
    },
    onEnd({ channelId, accountId }) {
      channels.remove(String(channelId));
      accounts.remove(accountId);
    },
  });
  await loop.run(signal);
}

/** Adds what a message about one check shows besides its notice. */
async function withFacts(
  parts: Pick<DeliveryWorkerParts, 'store' | 'linkBase' | 'secrets'>,
  delivery: SealedDelivery,
): Promise<SealedDelivery> {
  // One link cannot acknowledge several alerts.
  if (delivery.notice.bundle !== undefined) return delivery;
  const { store } = parts;
  const known = await withLastPassing(store, withAcknowledgeLink(parts, delivery));
  return withPreviousNotice(store, await withDependents(store, known));
}

function openable({ id: deliveryId, notice, timeZone, ...claimed }: ClaimedDelivery) {
  const { accountId, channelId, target, sealedSecrets, titleTemplate, textTemplate } = claimed;
  // As the outbox stored it.
  return {
    deliveryId,
    accountId,
    channelId,
    target,
    sealedSecrets,
    templates: { titleTemplate, textTemplate },
    notice: { ...(notice as AlertNotice), timeZone },
  };
}

/** Made when the notice is sent, so that the database contains no link that acknowledges an alert. */
function withAcknowledgeLink(
  { linkBase, secrets }: Pick<DeliveryWorkerParts, 'linkBase' | 'secrets'>,
  delivery: SealedDelivery,
): SealedDelivery {
  const { channelId, notice } = delivery;
  const publicUrl = linkBase?.url ?? null;
  const link = acknowledgeLink({ publicUrl, secrets }, channelId, notice);
  return { ...delivery, notice: { ...notice, acknowledgeLink: link } };
}

/**
 * Read when the notice is sent, because most alerts notify no channel. If that fails, the notice is sent without it.
 */
async function withLastPassing(store: Store, delivery: SealedDelivery): Promise<SealedDelivery> {
  const { accountId, notice } = delivery;
  const { check, atMs, resultId = null, location } = notice;
  if (resultId === null || location !== undefined || incidentActionOf(notice) === 'resolve')
    return delivery;
  try {
    const of = { accountId, checkId: check.id, beforeMs: atMs };
    const lastPassing = await store.transaction((tx) => findLastPassingRun(tx, of), {
      statementTimeoutMs: LAST_PASSING_LIMIT_MS,
    });
    return { ...delivery, notice: { ...notice, lastPassing } };
  } catch {
    return delivery;
  }
}
