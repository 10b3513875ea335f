import { RECOVERY_TYPES } from '../../../model/alerting/alert.ts';
import type { AlertChannelType } from '../../../model/alerting/alert-channel.ts';
import { MINUTE_MS, SECOND_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { runEvery } from '../../../runtime/run-every.ts';
import { sleep } from '../../../runtime/wait.ts';
import type { Store } from '../../database/store.ts';
import { storeErrorKind } from '../../database/store-errors.ts';
import {
  type DueLimits,
  listDuePairs,
  lockDuePairs,
  type RepeatedKind,
  repeatLastNotices,
} from './sql.ts';

export interface RepeatParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Services that end an alert which they do not receive again. Alertmanager asks its clients to send an alert "usually
 * on the order of 30 seconds to 3 minutes" (prometheus.io/docs/alerting/latest/clients). It ends an alert after 5
 * minutes by default (`resolve_timeout`), and loses all alerts when it restarts.
 */
const CHANNEL_TYPES: readonly AlertChannelType[] = ['ALERTMANAGER'];
const KINDS: readonly RepeatedKind[] = ['check', 'location', 'monitoring'];
/**
 * Each notice ends its alert 15 minutes ahead (senders/adapters/alertmanager.ts), which leaves time for many at once.
 */
const REPEAT_AFTER_MS = 3 * MINUTE_MS;
const SCAN_EVERY_MS = 30 * SECOND_MS;
const MAX_BACK_OFF_MS = MINUTE_MS;
/** Bounds how long a transaction locks its checks. */
const PAIRS_PER_TRANSACTION = 100;
const LIMITS: DueLimits = {
  // A bit more than comes due between two scans if they are spread evenly.
  share: (1.2 * SCAN_EVERY_MS) / REPEAT_AFTER_MS,
  atLeast: 20,
  limit: 2_000,
  // A slow receiver gets no more: each claim reads all that wait.
  perChannel: 1_000,
};

/**
 * Sends open alerts again to channels that need it, as long as they last: queues the last delivery of each again. If
 * many are due, as after a long stop of the service, each scan queues only a part of them. Replicas share the work.
 *
 * @returns how many deliveries it queued
 */
export async function repeatOpenAlerts({ store, clock }: RepeatParts): Promise<number> {
  const due = {
    channelTypes: CHANNEL_TYPES,
    ends: RECOVERY_TYPES,
    finishedByMs: clock.wallMs() - REPEAT_AFTER_MS,
  };
  let total = 0;
  for (const kind of KINDS) {
    const pairs = await listDuePairs(store, { ...due, ...LIMITS, kind });
    for (let from = 0; from < pairs.length; from += PAIRS_PER_TRANSACTION) {
      const slice = pairs.slice(from, from + PAIRS_PER_TRANSACTION);
      total += await store.transaction(async (tx) => {
        const locked = await lockDuePairs(tx, { ...due, kind, pairs: slice });
        if (locked.length === 0) return 0;
        return repeatLastNotices(tx, { ...due, pairs: locked, atMs: clock.wallMs() });
      });
    }
  }
  return total;
}

/**
 * Scans about every 30 s until the signal aborts, for the first time within 30 s, so that replicas that start together
 * do not scan together. Logs the first of several failures, and backs off.
 */
export async function keepRepeating(parts: RepeatParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  const options = {
    everyMs: SCAN_EVERY_MS,
    maxMs: MAX_BACK_OFF_MS,
    failure: 'open alerts could not be sent again',
    kindOf: storeErrorKind,
    log,
  };
  if (!(await sleep(clock, Math.random() * SCAN_EVERY_MS, signal))) return;
  await runEvery(
    clock,
    options,
    async () => {
      await repeatOpenAlerts(parts);
    },
    signal,
  );
}
