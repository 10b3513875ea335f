import { nextHourInZone } from '../../../model/account/time-zone.ts';
import { type AlertType, RECOVERY_TYPES, reportsEnd } from '../../../model/alerting/alert.ts';
import type { Sql } from '../../database/store.ts';
import type { ChannelSubscriber } from '../channels/subscriptions.sql.ts';
import { digestPairs, pairsAmong } from '../delivery/check-channels.sql.ts';
import type { AlertNotice } from '../notice.ts';
import { DIGEST_KEY, groupKeyOf, storedKeyOf } from './bundle-key.ts';

/** The message that a delivery waits for. */
interface Bundle {
  /** The stored key. */
  readonly key: string;
  /** The earliest time at which that message is sent; epoch milliseconds. */
  readonly dueAtMs: number;
}

interface Pending {
  readonly notice: AlertNotice;
  readonly recipient: ChannelSubscriber;
}

export type Bundled<Each> = Each & { readonly bundle: Bundle | null };

/** Which notices of a check wait for the digest of a channel. */
interface DigestState {
  /** When the digest that contains a notice of the check is due; epoch milliseconds, null for none. */
  readonly digestAtMs: number | null;
  /** Whether the channel was notified of the problem other than by that digest. */
  readonly isProblemKnown: boolean;
}

const DEGRADED: readonly AlertType[] = ['ALERT_DEGRADED', 'ALERT_DEGRADED_REMAIN'];

/**
 * The deliveries with the messages that they wait for; null: each is a message by itself. Notices of degraded checks go
 * into the channel's digest, without reminders. The end of a degradation goes there, too, if a pending digest is the
 * first to report the problem, even if the channel has no digest any more.
 */
export async function withBundles<Each extends Pending>(
  tx: Sql,
  accountId: string,
  pending: readonly Each[],
): Promise<readonly Bundled<Each>[]> {
  const states = await digestStatesOfEnds(tx, accountId, pending);
  return pending.flatMap((each): readonly Bundled<Each>[] => {
    const { notice, recipient } = each;
    const { degradedDigestHour: hour = null, timeZone = 'UTC' } = recipient;
    const { alertType, atMs } = notice;
    const state = states.get(pairKeyOf(recipient)) ?? { digestAtMs: null, isProblemKnown: false };
    if (hour !== null && DEGRADED.includes(alertType)) {
      if (notice.reminder > 0) return [];
      const digestAtMs = nextHourInZone(atMs, hour, timeZone);
      states.set(pairKeyOf(recipient), { ...state, digestAtMs });
      return [{ ...each, bundle: { key: DIGEST_KEY, dueAtMs: digestAtMs } }];
    }
    const { digestAtMs, isProblemKnown } = state;
    if (alertType === 'ALERT_DEGRADED_RECOVERY' && digestAtMs !== null && !isProblemKnown) {
      return [{ ...each, bundle: { key: DIGEST_KEY, dueAtMs: digestAtMs } }];
    }
    if (alertType !== 'ALERT_SSL') {
      states.set(pairKeyOf(recipient), { ...state, isProblemKnown: !reportsEnd(alertType) });
    }
    return [{ ...each, bundle: groupOf(each) }];
  });
}

function groupOf({ notice, recipient }: Pending): Bundle | null {
  const { groupBy = null, groupWindow = 0 } = recipient;
  const key = groupKeyOf(notice, groupBy);
  if (key === null) return null;
  return { key: storedKeyOf(key), dueAtMs: notice.atMs + groupWindow * 1000 };
}

/** The states of the pairs with a notice that the check is no longer degraded. */
async function digestStatesOfEnds(
  tx: Sql,
  accountId: string,
  pending: readonly Pending[],
): Promise<Map<string, DigestState>> {
  const ended = pending.filter(({ notice }) => notice.alertType === 'ALERT_DEGRADED_RECOVERY');
  if (ended.length === 0) return new Map();
  const asked = pairsAmong(
    accountId,
    ended.map(({ recipient }) => recipient),
  );
  const pairs = await digestPairs(tx, { ...asked, ends: RECOVERY_TYPES });
  return new Map(
    pairs.map(({ digestAt, isProblemKnown, ...pair }) => [
      pairKeyOf(pair),
      { digestAtMs: digestAt?.getTime() ?? null, isProblemKnown },
    ]),
  );
}

function pairKeyOf({
  channelId,
  checkId,
}: Pick<ChannelSubscriber, 'channelId' | 'checkId'>): string {
  return `${channelId} ${checkId}`;
}
