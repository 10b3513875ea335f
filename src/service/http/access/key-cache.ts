import type { Clock } from '../../../runtime/clock.ts';
import type { KeyHolders } from './caller.ts';

/** How long a revoked key may still work. */
export const KEY_TTL_MS = 5_000;
export const MAX_CACHED_KEYS = 10_000;

export interface KeyCacheOptions<Holder> {
  readonly holders: KeyHolders<Holder>;
  readonly clock: Clock;
  /** How long an answer is valid, which is also the longest delay of a revocation. */
  readonly ttlMs: number;
  /** The limit for valid keys, and for unknown ones separately: the oldest are evicted. */
  readonly maxEntries: number;
}

interface Entry<Holder> {
  readonly holder: Holder | null;
  readonly untilMs: number;
}

/**
 * Caches the holder of a key for a few seconds, so that not every request queries the store. Unknown
 * keys are cached separately: a flood of them evicts no valid one.
 */
export class KeyCache<Holder> {
  readonly #options: KeyCacheOptions<Holder>;
  readonly #known = new Map<string, Entry<Holder>>();
  readonly #unknown = new Map<string, Entry<Holder>>();
  readonly #asking = new Map<string, Promise<Holder | null>>();
  /** A look-up that began before the last `forget` may have an answer from before the change. */
  #generation = 0;

  constructor(options: KeyCacheOptions<Holder>) {
    this.#options = options;
  }

  /** The cached answer; undefined if it has expired or there is none. */
  peek(keyHash: Buffer): Holder | null | undefined {
    const id = keyHash.toString('base64');
    const entry = this.#known.get(id) ?? this.#unknown.get(id);
    if (entry === undefined) return undefined;
    return entry.untilMs > this.#options.clock.monotonicMs() ? entry.holder : undefined;
  }

  /** Whether the last look-up found a holder, even if that answer has expired. */
  wasKnown(keyHash: Buffer): boolean {
    return this.#known.has(keyHash.toString('base64'));
  }

  /**
   * Queries the store; concurrent look-ups of the same key share one query.
   *
   * @throws what the authenticator throws; that is not cached
   */
  lookUp(keyHash: Buffer): Promise<Holder | null> {
    const id = keyHash.toString('base64');
    const running = this.#asking.get(id);
    if (running !== undefined) return running;
    const asked = this.#ask(id, keyHash).finally(() => {
      if (this.#asking.get(id) === asked) this.#asking.delete(id);
    });
    this.#asking.set(id, asked);
    return asked;
  }

  /** Forgets the holders that match: this process looks them up again at once. */
  forget(isMatch: (holder: Holder) => boolean): void {
    this.#generation += 1;
    this.#asking.clear();
    for (const [id, { holder }] of this.#known) {
      if (holder !== null && isMatch(holder)) this.#known.delete(id);
    }
  }

  get size(): number {
    return this.#known.size + this.#unknown.size;
  }

  async #ask(id: string, keyHash: Buffer): Promise<Holder | null> {
    const { holders, clock, ttlMs, maxEntries } = this.#options;
    const generation = this.#generation;
    const holder = await holders.authenticate(keyHash);
    if (generation !== this.#generation) return holder;
    this.#known.delete(id);
    this.#unknown.delete(id);
    const entries = holder === null ? this.#unknown : this.#known;
    entries.set(id, { holder, untilMs: clock.monotonicMs() + ttlMs });
    if (entries.size > maxEntries) {
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    }
    return holder;
  }
}
