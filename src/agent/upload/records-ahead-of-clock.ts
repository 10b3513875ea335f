import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import type { Deferred } from './batch.ts';

/** The longest wait: one of the clocks may have been set. */
const MAX_WAIT_MS = 60_000;
/** The shortest wait, however little they are ahead: the service may defer without a reason. */
const MIN_WAIT_MS = 1_000;
const LOG_PERIOD_MS = 600_000;

/**
 * Records that the service deferred because they are ahead of its clock. They stay in the spool;
 * the uploader sends later ones until it is time to return to them.
 */
export class RecordsAheadOfClock {
  readonly #clock: Clock;
  readonly #throttled: ThrottledLog;
  /** The first such record, and the monotonic instant at which to send from there again. */
  #first: { readonly key: number; readonly dueMs: number } | null = null;
  /** The key up to which the spool was read when the uploader returned; null while it has not. */
  #resumeAfter: number | null = null;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#throttled = new ThrottledLog(clock, log, { periodMs: LOG_PERIOD_MS });
  }

  /** Milliseconds until it is time to return; null if there are none. */
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
      `results are up to ${Math.round(mostMs / 1000)} s ahead of the service's clock, and wait until it accepts them: synchronise both clocks (NTP)`,
    );
  }

  /** The key after which to read next: before the first of them when it is time, else `after`. */
  cursor(after: number): number {
    if (this.#first === null || this.#first.dueMs > this.#clock.monotonicMs()) return after;
    const { key } = this.#first;
    this.#first = null;
    if (key > after) return after;
    this.#resumeAfter = Math.max(after, this.#resumeAfter ?? after);
    return key - 1;
  }

  /**
   * The key after which to read next, after a batch that ended at `upTo`. If the service took none
   * of its records, later ones are further ahead: the uploader skips them rather than sending all
   * of them repeatedly.
   */
  next(upTo: number, wasTaken: boolean): number {
    const resumeAfter = this.#resumeAfter;
    if (resumeAfter === null) return upTo;
    if (wasTaken && upTo < resumeAfter) return upTo;
    this.#resumeAfter = null;
    return Math.max(upTo, resumeAfter);
  }
}
