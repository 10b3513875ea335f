import { nextHourInZone } from '../../../model/account/time-zone.ts';
import type { AlertType } from '../../../model/alerting/alert.ts';
import type { Sql } from '../../database/store.ts';
import type { ChannelSubscriber } from '../channels/subscriptions.sql.ts';
import type { AlertNotice } from '../notice.ts';
import { DIGEST_KEY, groupKeyOf, storedKeyOf } from './bundle-key.ts';
import { waitingDigests } from './bundles.sql.ts';

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

const DEGRADED: readonly AlertType[] = ['ALERT_DEGRADED', 'ALERT_DEGRADED_REMAIN'];

/**
 * The deliveries with the messages that they wait for; null: each is a message. Degraded checks go into the
 * channel's digest, without reminders. So does the end of it while that digest is still to be sent.
 */
export async function withBundles<Each extends Pending>(
  tx: Sql,
  accountId: string,
  pending: readonly Each[],
): Promise<readonly Bundled<Each>[]> {
  const inDigest = await lanesInDigest(tx, accountId, pending);
  return pending.flatMap((each): readonly Bundled<Each>[] => {
    const { notice, listener } = each;
    const { degradedDigestHour: hour = null, timeZone = 'UTC' } = listener;
    const lane = laneOf(listener);
    const isDegraded = DEGRADED.includes(notice.alertType);
    const isEnd = notice.alertType === 'ALERT_DEGRADED_RECOVERY' && inDigest.has(lane);
    if (hour === null || !(isDegraded || isEnd)) return [{ ...each, bundle: groupOf(each) }];
    if (notice.reminder > 0) return [];
    inDigest.add(lane);
    const dueAtMs = nextHourInZone(notice.atMs, hour, timeZone);
    return [{ ...each, bundle: { key: DIGEST_KEY, dueAtMs } }];
  });
}

function groupOf({ notice, listener }: Pending): Bundle | null {
  const { groupBy = null, groupWindow = 0 } = listener;
  const key = groupKeyOf(notice, groupBy);
  if (key === null) return null;
  return { key: storedKeyOf(key), dueAtMs: notice.atMs + groupWindow * 1000 };
}

/** The channels with the checks of which a notice waits for a digest. */
async function lanesInDigest(
  tx: Sql,
  accountId: string,
  pending: readonly Pending[],
): Promise<Set<string>> {
  const asked = pending.filter(
    ({ notice: { alertType }, listener: { degradedDigestHour = null } }) =>
      alertType === 'ALERT_DEGRADED_RECOVERY' && degradedDigestHour !== null,
  );
  if (asked.length === 0) return new Set();
  const lanes = await waitingDigests(tx, {
    accountId,
    channelIds: [...new Set(asked.map(({ listener }) => listener.channelId))],
    checkIds: [...new Set(asked.map(({ listener }) => listener.checkId))],
  });
  return new Set(lanes.map(laneOf));
}

function laneOf({ channelId, checkId }: Pick<ChannelSubscriber, 'channelId' | 'checkId'>): string {
  return `${channelId} ${checkId}`;
}
