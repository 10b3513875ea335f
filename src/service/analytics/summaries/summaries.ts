import type { RunnableCheckType } from '../../../model/enums.ts';
import { type Measure, PHASES } from '../../../model/result/analytics.ts';
import { DAY_MS, HOUR_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { CheckFilter } from '../../checks/shared.sql.ts';
import { readSnapshot } from '../../database/read-snapshot.ts';
import type { Sql, Store } from '../../database/store.ts';
import { invalid } from '../../errors.ts';
import { unstorableTexts } from '../../http/resources/input-problems.ts';
import { type Page, rangeOf } from '../../http/resources/paging.ts';
import type { OutdatedStates } from '../../results/statuses/outdated-states.ts';
import { type AskedWindow, inTime, MAX_RUNS_EMBEDDED, reportWindow } from '../report-limits.ts';
import type { ReportQueue } from '../report-queue.ts';
import { planSegments, startOf } from '../rollups/plan-segments.ts';
import { hasMoreSingleRuns, readRollUpState } from '../rollups/rolled-up-runs.sql.ts';
import {
  listReportedChecks,
  type ReportedCheck,
  type RunsOfCheck,
  type Statistic,
  sumUpRuns,
} from './sql.ts';

export interface CheckSummariesParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly outdatedStates: Pick<OutdatedStates, 'refresh'>;
  /** The queue of all reports of the service. */
  readonly queue: ReportQueue;
  /** Maximum number of runs outside of roll-ups in the embedded database. Default: as in analytics. */
  readonly maxRunsEmbedded?: number;
}

export interface SummariesQuery extends Page, AskedWindow {
  /** Only types with runs. */
  readonly filter: Omit<CheckFilter, 'accountId'>;
  /** When the client began to follow cursors, in epoch milliseconds; null if it reads pages. */
  readonly begunMs: number | null;
}

/** Statistics over the runs that have the measure. */
interface Spread {
  readonly avg: number;
  readonly min: number;
  readonly max: number;
}

export interface CheckSummary {
  readonly check: ReportedCheck;
  /** The window that was read, in epoch milliseconds; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly runs: number;
  readonly failures: number;
  /** Among the runs that passed. */
  readonly degraded: number;
  /** Milliseconds; the latency for ICMP checks. null if no run has it. */
  readonly responseTime: Spread | null;
  /** The average in percent for ICMP checks; null if no run has it. */
  readonly packetLoss: number | null;
  /** The average of each phase in milliseconds, in their order; null if no run has it. */
  readonly phases: readonly (readonly [Measure, number | null])[];
}

/** Statistics of many checks in a window: src/service/README.md, "Summaries of many checks". */
export interface CheckSummaries {
  /**
   * @throws ServiceError 400 for a window that ends before it starts, or that has too many runs which are not rolled
   *   up; 503 where too many reports wait
   */
  list(accountId: string, query: SummariesQuery): Promise<readonly CheckSummary[]>;
}

interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Check-days per transaction in the embedded database: for example 100 checks for a month, or 10 for a year. */
const MAX_CHECK_DAYS_EMBEDDED = 3_650;

export function createCheckSummaries({
  store,
  clock,
  outdatedStates,
  queue,
  maxRunsEmbedded = MAX_RUNS_EMBEDDED,
}: CheckSummariesParts): CheckSummaries {
  const isEmbedded = store.kind === 'pglite';
  const maxRuns = isEmbedded ? maxRunsEmbedded : null;

  async function read(
    accountId: string,
    query: SummariesQuery,
    window: Window,
  ): Promise<readonly CheckSummary[]> {
    const range = rangeOf(query);
    const checks = await readSnapshot(store, (sql) =>
      listReportedChecks(sql, { accountId, ...query.filter, range }),
    );
    const summaries: CheckSummary[] = [];
    const atOnce = isEmbedded ? checksAtOnce(window) : checks.length;
    for (let index = 0; index < checks.length; index += atOnce) {
      const slice = checks.slice(index, index + atOnce);
      const sums = await inTime(() =>
        readSnapshot(store, (sql) => sumUp(sql, accountId, slice, window)),
      );
      summaries.push(...slice.map((check) => summaryOf(check, window, sums.get(check.checkId))));
    }
    return summaries;
  }

  async function sumUp(
    sql: Sql,
    accountId: string,
    checks: readonly ReportedCheck[],
    window: Window,
  ): Promise<ReadonlyMap<string, RunsOfCheck>> {
    const checkIds = checks.map(({ checkId }) => checkId);
    const state = await readRollUpState(sql, { accountId, checkIds, ...window });
    const nowMs = clock.wallMs();
    const segments = checkIds.flatMap((checkId) =>
      planSegments({ checkId, ...window, pointMinutes: null, nowMs }, state),
    );
    if (maxRuns !== null && (await hasMoreSingleRuns(sql, { accountId, segments }, maxRuns))) {
      const message = `must be smaller, or the window shorter: these checks have more than ${maxRuns} runs that are not rolled up yet`;
      throw invalid([{ path: 'query.limit', message }]);
    }
    const types = new Set(checks.map(({ checkType }) => checkType));
    const statistics = [...new Set([...types].flatMap(statisticsOf))];
    return sumUpRuns(sql, { accountId, segments, statistics });
  }

  return {
    async list(accountId, query) {
      const { tags, search, location, states } = query.filter;
      // A client that continues with a cursor gets the same window.
      const atMs = query.begunMs ?? clock.wallMs();
      const window = wholeHours(reportWindow(query, atMs), atMs);
      // No name, tag or location contains such a text, and PostgreSQL would refuse it.
      if (unstorableTexts([...tags, search, location]).length > 0) return [];
      if (states.length > 0) await outdatedStates.refresh({ accountId, checkId: null });
      return queue.run(accountId, () => read(accountId, query, window));
    },
  };
}

/**
 * How many checks one transaction of the embedded database sums up: as many as take some tenths of a second, during
 * which it serves nothing else.
 */
function checksAtOnce({ fromMs, toMs }: Window): number {
  return Math.max(1, Math.floor(MAX_CHECK_DAYS_EMBEDDED / Math.max(1, (toMs - fromMs) / DAY_MS)));
}

/**
 * Rounds to whole hours: parts of hours would be read run by run, and runs are retained for a shorter time. Does not
 * round an end within the last hour, so that a client can request further pages with the end of the first page.
 */
function wholeHours({ fromMs, toMs }: Window, atMs: number): Window {
  const endMs = -startOf(-toMs, HOUR_MS);
  return { fromMs: startOf(fromMs, HOUR_MS), toMs: endMs > atMs - HOUR_MS ? toMs : endMs };
}

/** What `responseTime` shows; `latency` is that of ICMP checks: the average of the averages, the shortest and the longest echo. */
const SPREADS = {
  responseTime: ['responseTime_avg', 'responseTime_min', 'responseTime_max'],
  latency: ['latencyAvg_avg', 'latencyMin_min', 'latencyMax_max'],
} as const satisfies Record<string, readonly [Statistic, Statistic, Statistic]>;

/** The statistics that a summary of this type shows. */
function statisticsOf(type: RunnableCheckType): readonly Statistic[] {
  if (type === 'ICMP') return [...SPREADS.latency, 'packetLoss_avg'];
  return [...SPREADS.responseTime, ...PHASES[type].map((phase): Statistic => `${phase}_avg`)];
}

function summaryOf(
  check: ReportedCheck,
  window: Window,
  sums: RunsOfCheck | undefined,
): CheckSummary {
  const { runs, passed, degraded, statistics } = sums ?? NO_RUNS;
  const isIcmp = check.checkType === 'ICMP';
  return {
    check,
    ...window,
    runs,
    failures: runs - passed,
    degraded,
    responseTime: spreadOf(statistics, isIcmp ? SPREADS.latency : SPREADS.responseTime),
    packetLoss: (isIcmp ? statistics.get('packetLoss_avg') : null) ?? null,
    phases: PHASES[check.checkType].map((phase) => [phase, statistics.get(`${phase}_avg`) ?? null]),
  };
}

const NO_RUNS: RunsOfCheck = { runs: 0, passed: 0, degraded: 0, statistics: new Map() };

function spreadOf(
  statistics: RunsOfCheck['statistics'],
  names: (typeof SPREADS)[keyof typeof SPREADS],
): Spread | null {
  const [avg, min, max] = names.map((name) => statistics.get(name));
  return avg === undefined || min === undefined || max === undefined ? null : { avg, min, max };
}
