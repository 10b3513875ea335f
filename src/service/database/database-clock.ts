import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import type { Sql } from './store.ts';

export interface DatabaseClockParts {
  readonly store: Sql;
  /** The clock of this machine. */
  readonly clock: Clock;
  readonly log: Logger;
}

/** A clock that all replicas of a database share. */
export interface DatabaseClock extends Clock {
  /** Synchronises with the database. @throws StoreError */
  set(): Promise<void>;
  /** Synchronises every 2 s until the signal aborts. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

const SET_EVERY_MS = 2_000;
/** A smaller difference is ignored, so that the clock does not move with every answer. */
const TOLERANCE_MS = 100;
const SLEEP_CHECK_MS = 50;
/** A larger difference means that the machine's clock needs attention. */
const WARN_ABOVE_MS = 5_000;

/**
 * The wall clock of the database. All replicas use it to judge what others wrote: a replica that used the
 * clock of its own machine, if that were ahead, would fail every heartbeat too early.
 *
 * Between two answers it adds the time since the machine started, so that it does not jump when the
 * machine's clock is set, and advances while the machine sleeps. Before the first answer it is the
 * clock of the machine.
 */
export function createDatabaseClock({ store, clock, log }: DatabaseClockParts): DatabaseClock {
  /** The database's time minus the time since the machine started. */
  let offsetMs: number | null = null;
  let isOff = false;

  /** How long the machine slept, and when that was read, which takes a system call. */
  let slept = { ms: clock.suspendedMs(), readMs: clock.monotonicMs() };

  function sinceStartMs(): number {
    const nowMs = clock.monotonicMs();
    if (nowMs - slept.readMs >= SLEEP_CHECK_MS) {
      const ms = clock.suspendedMs();
      // It is accurate only to some milliseconds, by which the time must not go back.
      slept = { ms: ms - slept.ms > TOLERANCE_MS ? ms : slept.ms, readMs: nowMs };
    }
    return nowMs + slept.ms;
  }

  async function set(): Promise<void> {
    const askedMs = sinceStartMs();
    const [row] = await store.query<{ now: Date }>('select clock_timestamp() as now');
    const answeredMs = sinceStartMs();
    if (row === undefined) return;
    // The database read its clock between these two times.
    const least = row.now.getTime() - answeredMs;
    const most = row.now.getTime() - askedMs;
    const fits =
      offsetMs !== null && offsetMs >= least - TOLERANCE_MS && offsetMs <= most + TOLERANCE_MS;
    if (!fits) offsetMs = (least + most) / 2;
    logMachineClock((offsetMs ?? 0) + answeredMs - clock.wallMs());
  }

  function logMachineClock(behindMs: number): void {
    const wasOff = isOff;
    isOff = Math.abs(behindMs) > WARN_ABOVE_MS;
    if (isOff === wasOff) return;
    const facts = { behindMs: Math.round(behindMs) };
    if (isOff)
      log.warn(facts, 'the clock of this machine differs from that of the database, which is used');
    else log.info(facts, 'the clock of this machine agrees with that of the database again');
  }

  return {
    wallMs: () => (offsetMs === null ? clock.wallMs() : Math.floor(offsetMs + sinceStartMs())),
    monotonicMs: () => clock.monotonicMs(),
    suspendedMs: () => clock.suspendedMs(),
    after: (delayMs, callback) => clock.after(delayMs, callback),
    set,
    async maintain(signal) {
      while (await sleep(clock, SET_EVERY_MS, signal)) {
        // The last offset stays in use until the database answers.
        await set().catch((error) =>
          log.debug(`the database's time is unknown: ${messageOf(error)}`),
        );
      }
    },
  };
}
