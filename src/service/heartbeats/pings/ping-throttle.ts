import type { Clock } from '../../../runtime/clock.ts';

interface Recent<Answer> {
  readonly startedMs: number;
  readonly answer: Promise<Answer>;
  more: number;
}

/**
 * Answers pings within a second after an accepted one from memory, so that no job can overload the database.
 * Their answer is still right, since every state of a heartbeat lasts longer than a second. The next accepted
 * ping adds their number to its event; evicting a token from memory loses its number.
 */
export class PingThrottle<Answer> {
  readonly #clock: Clock;
  readonly #recent = new Map<string, Recent<Answer>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param take gets the number of pings to count */
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
      // A retry must be accepted.
      if (this.#recent.get(token) === entry) this.#recent.delete(token);
      throw error;
    }
  }

  /** Accepts the next ping with the token at any time. */
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
