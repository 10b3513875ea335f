import { messageOf } from '../../runtime/errors.ts';
import { sleep } from '../../runtime/wait.ts';
import { deleteHeartbeatEventsBefore } from './events.sql.ts';
import { createOverdueScan, type OverdueScanParts } from './overdue-scan.ts';

export interface WatchParts extends OverdueScanParts {
  /** Whole days, as for results. */
  readonly retentionDays: number;
}

export interface HeartbeatWatch {
  /**
   * Records that the service is present and fails heartbeats past their deadline. Safe on several
   * replicas at once.
   *
   * @returns the number of heartbeats scanned
   */
  look(): Promise<number>;
  /** Scans every second and removes old events until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Bounds the time of a statement. */
const EVENTS_AT_ONCE = 5_000;

export function createWatch(parts: WatchParts): HeartbeatWatch {
  const { store, clock, log, retentionDays } = parts;
  const look = createOverdueScan(parts);

  async function removeOld(signal: AbortSignal): Promise<void> {
    const beforeMs = clock.wallMs() - (retentionDays + 1) * DAY_MS;
    let removed = EVENTS_AT_ONCE;
    while (removed === EVENTS_AT_ONCE && !signal.aborted) {
      removed = await deleteHeartbeatEventsBefore(store, { beforeMs, limit: EVENTS_AT_ONCE });
    }
  }

  /** One at a time; logs when a failure begins and when it ends. */
  async function every(
    delayMs: () => number,
    what: string,
    work: () => Promise<unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    let isFailing = false;
    do {
      try {
        await work();
        if (isFailing) log.info(`${what} works again`);
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn(`${what} fails: ${messageOf(error)}`);
        isFailing = true;
      }
    } while (await sleep(clock, delayMs(), signal));
  }

  return {
    look: () => look(),

    async maintain(signal) {
      await Promise.all([
        every(
          () => LOOK_EVERY_MS,
          'the scan for overdue heartbeats',
          () => look(signal),
          signal,
        ),
        every(
          // Replicas that started together should not run together.
          () => HOUR_MS * (0.5 + Math.random() / 2),
          'the removal of old heartbeat events',
          () => removeOld(signal),
          signal,
        ),
      ]);
    },
  };
}
