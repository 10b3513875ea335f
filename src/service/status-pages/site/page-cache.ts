import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { LruCache } from '../../../runtime/lru-cache.ts';
import { ThrottledLog } from '../../../runtime/throttled-log.ts';
import { notFound } from '../../errors.ts';
import { type Encoded, encoded } from '../../http/handbook/responses.ts';
import type { PageGate } from '../access/page-gate.sql.ts';
import type { PageState, PageStates } from '../state/page-state.ts';
import type { StoredPage } from '../status-pages.ts';
import { PageAddresses } from './page-addresses.ts';
import { bytesOf, PageDocuments } from './page-documents.ts';
import type { RequestedPage } from './requested-page.ts';
import { StaleWhileRevalidate } from './stale-while-revalidate.ts';
import { UnreadableNames } from './unreadable-names.ts';

export interface FoundPage {
  readonly gate: PageGate;
  readonly page: StoredPage;
}

/** An encoded document of a page. */
export interface PageDocument extends Encoded {
  /** The age of its state if no newer one can be read; else 0. */
  readonly staleMs: number;
}

/** A page with its current state. */
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

/** Maximum number of services on all cached pages; each has the counts of 90 days, about 10 KB. */
const MAX_SERVICES = 5_000;
/** For histories and incidents in all their encodings. */
const MAX_HISTORY_BYTES = 16 * 1024 * 1024;

interface Entry {
  readonly page: StaleWhileRevalidate<FoundPage | null>;
  /** Made when the state is first read. */
  state: StateOfPage | null;
}

interface StateOfPage {
  /** Another page may take the name of an earlier one. */
  readonly pageId: string;
  readonly current: StaleWhileRevalidate<PageState | null>;
}

/** A document that does not follow from the state of a page. */
interface HistoryDocument {
  readonly accountId: string;
  readonly base: string;
  readonly document: StaleWhileRevalidate<Encoded | null>;
}

const NO_DOCUMENT = encoded('');

/**
 * Pages with their state and documents, kept until they change (src/service/README.md, "Pages that
 * people open").
 */
export class PageCache {
  readonly addresses = new PageAddresses();
  readonly unreadable = new UnreadableNames();
  readonly #parts: PageCacheParts;
  readonly #throttled: ThrottledLog;
  readonly #entries = new LruCache<Entry>(MAX_SERVICES);
  /** Entries whose page is read for the first time. */
  readonly #newEntries = new Set<Entry>();
  readonly #documents = new PageDocuments(this.addresses);
  readonly #histories = new LruCache<HistoryDocument>(MAX_HISTORY_BYTES);
  #isFollowed: boolean = false;
  #isCutOff: boolean = false;

  constructor(parts: PageCacheParts) {
    this.#parts = parts;
    this.#throttled = new ThrottledLog(parts.clock, parts.log, {
      countFields: (failures) => ({ failures }),
    });
  }

  /** While changes are announced, nothing is read again without one. */
  set isFollowed(isFollowed: boolean) {
    this.#isFollowed = isFollowed;
    this.#isCutOff = false;
    // Pages that were read before may have changed without an announcement.
    this.pagesChanged(null);
  }

  /**
   * Call it when the connection that announces changes is lost: until `isFollowed` is set again, pages are read
   * again once a second.
   */
  announcementsLost(): void {
    this.#isCutOff = true;
  }

  /**
   * Call it when status pages of an account were changed, added or deleted: they are read again at once, because
   * they may now be private or have another password.
   *
   * @param accountId null for all accounts
   */
  pagesChanged(accountId: string | null): void {
    this.unreadable.pagesChanged();
    // It is not known yet whose pages they are.
    for (const { page } of this.#newEntries) page.invalidateNow();
    this.#invalidate(accountId, (page) => page.invalidateNow());
  }

  /**
   * Call it when something that pages of an account show has changed, such as the state of a check.
   *
   * @param accountId null for all accounts
   */
  invalidate(accountId: string | null): void {
    this.#invalidate(accountId, (page) => page.invalidate());
  }

  #invalidate(accountId: string | null, invalidatePage: (page: Entry['page']) => void): void {
    for (const { page, state } of this.#entries.values()) {
      if (accountId !== null && page.known?.gate.accountId !== accountId) continue;
      invalidatePage(page);
      state?.current.invalidate();
    }
    for (const history of this.#histories.values()) {
      if (accountId === null || history.accountId === accountId) history.document.invalidate();
    }
  }

  /** The gate of the page if it is in memory; else null. */
  gateOf(url: string): PageGate | null {
    return this.#entries.get(url)?.page.known?.gate ?? null;
  }

  /** Whether it is known that no public page has this name. */
  isKnownUnreadable(url: string): boolean {
    return this.#isFollowed && !this.#isCutOff && this.unreadable.has(url);
  }

  /** @returns null if there is no page with this name in its address */
  async find(url: string): Promise<FoundPage | null> {
    const entry = this.#entries.get(url) ?? this.#newEntry();
    const found = await this.#findFor(entry, url);
    if (found === null) {
      this.#entries.delete(url);
      return null;
    }
    if (this.#entries.get(url) !== entry) this.#keep(url, entry, found);
    return found;
  }

  async #findFor(entry: Entry, url: string): Promise<FoundPage | null> {
    if (entry.page.known === null) this.#newEntries.add(entry);
    try {
      return (await entry.page.get(() => this.#readPage(url, entry.page.known))).value;
    } finally {
      this.#newEntries.delete(entry);
    }
  }

  /** @throws ServiceError 404 where the page is gone by now */
  async get({ accountId, page, base }: RequestedPage): Promise<CachedPage> {
    const { url } = page.fields;
    const entry = this.#entries.get(url) ?? this.#newEntry();
    const { id } = page;
    if (entry.state?.pageId !== id) {
      entry.state = { pageId: id, current: new StaleWhileRevalidate(this.#shared) };
    }
    const { value: state, staleMs } = await entry.state.current.get(() =>
      this.#parts.pageStates.read({ accountId, id }),
    );
    if (state === null) throw notFound('status page');
    const isStale = staleMs > 0;
    return {
      state,
      isStale,
      document: (name, make) => {
        const source = { page, state, isStale, base };
        return { ...this.#documents.get(source, name, make), staleMs };
      },
    };
  }

  /**
   * Returns a document of a page that does not depend on its state: a history or an incident. Creates it at the first
   * request and again after a change, and keeps the old one while that is not possible.
   *
   * @param name names the document among those of the page
   * @param make returns null if there is no such document
   */
  async history(
    requested: RequestedPage,
    name: string,
    make: () => Promise<string | null>,
  ): Promise<PageDocument | null> {
    const { accountId, page, base } = requested;
    const key = this.addresses.keyOf(page.id, base, name);
    const known = this.#histories.get(key);
    const history: HistoryDocument =
      known?.base === base
        ? known
        : { accountId, base, document: new StaleWhileRevalidate<Encoded | null>(this.#shared) };
    const { value: document, staleMs } = await history.document.get(async () => {
      const html = await make();
      return html === null ? null : encoded(html);
    });
    this.#histories.set(key, history, bytesOf(document ?? NO_DOCUMENT));
    return document === null ? null : { ...document, staleMs };
  }

  /** Whether a history with this name was made before, and may be out of date. */
  knowsHistory({ page, base }: RequestedPage, name: string): boolean {
    const history = this.#histories.get(this.addresses.keyOf(page.id, base, name));
    return history?.base === base && history.document.known !== null;
  }

  get #shared() {
    return {
      clock: this.#parts.clock,
      isFollowed: () => this.#isFollowed,
      isCutOff: () => this.#isCutOff,
      onFailure: (error: unknown) =>
        this.#throttled.warn(
          'stale',
          {},
          `serving the last state of a status page, because the current one cannot be read: ${messageOf(error)}`,
        ),
    };
  }

  #newEntry(): Entry {
    return { page: new StaleWhileRevalidate(this.#shared), state: null };
  }

  /** Returns the known object if the page did not change, so that its documents stay. */
  async #readPage(url: string, known: FoundPage | null): Promise<FoundPage | null> {
    const found = await this.#parts.findPage(url);
    return isDeepStrictEqual(found, known) ? known : found;
  }

  #keep(url: string, entry: Entry, { page: { cards } }: FoundPage): void {
    const services = cards.reduce((sum, card) => sum + card.services.length, 0);
    this.#entries.set(url, entry, 1 + services);
  }
}
