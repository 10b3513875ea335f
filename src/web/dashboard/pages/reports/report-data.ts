import { signal } from '@preact/signals';
import { type ApiError, asApiError, isAbort } from '../../api/errors.ts';
import type { components, operations } from '../../api/openapi.d.ts';
import { backoffMs, wait } from '../../api/wait.ts';
import type { CheckType } from '../overview/check-filter.ts';
import type { ReportRow } from './report-rows.ts';
import type { ReportWindow } from './report-window.ts';

type Summary = components['schemas']['CheckSummary'];
type Query = NonNullable<operations['listCheckSummaries']['parameters']['query']>;
/** The filter of the checks. */
export type ReportFilter = Pick<Query, 'type' | 'tag' | 'groupId' | 'search'>;

/** The types of checks that have runs. */
export const REPORTED_TYPES: readonly Summary['checkType'][] = ['URL', 'API', 'TCP', 'DNS', 'ICMP'];

/** The most checks to read; further checks are omitted. */
export const MAX_CHECKS = 2_000;
const PART_CHECKS = 100;

const FIRST_DELAY_MS = 2_000;
const MAX_DELAY_MS = 30_000;

export interface ReportPart {
  readonly entries: readonly Summary[];
  /** The number of matching checks; null if the response does not contain it. */
  readonly total: number | null;
  /** Whether more than `total` checks match. */
  readonly isAtLeast: boolean;
}

/** Reads a part of the checks, by name. Throws an ApiError. */
export type ReadPart = (
  query: ReportFilter & ReportWindow & { readonly limit: number; readonly page: number },
  signal: AbortSignal,
) => Promise<ReportPart>;

/** The reports on the checks that match a filter, for a window. */
export class ReportData {
  /** By name; null before the first ones are read. */
  readonly rows = signal<readonly ReportRow[] | null>(null);
  /** The number of matching checks; null if it is not known yet. */
  readonly total = signal<number | null>(null);
  /** Whether more than `total` checks match: the API stops counting there. */
  readonly isAtLeast = signal(false);
  readonly error = signal<ApiError | null>(null);
  readonly isReading = signal(true);
  /** The total wait in milliseconds because the rate limit of reports is reached; null if it does not wait. */
  readonly waitsMs = signal<number | null>(null);
  readonly #readPart: ReadPart;
  readonly #filter: ReportFilter;
  readonly #window: ReportWindow;

  constructor(readPart: ReadPart, filter: ReportFilter, window: ReportWindow) {
    this.#readPart = readPart;
    this.#filter = filter;
    this.#window = window;
  }

  /**
   * Reads all reports, until the returned function is called.
   *
   * @param afterMs milliseconds before the first read: the user may continue to change the filter
   */
  start(afterMs = 0): () => void {
    const ended = new AbortController();
    void this.#read(afterMs, ended.signal);
    return () => ended.abort();
  }

  async #read(afterMs: number, ended: AbortSignal): Promise<void> {
    this.isReading.value = true;
    this.error.value = null;
    this.waitsMs.value = null;
    try {
      await wait(afterMs, ended);
      await this.#readAll(ended);
    } catch (thrown) {
      if (ended.aborted || isAbort(thrown)) return;
      this.error.value = asApiError(thrown);
    }
    this.isReading.value = false;
  }

  async #readAll(ended: AbortSignal): Promise<void> {
    // A check may be read twice if another one was created or renamed meanwhile.
    const rows = new Map<string, ReportRow>();
    let window = this.#window;
    for (let page = 1; rows.size < MAX_CHECKS; page += 1) {
      const part = await this.#readInTurn(page, window, ended);
      const [first] = part.entries;
      // All rows have the window of the first ones: the service keeps an end within the last hour.
      if (page === 1 && first !== undefined) {
        window = { ...window, from: Date.parse(first.from), to: Date.parse(first.to) };
      }
      for (const entry of part.entries) rows.set(entry.checkId, rowOf(entry));
      this.total.value = part.total;
      this.isAtLeast.value = part.isAtLeast;
      this.rows.value = [...rows.values()];
      if (part.entries.length < PART_CHECKS) return;
    }
  }

  /** The rate limit of reports per minute, for all tabs together. */
  async #readInTurn(page: number, window: ReportWindow, ended: AbortSignal): Promise<ReportPart> {
    const query = { ...this.#filter, ...window, limit: PART_CHECKS, page };
    for (let failures = 1; ; failures += 1) {
      ended.throwIfAborted();
      try {
        const part = await this.#readPart(query, ended);
        ended.throwIfAborted();
        return part;
      } catch (thrown) {
        const { status, retryAfterMs } = asApiError(thrown);
        if (status !== 429 || ended.aborted) throw thrown;
        const waitsMs = retryAfterMs ?? backoffMs(failures, FIRST_DELAY_MS, MAX_DELAY_MS);
        this.waitsMs.value = waitsMs;
        await wait(waitsMs, ended);
        ended.throwIfAborted();
        this.waitsMs.value = null;
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
