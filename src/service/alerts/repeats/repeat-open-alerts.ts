import { ENDS } from '../../../model/alerting/alert.ts';
import type { AlertChannelType } from '../../../model/alerting/alert-channel.ts';
import { MINUTE_MS, SECOND_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { runEvery } from '../../../runtime/run-every.ts';
import type { Store } from '../../database/store.ts';
import { storeErrorKind } from '../../database/store-errors.ts';
import { lockOpenLanes, type RepeatedKind, repeatLastNotices } from './sql.ts';

export interface RepeatParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Services that end an alert which they do not receive again. Alertmanager asks its clients to send an alert "usually
 * on the order of 30 seconds to 3 minutes" (prometheus.io/docs/alerting/latest/clients). It does so after 5 minutes by
 * default (`resolve_timeout`), and has lost all alerts after a restart.
 */
const CHANNEL_TYPES: readonly AlertChannelType[] = ['ALERTMANAGER'];
const KINDS: readonly RepeatedKind[] = ['check', 'location', 'monitoring'];
/** With the time between two scans, and retries of 20 s, under 5 minutes. */
const REPEAT_AFTER_MS = 3 * MINUTE_MS;
const SCAN_EVERY_MS = 30 * SECOND_MS;
const MAX_BACK_OFF_MS = MINUTE_MS;
/** Bounds how long a transaction locks its checks. */
const LANES_A_TRANSACTION = 100;
/** Of each kind. Other notices to the channel wait for those that are due before them. */
const LANES_A_SCAN = 1_000;

/**
 * Sends the alerts that are open again to channels that need it: the last notice of each, by the same delivery in the
 * outbox, however long it lasts. Replicas share the work.
 *
 * @returns how many it made wait to be sent
 */
export async function repeatOpenAlerts({ store, clock }: RepeatParts): Promise<number> {
  let total = 0;
  for (const kind of KINDS) {
    for (let count = 0; count < LANES_A_SCAN; count += LANES_A_TRANSACTION) {
      const repeated = await store.transaction(async (tx) => {
        const atMs = clock.wallMs();
        const due = {
          channelTypes: CHANNEL_TYPES,
          ends: ENDS,
          finishedByMs: atMs - REPEAT_AFTER_MS,
        };
        const lanes = await lockOpenLanes(tx, { ...due, kind, limit: LANES_A_TRANSACTION });
        return lanes.length === 0 ? 0 : repeatLastNotices(tx, { ...due, lanes, atMs });
      });
      total += repeated;
      if (repeated < LANES_A_TRANSACTION) break;
    }
  }
  return total;
}

/** Scans about every 30 s until the signal aborts. Logs the first of several failures, and backs off. */
export async function keepRepeating(parts: RepeatParts, signal: AbortSignal): Promise<void> {
  const { clock, log } = parts;
  const options = {
    everyMs: SCAN_EVERY_MS,
    maxMs: MAX_BACK_OFF_MS,
    failure: 'open alerts could not be sent again',
    kindOf: storeErrorKind,
    log,
  };
  await runEvery(
    clock,
    options,
    async () => {
      await repeatOpenAlerts(parts);
    },
    signal,
  );
}
