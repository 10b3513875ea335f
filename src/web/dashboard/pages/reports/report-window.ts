import type { operations } from '../../api/openapi.d.ts';
import type { UrlState } from '../../shell/url-state.ts';

type Query = operations['getUrlAnalytics']['parameters']['query'];
type QuickRange = NonNullable<Query['quickRange']>;

/** The window of the reports for the API. */
export interface ReportWindow {
  readonly quickRange: QuickRange;
  /** Epoch milliseconds, instead of the start of `quickRange`. */
  readonly from?: number;
  /** Epoch milliseconds, exclusive. */
  readonly to?: number;
}

export const DEFAULT_RANGE = 'last7Days';
export const RANGE_LABELS = {
  last24Hours: 'last 24 hours',
  last7Days: 'last 7 days',
  last30Days: 'last 30 days',
  thisWeek: 'this week',
  lastWeek: 'last week',
  thisMonth: 'this month',
  lastMonth: 'last month',
} as const satisfies Readonly<Record<QuickRange, string>>;

const DAY_MS = 86_400_000;

const dayMs = (text: string | null): number | null => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text ?? '') ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
};

/**
 * The window from the query of the address: `range`, or whole days in UTC from `from` to `to`, or until now.
 *
 * @returns null if the last day is before the first
 */
export function windowIn(state: Pick<UrlState, 'get'>): ReportWindow | null {
  const range = state.get('range') ?? '';
  const quickRange = Object.hasOwn(RANGE_LABELS, range) ? (range as QuickRange) : DEFAULT_RANGE;
  const [from, last] = [dayMs(state.get('from')), dayMs(state.get('to'))];
  if (from === null) return { quickRange };
  if (last === null) return { quickRange: DEFAULT_RANGE, from };
  return last < from ? null : { quickRange: DEFAULT_RANGE, from, to: last + DAY_MS };
}
