import { LruCache } from '../../../runtime/lru-cache.ts';

const MAX_NAMES = 10_000;

/**
 * Caches names in page addresses that have no public page. Treats names with a private page and names without a page
 * alike, including the time that they stay cached: otherwise the time of a request would reveal private pages.
 */
export class UnreadableNames {
  #names = new LruCache<true>(MAX_NAMES);
  #changes = 0;

  has(url: string): boolean {
    return this.#names.get(url) !== undefined;
  }

  /** The number of changes of pages. Read it before looking up a name. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Call it after a look-up. Does nothing if pages have changed since, because the look-up may have missed the change.
   *
   * @param changes the value of `changes` before the look-up
   */
  add(url: string, changes: number): void {
    if (changes === this.#changes) this.#names.set(url, true);
  }

  /**
   * Call it when pages of any account changed: a private page may now be public, and a new page may have any name
   * that no page had.
   */
  pagesChanged(): void {
    this.#changes += 1;
    this.#names = new LruCache(MAX_NAMES);
  }
}
