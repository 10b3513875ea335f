import { api, bodyOf, pageOf } from '../../api/client.ts';
import { type Query, useQuery } from '../../api/query.ts';
import type {
  AnyCheck,
  Artifact,
  CheckStatus,
  CheckType,
  Explanation,
  MissedSlot,
  Result,
  Run,
  RunResult,
} from './model.ts';

export function useCheck(id: string): Query<AnyCheck> {
  return useQuery(
    `check ${id}`,
    (signal) => bodyOf(api.GET('/v1/checks/{id}', { params: { path: { id } }, signal })),
    { on: ['check.updated', 'check.deleted'], concerns: ({ resourceId }) => resourceId === id },
  );
}

/** Null before the first run. */
export function useStatus(checkId: string): Query<{ readonly status: CheckStatus | null }> {
  return useQuery(
    `check status ${checkId}`,
    async (signal) => ({
      status: await bodyOf(
        api.GET('/v1/check-statuses/{checkId}', {
          params: { path: { checkId }, query: { cells: true } },
          signal,
        }),
      ),
    }),
    {
      on: [
        'check.status_changed',
        'check.updated',
        'location',
        'group',
        'check_run',
        'alert',
        'maintenance_window',
      ],
      concerns: ({ kind, resourceId, data }) => {
        if (kind.startsWith('alert.')) return data.checkId === checkId;
        return !kind.startsWith('check.') || resourceId === checkId;
      },
    },
  );
}

export interface RunFilter {
  readonly result: RunResult | null;
  readonly location: string | null;
  /** Epoch milliseconds; null for the latest. */
  readonly to: number | null;
  readonly page: number;
}

export const RUNS_PER_PAGE = 25;
/** A margin for runs that are stored while the page is read. */
const AHEAD_MS = 86_400_000;

export function useRuns(
  checkId: string,
  { result, location, to, page }: RunFilter,
): Query<{
  readonly runs: readonly Run[];
  readonly total: number | null;
  readonly isAtLeast: boolean;
}> {
  return useQuery(
    `runs ${checkId} ${result} ${location} ${to} ${page}`,
    async (signal) => {
      const { entries, total, isAtLeast } = await pageOf(
        api.GET('/v1/checks/{checkId}/runs', {
          params: {
            path: { checkId },
            query: {
              from: 0,
              to: to ?? Date.now() + AHEAD_MS,
              page,
              limit: RUNS_PER_PAGE,
              ...(result === null ? {} : { result: [result] }),
              ...(location === null ? {} : { location }),
            },
          },
          signal,
        }),
      );
      return { runs: entries, total, isAtLeast };
    },
    {
      on: ['check.status_changed', 'check_run'],
      concerns: ({ kind, resourceId, data }) =>
        (kind === 'check_run.finished' ? data.checkId : resourceId) === checkId,
    },
  );
}

export function useResult(checkId: string, id: string): Query<Result> {
  return useQuery(`result ${checkId} ${id}`, (signal) =>
    bodyOf(
      api.GET('/v1/check-results/{checkId}/{id}', { params: { path: { checkId, id } }, signal }),
    ),
  );
}

export function useExplanation(checkId: string, id: string): Query<Explanation> {
  return useQuery(`explanation ${checkId} ${id}`, (signal) =>
    bodyOf(
      api.GET('/v1/check-results/{checkId}/{id}/explanation', {
        params: { path: { checkId, id } },
        signal,
      }),
    ),
  );
}

export function useArtifacts(checkId: string, resultId: string): Query<readonly Artifact[]> {
  return useQuery(`artifacts ${checkId} ${resultId}`, (signal) =>
    bodyOf(
      api.GET('/v1/check-results/{checkId}/{resultId}/artifacts', {
        params: { path: { checkId, resultId } },
        signal,
      }),
    ),
  );
}

/** A page of ranges is enough: each of them may have any number of slots. */
const MAX_RANGES = 100;

export function useMissedSlots(checkId: string, hours: number): Query<readonly MissedSlot[]> {
  return useQuery(`missed ${checkId} ${hours}`, (signal) =>
    bodyOf(
      api.GET('/v1/missed-slots/{checkId}', {
        params: {
          path: { checkId },
          query: {
            from: Date.now() - hours * 3_600_000,
            to: Date.now() + AHEAD_MS,
            limit: MAX_RANGES,
          },
        },
        signal,
      }),
    ),
  );
}

/** The paths of the reports on checks of each type. */
const ANALYTICS = {
  URL: '/v1/analytics/url/{id}',
  API: '/v1/analytics/api-checks/{id}',
  TCP: '/v1/analytics/tcp/{id}',
  DNS: '/v1/analytics/dns/{id}',
  ICMP: '/v1/analytics/icmp/{id}',
} as const;

export interface ReportQuery {
  readonly metrics: readonly string[];
  readonly hours: number;
  /** Null: one point for all. */
  readonly intervalMinutes: number | null;
  readonly byLocation?: boolean;
  readonly onlyPassed?: boolean;
}

export interface Series {
  /** Null for all locations. */
  readonly location: string | null;
  readonly points: readonly Point[];
}

/** The metrics by their names, null where no run had one. */
export interface Point {
  readonly atMs: number;
  readonly values: Readonly<Record<string, number | null>>;
}

const MAX_LOCATIONS = 12;

export function useReport(
  checkId: string,
  type: CheckType,
  query: ReportQuery,
): Query<readonly Series[]> {
  const { metrics, hours, intervalMinutes, byLocation = false, onlyPassed = false } = query;
  return useQuery(`report ${checkId} ${type} ${JSON.stringify(query)}`, async (signal) => {
    const nowMs = Date.now();
    const report = await bodyOf(
      // The metrics of the types differ, and so do their paths.
      api.GET(ANALYTICS[type] as (typeof ANALYTICS)['URL'], {
        params: {
          path: { id: checkId },
          query: {
            metrics: metrics as never,
            from: nowMs - hours * 3_600_000,
            to: nowMs,
            limit: MAX_LOCATIONS,
            ...(intervalMinutes === null ? {} : { aggregationInterval: intervalMinutes }),
            ...(byLocation ? { groupBy: 'runLocation' as const } : {}),
            ...(onlyPassed ? { filterByStatus: ['success' as const] } : {}),
          },
        },
        signal,
      }),
    );
    return report.series.map(({ runLocation, data }) => ({
      location: runLocation ?? null,
      points: data.map(({ time, ...values }) => ({
        atMs: Date.parse(time),
        values: values as Point['values'],
      })),
    }));
  });
}
