import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

const INTERVAL_MS = 60_000;
/** Whoever chooses the keys could choose new ones without end. */
const MAX_KEYS = 32;
const OTHER = 'other';

interface Entry {
  atMs: number;
  unlogged: number;
}

/** Logs at once for each key, then at most once a minute, with the count since the line before. */
export class ThrottledLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Keys beyond the first 32 share one minute. */
  warn(key: string, fields: Readonly<Record<string, unknown>>, message: string): void {
    const entry = this.#entryOf(key);
    entry.unlogged += 1;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - entry.atMs < INTERVAL_MS) return;
    this.#log.warn({ ...fields, count: entry.unlogged }, message);
    entry.atMs = nowMs;
    entry.unlogged = 0;
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.has(key) || this.#entries.size < MAX_KEYS ? key : OTHER;
    const entry = this.#entries.get(known) ?? { atMs: Number.NEGATIVE_INFINITY, unlogged: 0 };
    this.#entries.set(known, entry);
    return entry;
  }
}
