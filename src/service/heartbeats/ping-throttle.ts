import type { Clock } from '../../runtime/clock.ts';

interface Recent<Answer> {
  readonly startedMs: number;
  readonly answer: Promise<Answer>;
  more: number;
}

/**
 * Pings that come within a second of one that was taken get its answer, and cost nothing: so no job
 * can keep the database busy, however it pings. A second is less than any state of a heartbeat
 * lasts. They are counted with the next ping that is taken; where more tokens are pinged at once
 * than are remembered, the count of those that are forgotten is lost.
 */
export class PingThrottle<Answer> {
  readonly #clock: Clock;
  readonly #recent = new Map<string, Recent<Answer>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param take gets the number of pings that it stands for */
  async take(token: string, take: (pings: number) => Promise<Answer>): Promise<Answer> {
    const nowMs = this.#clock.monotonicMs();
    const last = this.#recent.get(token);
    if (last !== undefined && nowMs - last.startedMs < QUIET_MS) {
      last.more += 1;
      return last.answer;
    }
    const entry = { startedMs: nowMs, answer: take(1 + (last?.more ?? 0)), more: 0 };
    this.#remember(token, entry);
    try {
      return await entry.answer;
    } catch (error) {
      // Whoever tries again is to be taken.
      if (this.#recent.get(token) === entry) this.#recent.delete(token);
      throw error;
    }
  }

  /** The next ping with the token is taken, whenever it comes. */
  forget(token: string): void {
    this.#recent.delete(token);
  }

  #remember(token: string, entry: Recent<Answer>): void {
    this.#recent.delete(token);
    this.#recent.set(token, entry);
    if (this.#recent.size <= MAX_TOKENS) return;
    const [oldest] = this.#recent.keys();
    if (oldest !== undefined) this.#recent.delete(oldest);
  }
}

const QUIET_MS = 1_000;
const MAX_TOKENS = 10_000;
