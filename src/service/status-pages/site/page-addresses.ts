import { LruCache } from '../../../runtime/lru-cache.ts';

/**
 * Maximum number of addresses for each page. With PUBLIC_URL there are at most three: that of the service, and the
 * page's own domain by HTTP and HTTPS. Without it, the client chooses the host.
 */
const MAX_ADDRESSES = 4;
/** Longer than any host, port and path of a page. */
const MAX_CHARS = 1_000;
const MAX_CHARS_IN_ALL = 4 * 1024 * 1024;

interface IndexedAddress {
  readonly base: string;
  /** From 0 to MAX_ADDRESSES - 1. */
  readonly index: number;
}

/**
 * The latest addresses of each page, for which documents are cached. Documents are keyed by the index of their
 * address, so that documents for a new address replace those for the displaced one.
 */
export class PageAddresses {
  /** By the id of the page, the least recently used address first. */
  readonly #ofPages = new LruCache<readonly IndexedAddress[]>(MAX_CHARS_IN_ALL);

  /** Whether the address is not kept and would displace another one. */
  displaces(pageId: string, base: string): boolean {
    if (base.length > MAX_CHARS) return true;
    const kept = this.#ofPages.get(pageId) ?? [];
    return kept.length === MAX_ADDRESSES && kept.every((one) => one.base !== base);
  }

  /**
   * The key of a document. Another address may have had it before: compare the address, too.
   *
   * @param base becomes the latest address of the page
   * @param name names the document among those of the page
   */
  keyOf(pageId: string, base: string, name: string): string {
    return `${pageId}\n${this.#indexOf(pageId, base)}\n${name}`;
  }

  #indexOf(pageId: string, base: string): number {
    const kept = this.#ofPages.get(pageId) ?? [];
    const latest = kept.at(-1);
    if (latest?.base === base) return latest.index;
    const known = kept.find((one) => one.base === base);
    const displaced = kept.length === MAX_ADDRESSES ? kept[0] : undefined;
    const index = (known ?? displaced)?.index ?? kept.length;
    const now = [...kept.filter((one) => one.index !== index), { base, index }];
    const chars = now.reduce((sum, one) => sum + one.base.length, 0);
    this.#ofPages.set(pageId, now, chars);
    return index;
  }
}
