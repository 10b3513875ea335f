import type { Clock } from '../../../runtime/clock.ts';
import type { KeyHolders } from './authenticator.ts';

export interface KeyCacheOptions<Holder> {
  readonly holders: KeyHolders<Holder>;
  readonly clock: Clock;
  /** How long an answer holds, and so how late a revocation may take effect. */
  readonly ttlMs: number;
  /** Known keys, and as many unknown ones beside: the oldest make way. */
  readonly maxEntries: number;
}

interface Entry<Holder> {
  readonly holder: Holder | null;
  readonly untilMs: number;
}

/**
 * Remembers for a few seconds whose key it is, so that not every request asks the store. Keys that
 * nobody has are kept apart: a flood of them drives out no true one.
 */
export class KeyCache<Holder> {
  readonly #options: KeyCacheOptions<Holder>;
  readonly #known = new Map<string, Entry<Holder>>();
  readonly #unknown = new Map<string, Entry<Holder>>();
  readonly #asking = new Map<string, Promise<Holder | null>>();

  constructor(options: KeyCacheOptions<Holder>) {
    this.#options = options;
  }

  /** The answer that still holds; undefined where the store has to be asked. */
  peek(keyHash: Buffer): Holder | null | undefined {
    const id = keyHash.toString('base64');
    const entry = this.#known.get(id) ?? this.#unknown.get(id);
    if (entry === undefined) return undefined;
    return entry.untilMs > this.#options.clock.monotonicMs() ? entry.holder : undefined;
  }

  /** Whether somebody had the key when the store was last asked, however long ago. */
  wasKnown(keyHash: Buffer): boolean {
    return this.#known.has(keyHash.toString('base64'));
  }

  /**
   * Asks the store; those who ask for the same key meanwhile share one answer.
   *
   * @throws what the authenticator throws; that is not remembered
   */
  lookUp(keyHash: Buffer): Promise<Holder | null> {
    const id = keyHash.toString('base64');
    const running = this.#asking.get(id);
    if (running !== undefined) return running;
    const asked = this.#ask(id, keyHash).finally(() => this.#asking.delete(id));
    this.#asking.set(id, asked);
    return asked;
  }

  get size(): number {
    return this.#known.size + this.#unknown.size;
  }

  async #ask(id: string, keyHash: Buffer): Promise<Holder | null> {
    const { holders, clock, ttlMs, maxEntries } = this.#options;
    const holder = await holders.authenticate(keyHash);
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
