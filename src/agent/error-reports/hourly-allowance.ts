import { HOUR_MS } from '../../model/time-units.ts';
import type { Clock } from '../../runtime/clock.ts';

/** Limits the load on the service even if everything in an agent fails. */
const REPORTS_PER_HOUR = 240;

/** Limits the reports per hour. The hour begins with the first of them. */
export class HourlyAllowance {
  readonly #clock: Clock;
  #beganMs: number | null = null;
  #sent = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get left(): number {
    if (this.renewedInMs === 0) return REPORTS_PER_HOUR;
    return Math.max(0, REPORTS_PER_HOUR - this.#sent);
  }

  /** Milliseconds until the next hour may begin; 0 if it may begin now. */
  get renewedInMs(): number {
    if (this.#beganMs === null) return 0;
    return Math.max(0, this.#beganMs + HOUR_MS - this.#clock.monotonicMs());
  }

  take(reports: number): void {
    if (this.renewedInMs === 0) {
      this.#beganMs = this.#clock.monotonicMs();
      this.#sent = 0;
    }
    this.#sent += reports;
  }
}
