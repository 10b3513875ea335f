import { nextHourInZone } from '../../../model/account/time-zone.ts';
import { type AlertType, ENDS, reportsEnd } from '../../../model/alerting/alert.ts';
import type { Sql } from '../../database/store.ts';
import type { ChannelSubscriber } from '../channels/subscriptions.sql.ts';
import { digestLanes, lanesAmong } from '../delivery/lanes.sql.ts';
import type { AlertNotice } from '../notice.ts';
import { DIGEST_KEY, groupKeyOf, storedKeyOf } from './bundle-key.ts';

/** For which message a delivery waits. */
interface Bundle {
  /** As stored. */
  readonly key: string;
  /** When that message is sent at the earliest; epoch milliseconds. */
  readonly dueAtMs: number;
}

interface Pending {
  readonly notice: AlertNotice;
  readonly listener: ChannelSubscriber;
}

export type Bundled<Each> = Each & { readonly bundle: Bundle | null };

/** What a channel knows of a check. */
interface Lane {
  /** When the digest is due that tells more of it; epoch milliseconds, null for none. */
  readonly digestAtMs: number | null;
  /** Whether the channel was notified of the problem other than by that digest. */
  readonly isProblemKnown: boolean;
}

const DEGRADED: readonly AlertType[] = ['ALERT_DEGRADED', 'ALERT_DEGRADED_REMAIN'];

/**
 * The deliveries with the messages that they wait for; null: each is a message. Degraded checks go into the
 * channel's digest, without reminders. So does the end of it where a digest that is still to be sent would be the
 * first to tell of the problem, even if the channel has no digest any more.
 */
export async function withBundles<Each extends Pending>(
  tx: Sql,
  accountId: string,
  pending: readonly Each[],
): Promise<readonly Bundled<Each>[]> {
  const lanes = await lanesOfEnds(tx, accountId, pending);
  return pending.flatMap((each): readonly Bundled<Each>[] => {
    const { notice, listener } = each;
    const { degradedDigestHour: hour = null, timeZone = 'UTC' } = listener;
    const { alertType, atMs } = notice;
    const lane = lanes.get(laneOf(listener)) ?? { digestAtMs: null, isProblemKnown: false };
    if (hour !== null && DEGRADED.includes(alertType)) {
      if (notice.reminder > 0) return [];
      const digestAtMs = nextHourInZone(atMs, hour, timeZone);
      lanes.set(laneOf(listener), { ...lane, digestAtMs });
      return [{ ...each, bundle: { key: DIGEST_KEY, dueAtMs: digestAtMs } }];
    }
    const { digestAtMs, isProblemKnown } = lane;
    if (alertType === 'ALERT_DEGRADED_RECOVERY' && digestAtMs !== null && !isProblemKnown) {
      return [{ ...each, bundle: { key: DIGEST_KEY, dueAtMs: digestAtMs } }];
    }
    if (alertType !== 'ALERT_SSL') {
      lanes.set(laneOf(listener), { ...lane, isProblemKnown: !reportsEnd(alertType) });
    }
    return [{ ...each, bundle: groupOf(each) }];
  });
}

function groupOf({ notice, listener }: Pending): Bundle | null {
  const { groupBy = null, groupWindow = 0 } = listener;
  const key = groupKeyOf(notice, groupBy);
  if (key === null) return null;
  return { key: storedKeyOf(key), dueAtMs: notice.atMs + groupWindow * 1000 };
}

/** Those of the channels and checks that must be notified of the end of being degraded. */
async function lanesOfEnds(
  tx: Sql,
  accountId: string,
  pending: readonly Pending[],
): Promise<Map<string, Lane>> {
  const ended = pending.filter(({ notice }) => notice.alertType === 'ALERT_DEGRADED_RECOVERY');
  if (ended.length === 0) return new Map();
  const asked = lanesAmong(
    accountId,
    ended.map(({ listener }) => listener),
  );
  const lanes = await digestLanes(tx, { ...asked, ends: ENDS });
  return new Map(
    lanes.map(({ digestAt, isProblemKnown, ...lane }) => [
      laneOf(lane),
      { digestAtMs: digestAt?.getTime() ?? null, isProblemKnown },
    ]),
  );
}

function laneOf({ channelId, checkId }: Pick<ChannelSubscriber, 'channelId' | 'checkId'>): string {
  return `${channelId} ${checkId}`;
}
