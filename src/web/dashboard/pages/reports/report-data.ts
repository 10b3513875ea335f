import { signal } from '@preact/signals';
import { api, pageOf } from '../../api/client.ts';
import { type ApiError, asApiError, isAbort } from '../../api/errors.ts';
import type { components, operations } from '../../api/openapi.d.ts';
import { backoffMs, wait } from '../../api/wait.ts';
import type { CheckType } from '../overview/check-filter.ts';
import type { ReportRow } from './report-rows.ts';
import type { ReportWindow } from './report-window.ts';

type Summary = components['schemas']['CheckSummary'];
type Query = NonNullable<operations['listCheckSummaries']['parameters']['query']>;
/** By which checks are chosen. */
export type ReportFilter = Pick<Query, 'type' | 'tag' | 'groupId' | 'search'>;

/** Those with runs. */
export const REPORTED_TYPES: readonly Summary['checkType'][] = ['URL', 'API', 'TCP', 'DNS', 'ICMP'];

/** Checks that are read; more are left out. */
export const MAX_CHECKS = 2_000;
const PAGE_CHECKS = 100;

const FIRST_DELAY_MS = 2_000;
const MAX_DELAY_MS = 30_000;

/** How the checks that match a filter did in a window. */
export class ReportData {
  /** By name; null before the first ones are read. */
  readonly rows = signal<readonly ReportRow[] | null>(null);
  /** How many checks match; null if it is not known yet. */
  readonly total = signal<number | null>(null);
  readonly error = signal<ApiError | null>(null);
  readonly isReading = signal(true);
  readonly #filter: ReportFilter;
  readonly #window: ReportWindow;

  constructor(filter: ReportFilter, window: ReportWindow) {
    this.#filter = filter;
    this.#window = window;
  }

  /** Reads until all is read, or the returned function is called. */
  start(): () => void {
    const ended = new AbortController();
    void this.#read(ended.signal);
    return () => ended.abort();
  }

  async #read(ended: AbortSignal): Promise<void> {
    this.isReading.value = true;
    this.error.value = null;
    try {
      await this.#readAll(ended);
    } catch (thrown) {
      if (ended.aborted || isAbort(thrown)) return;
      this.error.value = asApiError(thrown);
    }
    this.isReading.value = false;
  }

  async #readAll(ended: AbortSignal): Promise<void> {
    const rows: ReportRow[] = [];
    let window = this.#window;
    for (let page = 1; rows.length < MAX_CHECKS; page += 1) {
      const part = await this.#readPage(page, window, ended);
      ended.throwIfAborted();
      const [first] = part.entries;
      // All rows have the window of the first ones.
      if (page === 1 && first !== undefined) {
        window = { ...window, from: Date.parse(first.from), to: Date.parse(first.to) };
      }
      rows.push(...part.entries.map(rowOf));
      this.total.value = part.total;
      this.rows.value = [...rows];
      if (part.entries.length < PAGE_CHECKS) return;
    }
  }

  async #readPage(
    page: number,
    window: ReportWindow,
    signal: AbortSignal,
  ): Promise<{ readonly entries: readonly Summary[]; readonly total: number | null }> {
    const query = { ...this.#filter, ...window, limit: PAGE_CHECKS, page };
    for (let failures = 1; ; failures += 1) {
      try {
        return await pageOf(api.GET('/v1/analytics/summaries', { params: { query }, signal }));
      } catch (thrown) {
        // Reports in other tabs use up what a user may ask for in a minute.
        if (asApiError(thrown).status !== 429) throw thrown;
        await wait(backoffMs(failures, FIRST_DELAY_MS, MAX_DELAY_MS), signal);
        signal.throwIfAborted();
      }
    }
  }
}

function rowOf({ checkId, checkType, responseTime, ...summary }: Summary): ReportRow {
  const { name, runs, failures, availability, phases, from, to } = summary;
  return {
    id: checkId,
    name,
    type: checkType,
    runs,
    failures,
    availability,
    avgMs: responseTime?.avg ?? null,
    maxMs: responseTime?.max ?? null,
    phases,
    from,
    to,
  };
}

export function isReported(type: CheckType): type is Summary['checkType'] {
  return REPORTED_TYPES.some((reported) => reported === type);
}
