import { signal } from '@preact/signals';
import { api, bodyOf } from '../../api/client.ts';
import { type ApiError, asApiError, isAbort } from '../../api/errors.ts';
import { backoffMs, wait } from '../../api/wait.ts';
import { ANALYTICS } from '../check/queries.ts';
import type { CheckFilter, CheckType } from '../overview/check-filter.ts';
import type { Report, ReportRow } from './report-rows.ts';
import type { ReportWindow } from './report-window.ts';

/** Those with runs. */
type ReportedType = keyof typeof ANALYTICS;
export const REPORTED_TYPES = Object.keys(ANALYTICS) as ReportedType[];

/** Names of checks that are read; more are left out. */
export const MAX_CHECKS = 1_000;
const PAGE_CHECKS = 100;

/** The API makes 30 reports a minute for each key or session, and the charts of other pages need some of them. */
export const REPORTS_A_MINUTE = 20;
const MINUTE_MS = 60_000;
/** How often a report is requested while the service is too busy. After that its row shows the error. */
const MAX_TRIES = 4;
const FIRST_DELAY_MS = 2_000;
const MAX_DELAY_MS = 30_000;

const MAX_KEPT = 2_000;
const MAX_AGE_MS = 300_000;
/** By check and window: other filters do not read them again. */
const kept = new Map<string, { readonly report: Report; readonly readMs: number }>();
/** When the last reports were asked for, whichever view did. */
const asked: number[] = [];

/** How the checks that match a filter did in a window. Reports are read one after the other, at the pace of the API. */
export class ReportData {
  /** By name; null before they are read. */
  readonly rows = signal<readonly ReportRow[] | null>(null);
  readonly isTruncated = signal(false);
  readonly error = signal<ApiError | null>(null);
  readonly isReading = signal(true);
  readonly #filter: CheckFilter;
  readonly #window: ReportWindow;

  constructor(filter: CheckFilter, window: ReportWindow) {
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
      const rows = await this.#readChecks(ended);
      this.rows.value = rows;
      for (const row of rows) {
        if (row.report === null) await this.#readRow(row, ended);
        if (ended.aborted) return;
      }
    } catch (thrown) {
      if (ended.aborted || isAbort(thrown)) return;
      this.error.value = asApiError(thrown);
    }
    this.isReading.value = false;
  }

  async #readChecks(signal: AbortSignal): Promise<readonly ReportRow[]> {
    const rows: ReportRow[] = [];
    for (let page = 1; rows.length < MAX_CHECKS; page += 1) {
      const query = { ...this.#filter, sort: 'name' as const, limit: PAGE_CHECKS, page };
      const part = await bodyOf(api.GET('/v1/check-statuses', { params: { query }, signal }));
      for (const { checkId, name, checkType } of part) {
        const report = keptReport(this.#keyOf(checkId));
        rows.push({ id: checkId, name, type: checkType, report, error: null });
      }
      if (part.length < PAGE_CHECKS) return rows;
    }
    this.isTruncated.value = true;
    return rows;
  }

  async #readRow(row: ReportRow, ended: AbortSignal): Promise<void> {
    for (let tries = 1; ; ) {
      await pace(ended);
      if (ended.aborted) return;
      try {
        const report = await readReport(row.id, row.type as ReportedType, this.#window, ended);
        keep(this.#keyOf(row.id), report);
        this.#put({ ...row, report });
        return;
      } catch (thrown) {
        if (ended.aborted) return;
        const error = asApiError(thrown);
        const isLater = error.kind === 'unavailable' || error.kind === 'offline';
        if (!isLater || tries >= MAX_TRIES) {
          this.#put({ ...row, error });
          return;
        }
        await wait(backoffMs(tries, FIRST_DELAY_MS, MAX_DELAY_MS), ended);
        // Too many requests of this user: the others wait for the same.
        if (error.status !== 429) tries += 1;
      }
    }
  }

  #put(row: ReportRow): void {
    this.rows.value = (this.rows.value ?? []).map((each) => (each.id === row.id ? row : each));
  }

  #keyOf(checkId: string): string {
    return `${checkId} ${JSON.stringify(this.#window)}`;
  }
}

/** Waits until another report may be asked for. */
async function pace(ended: AbortSignal): Promise<void> {
  const oldest = asked.at(-REPORTS_A_MINUTE);
  if (oldest !== undefined) await wait(oldest + MINUTE_MS - performance.now(), ended);
  if (ended.aborted) return;
  asked.push(performance.now());
  asked.splice(0, asked.length - REPORTS_A_MINUTE);
}

async function readReport(
  id: string,
  type: ReportedType,
  window: ReportWindow,
  signal: AbortSignal,
): Promise<Report> {
  const time = type === 'ICMP' ? 'latencyAvg' : 'responseTime';
  const metrics = ['availability', `${time}_p50`, `${time}_p95`];
  const { series, from, to } = await bodyOf(
    // The metrics of the types differ, and so do their paths.
    api.GET(ANALYTICS[type] as (typeof ANALYTICS)['URL'], {
      params: { path: { id }, query: { metrics: metrics as never, ...window } },
      signal,
    }),
  );
  const point = (series[0]?.data[0] ?? {}) as Readonly<Record<string, number | null | undefined>>;
  return {
    availability: point.availability ?? null,
    p50Ms: point[`${time}_p50`] ?? null,
    p95Ms: point[`${time}_p95`] ?? null,
    from,
    to,
  };
}

function keptReport(key: string): Report | null {
  const found = kept.get(key);
  return found === undefined || performance.now() - found.readMs > MAX_AGE_MS ? null : found.report;
}

function keep(key: string, report: Report): void {
  kept.delete(key);
  kept.set(key, { report, readMs: performance.now() });
  for (const old of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(old);
  }
}

export function isReported(type: CheckType): type is ReportedType {
  return Object.hasOwn(ANALYTICS, type);
}
