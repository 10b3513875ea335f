import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import type { Deferred } from './batch.ts';

/** Deferred records are tried again so soon at the latest: one of the clocks may have been set. */
const MAX_WAIT_MS = 60_000;
/** However little they are ahead: a service that defers without a reason is not asked without a rest. */
const MIN_WAIT_MS = 1_000;
const LOG_PERIOD_MS = 600_000;

/**
 * Records that the service will take later, as they are ahead of its clock. They stay in the spool, and
 * the uploader goes on with those behind them until it is time to come back.
 */
export class RecordsAheadOfClock {
  readonly #clock: Clock;
  readonly #throttled: ThrottledLog;
  /** The first of them in the spool, and when to send from there again (monotonic). */
  #first: { readonly key: number; readonly dueMs: number } | null = null;
  /** Up to where the spool was read when the uploader came back; null where it has not. */
  #resumeAfter: number | null = null;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#throttled = new ThrottledLog(clock, log, { periodMs: LOG_PERIOD_MS });
  }

  /** Milliseconds until it is time to come back; null where there are none. */
  get dueInMs(): number | null {
    return this.#first === null ? null : Math.max(0, this.#first.dueMs - this.#clock.monotonicMs());
  }

  add(deferred: readonly Deferred[]): void {
    const [first] = deferred;
    if (first === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    const aheadMs = deferred.reduce((least, one) => Math.min(least, one.aheadMs), MAX_WAIT_MS);
    const key = Math.min(first.record.key, this.#first?.key ?? Number.POSITIVE_INFINITY);
    const waitMs = Math.max(MIN_WAIT_MS, aheadMs);
    const dueMs = Math.min(nowMs + waitMs, this.#first?.dueMs ?? Number.POSITIVE_INFINITY);
    this.#first = { key, dueMs };
    const mostMs = deferred.reduce((most, one) => Math.max(most, one.aheadMs), 0);
    this.#throttled.warn(
      'ahead',
      { records: deferred.length, aheadMs: mostMs },
      `results are up to ${Math.round(mostMs / 1000)} s ahead of the service's clock, and wait until it takes them: see that both machines keep their time (NTP)`,
    );
  }

  /** Where to read on: at the first of them when it is time, else as it was. */
  cursor(after: number): number {
    if (this.#first === null || this.#first.dueMs > this.#clock.monotonicMs()) return after;
    const { key } = this.#first;
    this.#first = null;
    if (key > after) return after;
    this.#resumeAfter = Math.max(after, this.#resumeAfter ?? after);
    return key - 1;
  }

  /**
   * Where to read on after a batch that ended at `upTo`. Where none of it was taken, those behind it are
   * further ahead: the uploader skips them, or a fast clock would make it send all of them again and again.
   */
  next(upTo: number, wasTaken: boolean): number {
    const resumeAfter = this.#resumeAfter;
    if (resumeAfter === null) return upTo;
    if (wasTaken && upTo < resumeAfter) return upTo;
    this.#resumeAfter = null;
    return Math.max(upTo, resumeAfter);
  }
}
