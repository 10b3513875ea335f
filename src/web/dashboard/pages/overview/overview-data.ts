import { signal } from '@preact/signals';
import { api, bodyOf } from '../../api/client.ts';
import { type ApiError, asApiError, isAbort } from '../../api/errors.ts';
import { onLive } from '../../api/live.ts';
import type { operations } from '../../api/openapi.d.ts';
import { NEVER_MS, wait } from '../../api/wait.ts';
import { type CellLetters, cellLetter } from '../../parts/cells.tsx';

type Listed =
  operations['listCheckStatuses']['responses'][200]['content']['application/json'][number];
export type StateCounts =
  operations['getCheckStateCounts']['responses'][200]['content']['application/json'];
export type CheckState = Listed['state'];
export type CheckType = Listed['checkType'];

/** A check of the list. Its cells take a byte each, so that thousands fit into memory. */
export type CheckRow = Omit<Listed, 'cells'> & { readonly letters: CellLetters };

/** By which checks are chosen: the query of the address. */
export interface CheckFilter {
  readonly type?: CheckType[];
  readonly tag?: string[];
  readonly state?: CheckState[];
  readonly groupId?: number;
  readonly location?: string;
  readonly search?: string;
}

/** The most that the API sends at once. */
const PAGE_ROWS = 100;
/** Pages in memory. The ones that were shown longest ago are dropped. */
const MAX_PAGES = 20;
/** Results are no events: times and cells are read again so often. */
const REFRESH_MS = 60_000;
/** However many events come, nothing is read more often. */
const MIN_INTERVAL_MS = 1_000;
/** What changes states, names or the order of checks. */
const EVENTS = /^(?:check|group|location)\./;

interface Page {
  rows: readonly CheckRow[];
  isStale: boolean;
}

/**
 * The checks that match a filter, the most urgent first, as far as they are shown. Pages are read by number:
 * whoever scrolls to the end does not wait for what is between.
 */
export class OverviewData {
  readonly counts = signal<StateCounts | null>(null);
  readonly error = signal<ApiError | null>(null);
  /** Changes whenever rows do: whoever reads a row renders again. */
  readonly #version = signal(0);
  readonly #filter: CheckFilter;
  readonly #pages = new Map<number, Page>();
  readonly #loading = new Set<number>();
  readonly #errors = new Map<string, ApiError>();
  readonly #ended = new AbortController();
  #shown: readonly number[] = [0];
  readonly #refreshing = { isRunning: false as boolean, isStale: false as boolean };
  #lastRefreshMs = NEVER_MS;

  constructor(filter: CheckFilter) {
    this.#filter = filter;
  }

  /** Reads, and follows changes, until the returned function is called. */
  start(): () => void {
    void this.refresh();
    const stopLive = onLive((events) => {
      if (events === null || events.some(({ kind }) => EVENTS.test(kind))) void this.refresh();
    });
    const timer = setInterval(() => {
      if (!document.hidden) void this.refresh();
    }, REFRESH_MS);
    return () => {
      stopLive();
      clearInterval(timer);
      this.#ended.abort();
    };
  }

  /** Null until it is read. */
  row(index: number): CheckRow | null {
    // A bundler drops a reading whose value is not used.
    if (this.#version.value === 0) return null;
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS] ?? null;
  }

  /** All rows that are in memory. */
  *rows(): Iterable<CheckRow> {
    if (this.#version.value === 0) return;
    for (const { rows } of this.#pages.values()) yield* rows;
  }

  /** Reads the pages of rows that are shown, where they are not known. */
  show(ranges: readonly { readonly from: number; readonly to: number }[]): void {
    const pages = new Set<number>([0]);
    for (const { from, to } of ranges) {
      for (let page = Math.floor(from / PAGE_ROWS); page * PAGE_ROWS < to; page += 1)
        pages.add(page);
    }
    this.#shown = [...pages];
    for (const page of pages) {
      const known = this.#pages.get(page);
      if (known === undefined || known.isStale) void this.#read(page);
      if (known !== undefined) {
        this.#pages.delete(page);
        this.#pages.set(page, known);
      }
    }
  }

  /** Reads the counts and the rows that are shown again; the others when they are shown. */
  async refresh(): Promise<void> {
    this.#refreshing.isStale = true;
    if (this.#refreshing.isRunning) return;
    this.#refreshing.isRunning = true;
    const { signal: ended } = this.#ended;
    while (this.#refreshing.isStale && !ended.aborted) {
      await wait(this.#lastRefreshMs + MIN_INTERVAL_MS - performance.now(), ended);
      if (ended.aborted) break;
      this.#refreshing.isStale = false;
      this.#lastRefreshMs = performance.now();
      for (const page of this.#pages.values()) page.isStale = true;
      await Promise.all([this.#readCounts(), ...this.#shown.map((page) => this.#read(page))]);
    }
    this.#refreshing.isRunning = false;
  }

  async #readCounts(): Promise<void> {
    await this.#attempt('counts', async (ended) => {
      const query = this.#filter;
      this.counts.value = await bodyOf(
        api.GET('/v1/check-state-counts', { params: { query }, signal: ended }),
      );
    });
  }

  async #read(page: number): Promise<void> {
    if (this.#loading.has(page)) return;
    this.#loading.add(page);
    await this.#attempt(`page ${page}`, async (ended) => {
      const query = { ...this.#filter, cells: true, limit: PAGE_ROWS, page: page + 1 };
      const listed = await bodyOf(
        api.GET('/v1/check-statuses', { params: { query }, signal: ended }),
      );
      this.#pages.delete(page);
      this.#pages.set(page, { rows: listed.map(rowOf), isStale: false });
      for (const old of this.#pages.keys()) {
        if (this.#pages.size <= MAX_PAGES) break;
        if (!this.#shown.includes(old)) this.#pages.delete(old);
      }
      this.#version.value += 1;
    });
    this.#loading.delete(page);
  }

  /** The error of a part stays until that part is read. */
  async #attempt(part: string, work: (ended: AbortSignal) => Promise<void>): Promise<void> {
    const { signal: ended } = this.#ended;
    try {
      await work(ended);
      this.#errors.delete(part);
    } catch (error) {
      if (ended.aborted || isAbort(error)) return;
      this.#errors.set(part, asApiError(error));
    }
    const [first = null] = this.#errors.values();
    this.error.value = first;
  }
}

function rowOf({ cells, ...rest }: Listed): CheckRow {
  const { runs = [], failures = [], degraded = [], missed = [] } = cells ?? {};
  const letters = runs.map((_, cell) =>
    cellLetter({
      runs: runs[cell] ?? 0,
      failures: failures[cell] ?? 0,
      degraded: degraded[cell] ?? 0,
      missed: missed[cell] ?? 0,
    }),
  );
  return { ...rest, letters: letters.join('') };
}
