import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { LruCache } from '../../../runtime/lru-cache.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import { notFound } from '../../errors.ts';
import { type Encoded, encoded } from '../../http/handbook/responses.ts';
import type { PageGate } from '../sql.ts';
import type { PageState, PageStates } from '../state/page-state.ts';
import type { StoredPage } from '../status-pages.ts';
import { type Kept, Refreshed } from './refreshed.ts';
import type { RequestedPage } from './requested-page.ts';

export interface FoundPage {
  readonly gate: PageGate;
  readonly page: StoredPage;
}

/** A document of a page as it is sent. */
export interface PageDocument extends Encoded {
  /** How long ago its state was read, if no newer one can be; else 0. */
  readonly staleMs: number;
}

/** A page with its present state. */
export interface CachedPage {
  readonly state: PageState;
  /** Whether a newer state could not be read. */
  readonly isStale: boolean;
  /**
   * A document of the page, made once for each state and address of the page.
   *
   * @param name names the document among those of the page
   */
  document(name: string, make: (state: PageState) => string | Buffer): PageDocument;
}

export interface PageCacheParts {
  readonly clock: Clock;
  readonly log: Logger;
  /** The page with this name in its address, private ones included; null without one. */
  readonly findPage: (url: string) => Promise<FoundPage | null>;
  readonly pageStates: PageStates;
}

/** The most services on all pages whose state is kept; each has the counts of 90 days, about 10 KB. */
const MAX_SERVICES = 5_000;
/** For documents in all their encodings. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;
/** For histories and incidents in all their encodings. */
const MAX_PART_BYTES = 16 * 1024 * 1024;
/** About the size of one beside its document. */
const PART_BYTES = 1_024;
/** Names without a page that everybody may read. */
const MAX_CLOSED = 10_000;

interface Entry {
  readonly page: Refreshed<FoundPage | null>;
  /** Made when the state is first read. */
  state: StateOfPage | null;
}

interface StateOfPage {
  /** Another page may take the name of an earlier one. */
  readonly pageId: string;
  readonly current: Refreshed<PageState | null>;
}

interface Part {
  readonly accountId: string;
  /** As it was last asked for. */
  requested: RequestedPage;
  readonly document: Refreshed<Encoded | null>;
}

const NO_DOCUMENT = encoded('');

interface MadeDocument {
  readonly page: StoredPage;
  readonly state: PageState;
  readonly isStale: boolean;
  readonly encoded: Encoded;
}

/** Pages with their state and documents, kept until they change: README.md of the folder above. */
export class PageCache {
  readonly #parts: PageCacheParts;
  readonly #throttled: ThrottledLog;
  readonly #entries = new LruCache<Entry>(MAX_SERVICES);
  readonly #documents = new LruCache<MadeDocument>(MAX_DOCUMENT_BYTES);
  readonly #partsOfPages = new LruCache<Part>(MAX_PART_BYTES);
  #closed = new LruCache<true>(MAX_CLOSED);
  #isFollowed: boolean = false;

  constructor(parts: PageCacheParts) {
    this.#parts = parts;
    this.#throttled = new ThrottledLog(parts.clock, parts.log, {
      countFields: (failures) => ({ failures }),
    });
  }

  /** While changes are announced, nothing is read again without one. */
  set isFollowed(isFollowed: boolean) {
    this.#isFollowed = isFollowed;
    // What was read before may have changed without an announcement.
    this.outdate(null);
  }

  /**
   * To be called when something of an account changed.
   *
   * @param accountId null for all accounts
   */
  outdate(accountId: string | null): void {
    // A new page may have any of the names.
    this.#closed = new LruCache(MAX_CLOSED);
    for (const { page, state } of this.#entries.values()) {
      if (accountId !== null && page.known?.gate.accountId !== accountId) continue;
      page.outdate();
      state?.current.outdate();
    }
    for (const part of this.#partsOfPages.values()) {
      if (accountId === null || part.accountId === accountId) part.document.outdate();
    }
  }

  /** As far as it is in memory; else null. */
  gateOf(url: string): PageGate | null {
    return this.#entries.get(url)?.page.known?.gate ?? null;
  }

  /** Whether the name was closed since the last change. */
  isClosed(url: string): boolean {
    return this.#isFollowed && this.#closed.get(url) === true;
  }

  /**
   * To be called before the name is looked up.
   *
   * @returns keeps that not everybody may read a page with this name, or that there is none; does
   *   nothing after a change, which the look-up may have missed
   */
  closerOf(url: string): () => void {
    const closed = this.#closed;
    return () => closed.set(url, true);
  }

  /** @returns null where there is no page with this name in its address */
  async find(url: string): Promise<FoundPage | null> {
    const entry = this.#entries.get(url) ?? this.#newEntry(url);
    const { value: found } = await entry.page.get();
    if (found === null) {
      this.#entries.delete(url);
      return null;
    }
    if (this.#entries.get(url) !== entry) this.#keep(url, entry, found);
    return found;
  }

  /** @throws ServiceError 404 where the page is gone by now */
  async get({ accountId, page, base }: RequestedPage): Promise<CachedPage> {
    const { url } = page.fields;
    const entry = this.#entries.get(url) ?? this.#newEntry(url);
    const { id } = page;
    if (entry.state?.pageId !== id) {
      const read = () => this.#parts.pageStates.read({ accountId, id });
      entry.state = { pageId: id, current: new Refreshed({ ...this.#shared, read }) };
    }
    const { value: state, staleMs }: Kept<PageState | null> = await entry.state.current.get();
    if (state === null) throw notFound('status page');
    const isStale = staleMs > 0;
    return {
      state,
      isStale,
      document: (name, make) => {
        const key = `${id}\n${base}\n${name}`;
        const known = this.#documents.get(key);
        const isCurrent =
          known?.page === page && known.state === state && known.isStale === isStale;
        if (isCurrent) return { ...known.encoded, staleMs };
        const made = encoded(make(state));
        const bytes = made.plain.length + made.packed.br.length + made.packed.gzip.length;
        this.#documents.set(key, { page, state, isStale, encoded: made }, bytes);
        return { ...made, staleMs };
      },
    };
  }

  /**
   * A document of a page that does not follow from its state, such as its history. It is made when it
   * is first asked for, made again after a change, and kept while that is not possible.
   *
   * @param name names the document among those of the page
   * @param make returns null where there is no such document
   */
  async part(
    requested: RequestedPage,
    name: string,
    make: (requested: RequestedPage) => Promise<string | null>,
  ): Promise<PageDocument | null> {
    const { accountId, page, base } = requested;
    const key = `${page.id}\n${base}\n${name}`;
    const known = this.#partsOfPages.get(key);
    const part: Part = known ?? { accountId, requested, document: this.#newPart(() => part, make) };
    // Names and colours of the page may have changed.
    part.requested = requested;
    const { value: document, staleMs } = await part.document.get();
    const { plain, packed } = document ?? NO_DOCUMENT;
    const bytes = PART_BYTES + plain.length + packed.br.length + packed.gzip.length;
    this.#partsOfPages.set(key, part, bytes);
    return document === null ? null : { ...document, staleMs };
  }

  /** Whether a part with this name was made before, and may be out of date. */
  knowsPart({ page, base }: RequestedPage, name: string): boolean {
    const part = this.#partsOfPages.get(`${page.id}\n${base}\n${name}`);
    return (part?.document.known ?? null) !== null;
  }

  #newPart(
    part: () => Part,
    make: (requested: RequestedPage) => Promise<string | null>,
  ): Refreshed<Encoded | null> {
    const read = async () => {
      const html = await make(part().requested);
      return html === null ? null : encoded(html);
    };
    return new Refreshed({ ...this.#shared, read });
  }

  get #shared() {
    return {
      clock: this.#parts.clock,
      isFollowed: () => this.#isFollowed,
      onFailure: (error: unknown) =>
        this.#throttled.warn(
          'stale',
          {},
          `a status page is served as it was, because its state cannot be read: ${messageOf(error)}`,
        ),
    };
  }

  #newEntry(url: string): Entry {
    const page: Refreshed<FoundPage | null> = new Refreshed({
      ...this.#shared,
      read: async () => {
        const found = await this.#parts.findPage(url);
        // The same object for an equal page, so that its documents stay.
        return isDeepStrictEqual(found, page.known) ? page.known : found;
      },
    });
    return { page, state: null };
  }

  #keep(url: string, entry: Entry, { page: { cards } }: FoundPage): void {
    const services = cards.reduce((sum, card) => sum + card.services.length, 0);
    this.#entries.set(url, entry, 1 + services);
  }
}
