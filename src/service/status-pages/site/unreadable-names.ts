import { LruCache } from '../../../runtime/lru-cache.ts';

const MAX_NAMES = 10_000;

interface UnreadableName {
  readonly url: string;
  /** The account of the private page with this name; null if there is no page. */
  readonly accountId: string | null;
}

/** Names in page addresses without a page that everybody may read, as the database last said. */
export class UnreadableNames {
  readonly #names = new LruCache<UnreadableName>(MAX_NAMES);
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
  add({ url, accountId }: UnreadableName, changes: number): void {
    if (changes === this.#changes) this.#names.set(url, { url, accountId });
  }

  /**
   * To be called when pages of an account changed: a private one may be open now, and a new one may have
   * any name that no page had.
   *
   * @param changed the account; null for all
   */
  pagesChanged(changed: string | null): void {
    this.#changes += 1;
    for (const { url, accountId } of this.#names.values()) {
      const mayDiffer = changed === null || accountId === null || accountId === changed;
      if (mayDiffer) this.#names.delete(url);
    }
  }
}
