import { signal } from '@preact/signals';
import { api, bodyOf } from '../../api/client.ts';
import type { operations } from '../../api/openapi.d.ts';
import { type CellLetters, cellLetter } from '../../parts/cells.tsx';
import type { CheckFilter } from './check-filter.ts';

type Listed =
  operations['listCheckStatuses']['responses'][200]['content']['application/json'][number];

/** A check of the list. Its cells take a byte each, so that thousands fit into memory. */
export type CheckRow = Omit<Listed, 'cells'> & { readonly letters: CellLetters };

/** Reads a part, and keeps its error until it is read successfully. */
export type Attempt = (part: string, work: (ended: AbortSignal) => Promise<void>) => Promise<void>;

export interface RowRange {
  readonly from: number;
  readonly to: number;
}

/** The longest page of the API. */
const PAGE_ROWS = 100;

interface Page {
  rows: readonly CheckRow[];
  isStale: boolean;
}

/**
 * The checks that match a filter, the most urgent first (the order of GET /v1/check-statuses), as far as they are
 * shown. Pages are read by number, so that scrolling to the end does not wait for the pages between.
 */
export class CheckRows {
  /** Changes with the rows: components that read a row are rendered again. */
  readonly #version = signal(0);
  readonly #filter: CheckFilter;
  readonly #attempt: Attempt;
  /** The most pages in memory. Those that were shown longest ago are dropped. */
  readonly #maxPages: number;
  readonly #pages = new Map<number, Page>();
  readonly #loading = new Set<number>();
  #shown: readonly number[];

  constructor(
    filter: CheckFilter,
    {
      attempt,
      maxPages,
      isShown,
    }: {
      readonly attempt: Attempt;
      readonly maxPages: number;
      /** Whether the first rows are read before it is known which are shown. */
      readonly isShown: boolean;
    },
  ) {
    this.#filter = filter;
    this.#attempt = attempt;
    this.#maxPages = maxPages;
    this.#shown = isShown ? [0] : [];
  }

  /** Null until it is read. */
  row(index: number): CheckRow | null {
    // A bundler drops a read whose value is not used.
    if (this.#version.value === 0) return null;
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS] ?? null;
  }

  /** Reads the pages of the shown rows that are not known yet. */
  show(ranges: readonly RowRange[]): void {
    const pages = new Set<number>();
    for (const { from, to } of ranges) {
      for (let page = Math.floor(from / PAGE_ROWS); page * PAGE_ROWS < to; page += 1) {
        pages.add(page);
      }
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

  /** Reads the shown rows again now, and the others when they are shown. */
  async refresh(): Promise<void> {
    for (const page of this.#pages.values()) page.isStale = true;
    await Promise.all(this.#shown.map((page) => this.#read(page)));
  }

  async #read(page: number): Promise<void> {
    if (this.#loading.has(page)) return;
    this.#loading.add(page);
    await this.#attempt(`${JSON.stringify(this.#filter)} ${page}`, async (signal) => {
      const query = { ...this.#filter, cells: true, limit: PAGE_ROWS, page: page + 1 };
      const listed = await bodyOf(api.GET('/v1/check-statuses', { params: { query }, signal }));
      this.#pages.delete(page);
      this.#pages.set(page, { rows: listed.map(rowOf), isStale: false });
      for (const old of this.#pages.keys()) {
        if (this.#pages.size <= this.#maxPages) break;
        if (!this.#shown.includes(old)) this.#pages.delete(old);
      }
      this.#version.value += 1;
    });
    this.#loading.delete(page);
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
