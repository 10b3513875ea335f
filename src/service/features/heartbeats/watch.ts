import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { deleteHeartbeatEventsBefore } from '../../store/heartbeat-events.ts';
import { lockDue } from '../../store/heartbeats.ts';
import type { Store } from '../../store/port.ts';
import { type JudgingParts, record, type Step, settle } from './judging.ts';
import type { Presence } from './presence.ts';

export interface WatchParts extends JudgingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly presence: Presence;
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
  keep(signal: AbortSignal): Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
const HEARTBEATS_AT_ONCE = 100;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** So that no statement takes long. */
const EVENTS_AT_ONCE = 5_000;

export function createWatch(parts: WatchParts): HeartbeatWatch {
  const { store, clock, log, presence, retentionDays } = parts;

  async function look(signal?: AbortSignal): Promise<number> {
    let all = 0;
    let looked = HEARTBEATS_AT_ONCE;
    while (looked === HEARTBEATS_AT_ONCE && signal?.aborted !== true) {
      // What is due is judged at an instant up to which it is known whether pings were taken.
      const atMs = clock.wallMs();
      await presence.tell(atMs);
      looked = await store.transaction((tx) => lookAtSome(tx, atMs));
      all += looked;
    }
    return all;
  }

  async function lookAtSome(tx: Parameters<typeof lockDue>[0], atMs: number): Promise<number> {
    const due = await lockDue(tx, { atMs, limit: HEARTBEATS_AT_ONCE });
    const steps: Step[] = [];
    for (const heartbeat of due) {
      const { step } = await settle(tx, parts, heartbeat, atMs);
      if (step !== null) steps.push(step);
    }
    await record(tx, parts, steps, atMs);
    return due.length;
  }

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

    async keep(signal) {
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
