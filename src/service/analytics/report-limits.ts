import { type QuickRange, quickRangeAt } from '../../model/result/analytics.ts';
import { StoreError } from '../database/store-errors.ts';
import { invalid, type ServiceError } from '../errors.ts';

/** Rate limit of each account for reports of one kind: src/service/README.md, "Errors and rate limits". */
export const REPORTS_PER_MINUTE = 30;

/** Maximum number of runs of one report in the embedded database. They take about 2 s and block the process. */
export const MAX_RUNS_EMBEDDED = 300_000;

export interface AskedWindow {
  readonly quickRange: QuickRange;
  /** Epoch milliseconds, overrides the start of quickRange; null for that start. */
  readonly fromMs: number | null;
  /** Overrides the end of quickRange. */
  readonly toMs: number | null;
}

/**
 * The window of a report; `toMs` is exclusive.
 *
 * @throws ServiceError 400 if it ends before it starts
 */
export function reportWindow(
  asked: AskedWindow,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  const named = quickRangeAt(asked.quickRange, nowMs);
  const fromMs = asked.fromMs ?? named.fromMs;
  const toMs = asked.toMs ?? named.toMs;
  if (toMs < fromMs) {
    const [start, end] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
    const message = `must not be before the start of the window: ${end} is before ${start}`;
    throw invalid([{ path: 'query.to', message }]);
  }
  return { fromMs, toMs };
}

/** 400 for a window with more runs than may be read. */
export function tooLong(why: string): ServiceError {
  return invalid([{ path: 'query.from', message: `must be later, or to earlier: ${why}` }]);
}

/**
 * PostgreSQL ends a statement at its time limit. The embedded database cannot: its reports count the runs first.
 *
 * @throws ServiceError 400 where the statements of the report take too long
 */
export async function inTime<T>(report: () => Promise<T>): Promise<T> {
  try {
    return await report();
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== 'STORE_STATEMENT_TIMEOUT') throw error;
    throw tooLong('the window has more runs than can be read in time');
  }
}
