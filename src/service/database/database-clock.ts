import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { sleep } from '../../runtime/wait.ts';
import type { Sql } from './port.ts';

export interface DatabaseClockParts {
  readonly store: Sql;
  /** Of this machine. */
  readonly clock: Clock;
  readonly log: Logger;
}

/** A clock that all replicas of a database share. */
export interface DatabaseClock extends Clock {
  /** Asks the database what time it is. @throws StoreError */
  set(): Promise<void>;
  /** The same every few seconds, until the signal aborts. Logs what fails. */
  maintain(signal: AbortSignal): Promise<void>;
}

const SET_EVERY_MS = 2_000;
/** What a steady clock may be off by, so that it is not moved to and fro by every answer. */
const TOLERANCE_MS = 100;
const SLEEP_ASKED_EVERY_MS = 50;
/** From here on somebody should see to the clock of the machine. */
const WARN_ABOVE_MS = 5_000;

/**
 * The wall clock of the database. Replicas judge by one clock what another one has written: were it
 * their machine's, one that is ahead would let every heartbeat fail before its time.
 *
 * Between two answers it goes by the time since the machine started, so that it does not jump where
 * somebody sets the machine's clock, and goes on while the machine sleeps. Before the first answer
 * it is the clock of the machine.
 */
export function createDatabaseClock({ store, clock, log }: DatabaseClockParts): DatabaseClock {
  /** The database's time less that since the machine started. */
  let offsetMs: number | null = null;
  let isOff = false;

  /** How long the machine slept, and when that was asked, which costs a system call. */
  let slept = { ms: clock.suspendedMs(), askedMs: clock.monotonicMs() };

  function sinceStartMs(): number {
    const nowMs = clock.monotonicMs();
    if (nowMs - slept.askedMs >= SLEEP_ASKED_EVERY_MS) {
      const ms = clock.suspendedMs();
      // It is true to some milliseconds only, and time is not to go back by those.
      slept = { ms: ms - slept.ms > TOLERANCE_MS ? ms : slept.ms, askedMs: nowMs };
    }
    return nowMs + slept.ms;
  }

  async function set(): Promise<void> {
    const askedMs = sinceStartMs();
    const [row] = await store.query<{ now: Date }>('select clock_timestamp() as now');
    const answeredMs = sinceStartMs();
    if (row === undefined) return;
    // It told its time at some instant between the two.
    const least = row.now.getTime() - answeredMs;
    const most = row.now.getTime() - askedMs;
    const fits =
      offsetMs !== null && offsetMs >= least - TOLERANCE_MS && offsetMs <= most + TOLERANCE_MS;
    if (!fits) offsetMs = (least + most) / 2;
    tellOfMachine((offsetMs ?? 0) + answeredMs - clock.wallMs());
  }

  function tellOfMachine(behindMs: number): void {
    const wasOff = isOff;
    isOff = Math.abs(behindMs) > WARN_ABOVE_MS;
    if (isOff === wasOff) return;
    const facts = { behindMs: Math.round(behindMs) };
    if (isOff)
      log.warn(facts, 'the clock of this machine is not that of the database, which counts');
    else log.info(facts, 'the clock of this machine is that of the database again');
  }

  return {
    wallMs: () => (offsetMs === null ? clock.wallMs() : Math.floor(offsetMs + sinceStartMs())),
    monotonicMs: () => clock.monotonicMs(),
    suspendedMs: () => clock.suspendedMs(),
    after: (delayMs, callback) => clock.after(delayMs, callback),
    set,
    async maintain(signal) {
      while (await sleep(clock, SET_EVERY_MS, signal)) {
        // Until it answers, the time since it last did is as good.
        await set().catch((error) =>
          log.debug(`the database's time is unknown: ${messageOf(error)}`),
        );
      }
    },
  };
}
