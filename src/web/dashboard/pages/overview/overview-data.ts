import { batch, signal } from '@preact/signals';
import { api, bodyOf } from '../../api/client.ts';
import { type ApiError, asApiError, isAbort } from '../../api/errors.ts';
import { onLive } from '../../api/live-connection.ts';
import type { operations } from '../../api/openapi.d.ts';
import { NEVER_MS, wait } from '../../api/wait.ts';
import { type CheckFilter, type GroupBy, hasSection, sectionFilter } from './check-filter.ts';
import { type Attempt, CheckRows } from './check-rows.ts';

export type StateCounts =
  operations['getCheckStateCounts']['responses'][200]['content']['application/json'];
type Breakdown =
  operations['getCheckStateBreakdown']['responses'][200]['content']['application/json'];

/** The checks with a tag, of a group or in a location. */
export interface Section {
  /** Unique among the sections. */
  readonly key: string;
  /** Null for the checks without any. */
  readonly value: string | null;
  readonly name: string | null;
  readonly counts: StateCounts;
}

/** A location without a polling agent, and the number of checks that are unknown because of it. */
export interface SilentLocation {
  readonly location: string;
  readonly name: string;
  readonly since: string;
  readonly checks: number;
}

export interface Sections {
  readonly sections: readonly Section[];
  /** The number of further ones. */
  readonly omitted: number;
}

/** Pages of the list in memory, and of each section that was opened. */
const MAX_PAGES = 20;
const MAX_SECTION_PAGES = 4;
/** Sections whose rows are in memory; those that were shown longest ago are dropped. */
export const MAX_SECTIONS = 20;
/** Results have no events: times and cells are read again at this interval. */
const REFRESH_MS = 60_000;
/** The least time between two reads, regardless of the number of events. */
const MIN_INTERVAL_MS = 1_000;
/** A slow service gets fewer requests, so that they take at most a third of the time. */
const REST_FACTOR = 2;
const MAX_REST_MS = 15_000;
/** The events that change states, names, marks or the order of checks. */
const EVENTS = /^(?:check|group|location|alert|maintenance_window)\.(?!agent_)/;

/** The data of the overview for the checks that match a filter. Only shown parts are read. */
export class OverviewData {
  readonly counts = signal<StateCounts | null>(null);
  /** Counts for the same filter without its states. */
  readonly allCounts = signal<StateCounts | null>(null);
  /** Null without grouping, and before they are read. */
  readonly sections = signal<Sections | null>(null);
  /** Without grouping: the silent locations, whose checks are not in the list. */
  readonly silent = signal<readonly SilentLocation[]>([]);
  readonly error = signal<ApiError | null>(null);
  readonly filter: CheckFilter;
  readonly by: GroupBy | null;
  /** Without the checks of silent locations; null where there are none. */
  readonly #heardCounts = signal<StateCounts | null>(null);
  readonly #allRows: CheckRows;
  /** Without the checks of silent locations. */
  readonly #heardRows: CheckRows;
  /** By key, in the order of the last use. */
  readonly #sectionRows = new Map<string, CheckRows>();
  readonly #errors = new Map<string, { readonly error: ApiError; readonly refresh: number }>();
  #refreshes = 0;
  readonly #ended = new AbortController();
  readonly #refreshing = { isRunning: false as boolean, isStale: false as boolean };
  #nextRefreshMs = NEVER_MS;

  constructor(filter: CheckFilter, by: GroupBy | null) {
    this.filter = filter;
    this.by = by;
    const options = { maxPages: MAX_PAGES, isShown: by === null };
    this.#allRows = this.#rowsOf(filter, options);
    this.#heardRows = this.#rowsOf({ ...filter, silent: false }, options);
  }

  /** Counts for the list without grouping. */
  get listCounts(): StateCounts | null {
    return this.#heardCounts.value ?? this.counts.value;
  }

  /** Rows of the list without grouping. */
  get rows(): CheckRows {
    return this.silent.value.length === 0 ? this.#allRows : this.#heardRows;
  }

  /** Reads the data and follows changes until the returned function is called. */
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

  /** The rows of a section, which the next refreshes read as far as they are shown. */
  rowsOf({ key, value }: Section): CheckRows {
    const { filter, by } = this;
    const known = this.#sectionRows.get(key);
    const rows =
      known ??
      this.#rowsOf(by === null ? filter : sectionFilter(filter, by, value), {
        maxPages: MAX_SECTION_PAGES,
        isShown: false,
      });
    this.#sectionRows.delete(key);
    this.#sectionRows.set(key, rows);
    for (const old of this.#sectionRows.keys()) {
      if (this.#sectionRows.size <= MAX_SECTIONS) break;
      this.#sectionRows.delete(old);
    }
    return rows;
  }

  /** Reads the counts and the rows that are shown again. */
  async refresh(): Promise<void> {
    this.#refreshing.isStale = true;
    if (this.#refreshing.isRunning) return;
    this.#refreshing.isRunning = true;
    const { signal: ended } = this.#ended;
    while (this.#refreshing.isStale && !ended.aborted) {
      await wait(this.#nextRefreshMs - performance.now(), ended);
      if (ended.aborted) break;
      this.#refreshing.isStale = false;
      this.#refreshes += 1;
      const beganMs = performance.now();
      await Promise.all([
        this.#readCounts(),
        this.#readSections(),
        this.#readList(),
        ...[...this.#sectionRows.values()].map((rows) => rows.refresh()),
      ]);
      // Parts that are no longer shown are not read again.
      for (const [part, { refresh }] of this.#errors) {
        if (refresh < this.#refreshes) this.#errors.delete(part);
      }
      this.#showError();
      const restMs = Math.min(MAX_REST_MS, REST_FACTOR * (performance.now() - beganMs));
      this.#nextRefreshMs = Math.max(beganMs + MIN_INTERVAL_MS, performance.now() + restMs);
    }
    this.#refreshing.isRunning = false;
  }

  #rowsOf(
    filter: CheckFilter,
    options: { readonly maxPages: number; readonly isShown: boolean },
  ): CheckRows {
    const attempt: Attempt = (part, work) => this.#attempt(part, work);
    return new CheckRows(filter, { attempt, ...options });
  }

  async #readCounts(): Promise<void> {
    const { state, ...ofAllStates } = this.filter;
    const read = (query: CheckFilter, ended: AbortSignal): Promise<StateCounts> =>
      bodyOf(api.GET('/v1/check-state-counts', { params: { query }, signal: ended }));
    await this.#attempt('counts', async (ended) => {
      const [all, counts] = await Promise.all([
        read(ofAllStates, ended),
        state === undefined ? null : read(this.filter, ended),
      ]);
      this.allCounts.value = all;
      this.counts.value = counts ?? all;
    });
  }

  /** Silent locations are rare, so the rows are read at the same time. */
  async #readList(): Promise<void> {
    if (this.by !== null) return;
    const rows = this.rows;
    await Promise.all([rows.refresh(), this.#readSilent()]);
    if (this.rows !== rows) await this.rows.refresh();
  }

  async #readSilent(): Promise<void> {
    const { filter } = this;
    const isWanted = filter.silent === undefined && (filter.state?.includes('unknown') ?? true);
    await this.#attempt('silent locations', async (signal) => {
      const query = { ...filter, silent: true };
      const found = isWanted
        ? await bodyOf(
            api.GET('/v1/check-state-breakdown', {
              params: { query: { by: 'location', ...query } },
              signal,
            }),
          )
        : null;
      const silent = (found?.entries ?? []).flatMap(silentOf);
      const params = { query: { ...filter, silent: false } };
      const counts =
        silent.length === 0
          ? null
          : await bodyOf(api.GET('/v1/check-state-counts', { params, signal }));
      batch(() => {
        this.silent.value = silent;
        this.#heardCounts.value = counts;
      });
    });
  }

  async #readSections(): Promise<void> {
    const { by, filter } = this;
    if (by === null) return;
    await this.#attempt('sections', async (ended) => {
      const query = { by, ...filter };
      const { entries, omitted } = await bodyOf(
        api.GET('/v1/check-state-breakdown', { params: { query }, signal: ended }),
      );
      const sections = entries.filter(({ value }) => hasSection(filter, by, value)).map(sectionOf);
      this.sections.value = { sections, omitted };
    });
  }

  /** The error of a part stays until that part is read. */
  async #attempt(part: string, work: (ended: AbortSignal) => Promise<void>): Promise<void> {
    const { signal: ended } = this.#ended;
    try {
      await work(ended);
      this.#errors.delete(part);
    } catch (error) {
      if (ended.aborted || isAbort(error)) return;
      this.#errors.set(part, { error: asApiError(error), refresh: this.#refreshes });
    }
    this.#showError();
  }

  #showError(): void {
    const [first] = this.#errors.values();
    this.error.value = first?.error ?? null;
  }
}

function sectionOf({ value, name, counts }: Breakdown['entries'][number]): Section {
  return { key: value === null ? 'without' : `with ${value}`, value, name, counts };
}

/** The location of the entry; empty for a public location and for one that is not silent. */
function silentOf({
  value,
  name,
  silentSince,
  counts,
}: Breakdown['entries'][number]): readonly SilentLocation[] {
  if (value === null || silentSince === null) return [];
  return [{ location: value, name: name ?? value, since: silentSince, checks: counts.unknown }];
}
