import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import type { OneOff } from '../../../wire/v1/assignment.ts';

/** The clocks of two machines with NTP may differ by this. */
const TOLERANCE_MS = 5_000;
const LOG_PERIOD_MS = 3_600_000;

/**
 * The difference between the service's clock and the agent's. Slots follow the agent's clock, so a
 * wrong clock shifts them: logs a difference of more than TOLERANCE_MS.
 */
export class ServiceClock {
  readonly #clock: Clock;
  readonly #throttled: ThrottledLog;
  #aheadMs = 0;
  #ownAheadMs: number | null = null;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#throttled = new ThrottledLog(clock, log, { periodMs: LOG_PERIOD_MS });
  }

  /** How far this machine's clock is ahead; below 0 it is behind. null before the first answer. */
  get ownAheadMs(): number | null {
    return this.#ownAheadMs;
  }

  /**
   * @param serverTimeMs epoch milliseconds, read by the service at some time between the sending of
   *   the request and now
   * @param elapsedMs milliseconds since the request was sent
   */
  heard(serverTimeMs: number, elapsedMs: number): void {
    const nowMs = this.#clock.wallMs();
    const earliestMs = nowMs - elapsedMs;
    const nearestMs = Math.min(Math.max(serverTimeMs, earliestMs), nowMs);
    const aheadMs = Math.round(serverTimeMs - nearestMs);
    this.#ownAheadMs = 0 - aheadMs;
    this.#aheadMs = Math.abs(aheadMs) > TOLERANCE_MS ? aheadMs : 0;
    if (this.#aheadMs === 0) return;
    const side = aheadMs > 0 ? 'behind' : 'ahead of';
    this.#throttled.warn(
      'clock',
      { offsetMs: -aheadMs },
      `this machine's clock is ${Math.round(Math.abs(aheadMs) / 1000)} s ${side} the service's; checks run by this machine's: synchronise both clocks (NTP)`,
    );
  }

  /** The run with its instants converted to the agent's clock. */
  onOwnClock(run: OneOff): OneOff {
    if (this.#aheadMs === 0) return run;
    const { notBefore, notAfter } = run;
    return {
      ...run,
      notBefore: notBefore === null ? null : notBefore - this.#aheadMs,
      notAfter: notAfter - this.#aheadMs,
    };
  }
}
