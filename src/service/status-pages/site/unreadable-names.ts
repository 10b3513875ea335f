import { LruCache } from '../../../runtime/lru-cache.ts';

const MAX_NAMES = 10_000;

/**
 * Names in page addresses without a page that everybody may read, as the database last said. Whether a
 * name has a private page or none makes no difference, not even to how long it stays: a look-up takes
 * longer, so anybody could tell them apart by time otherwise.
 */
export class UnreadableNames {
  #names = new LruCache<true>(MAX_NAMES);
  #changes = 0;

  has(url: string): boolean {
    return this.#names.get(url) !== undefined;
  }

  /** How often pages have changed: to be read before a name is looked up. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * To be called after a look-up. Does nothing where pages have changed since, which the look-up may
   * have missed.
   *
   * @param changes their number before the look-up
   */
  add(url: string, changes: number): void {
    if (changes === this.#changes) this.#names.set(url, true);
  }

  /**
   * To be called when pages of any account changed: a private one may be open now, and a new one may
   * have any name that no page had.
   */
  pagesChanged(): void {
    this.#changes += 1;
    this.#names = new LruCache(MAX_NAMES);
  }
}
