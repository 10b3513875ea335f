import { messageOf } from '../../runtime/errors.ts';
import { sleep } from '../../runtime/wait.ts';
import { deleteHeartbeatEventsBefore } from './events.sql.ts';
import { createOverdueScan, type OverdueScanParts } from './overdue-scan.ts';

export interface WatchParts extends OverdueScanParts {
  /** Whole days, as of the results. */
  readonly retentionDays: number;
}

/** Sees what does not come. */
export interface HeartbeatWatch {
  /**
   * Tells that the service is there, and lets fail whatever is past its deadline; several replicas
   * may do so at once.
   *
   * @returns how many heartbeats were looked at
   */
  look(): Promise<number>;
  /** Looks every second until the signal aborts, and removes old events. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** So that no statement takes long. */
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

  /** One at a time; a failure is told when it begins and when it is over. */
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
        if (isFailing) log.info(`${what} again`);
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn(`${what} no more for now: ${messageOf(error)}`);
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
          'heartbeats are watched',
          () => look(signal),
          signal,
        ),
        every(
          // Replicas that were started together need not come together each time.
          () => HOUR_MS * (0.5 + Math.random() / 2),
          'old events of heartbeats are removed',
          () => removeOld(signal),
          signal,
        ),
      ]);
    },
  };
}
