import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface ThrottleOptions {
  /** Default: a minute. */
  readonly periodMs?: number;
  /** Default: 32. Kinds beyond it share one line per period. */
  readonly maxKinds?: number;
  /** False: a continuing problem is logged again only after a period without it. Default: true. */
  readonly repeats?: boolean;
  /** Makes the fields for the number of occurrences since the last line of the kind. Default: `count`. */
  readonly countFields?: (count: number) => Fields;
}

interface Entry {
  atMs: number;
  unlogged: number;
}

/** A log with a rate limit: logs a kind of problem at once, then at most once per period, with a count. */
export class ThrottledLog {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #options: Required<ThrottleOptions>;
  /** By kind; the kind with the oldest line comes first. */
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock, log: Logger, options: ThrottleOptions = {}) {
    this.#clock = clock;
    this.#log = log;
    this.#options = {
      periodMs: 60_000,
      maxKinds: 32,
      repeats: true,
      countFields: (count) => ({ count }),
      ...options,
    };
  }

  warn(kind: string, fields: Fields, message: string): void {
    this.#write('warn', kind, fields, message);
  }

  error(kind: string, fields: Fields, message: string): void {
    this.#write('error', kind, fields, message);
  }

  /** The problems are over: the next is logged at once. True if one was logged. */
  clear(): boolean {
    const wasLogged = this.#entries.size > 0;
    this.#entries.clear();
    return wasLogged;
  }

  #write(level: 'warn' | 'error', kind: string, fields: Fields, message: string): void {
    const { periodMs, repeats, countFields } = this.#options;
    const nowMs = this.#clock.monotonicMs();
    const key = this.#keyOf(kind, nowMs);
    const known = this.#entries.get(key);
    const count = (known?.unlogged ?? 0) + 1;
    if (known !== undefined && nowMs - known.atMs < periodMs) {
      known.unlogged = count;
      if (!repeats) known.atMs = nowMs;
      return;
    }
    this.#entries.delete(key);
    this.#entries.set(key, { atMs: nowMs, unlogged: 0 });
    this.#log[level]({ ...fields, ...countFields(count) }, message);
  }

  /** Limits the kinds: a peer that chooses them could choose any number of new ones. */
  #keyOf(kind: string, nowMs: number): string {
    const { periodMs, maxKinds } = this.#options;
    if (this.#entries.has(kind) || this.#entries.size < maxKinds) return kind;
    const [oldest] = this.#entries;
    if (oldest === undefined || nowMs - oldest[1].atMs < periodMs) return 'other';
    this.#entries.delete(oldest[0]);
    return kind;
  }
}
