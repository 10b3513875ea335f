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
import { hasMoreSingleRuns, readRollUpState } from '../rollups/rolled-runs.sql.ts';
import {
  listReportedChecks,
  type ReportedCheck,
  type RunsOfCheck,
  type Spread,
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

/** Check-days per transaction: for example 100 checks for a month, or 10 for a year. */
const MAX_CHECK_DAYS = 3_650;

export function createCheckSummaries({
  store,
  clock,
  outdatedStates,
  queue,
  maxRunsEmbedded = MAX_RUNS_EMBEDDED,
}: CheckSummariesParts): CheckSummaries {
  const maxRuns = store.kind === 'pglite' ? maxRunsEmbedded : null;

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
    const atOnce = checksAtOnce(window);
    for (let index = 0; index < checks.length; index += atOnce) {
      const slice = checks.slice(index, index + atOnce);
      const checkIds = slice.map(({ checkId }) => checkId);
      const sums = await inTime(() =>
        readSnapshot(store, (sql) => sumUp(sql, accountId, checkIds, window)),
      );
      summaries.push(...slice.map((check) => summaryOf(check, window, sums.get(check.checkId))));
    }
    return summaries;
  }

  async function sumUp(
    sql: Sql,
    accountId: string,
    checkIds: readonly string[],
    window: Window,
  ): Promise<ReadonlyMap<string, RunsOfCheck>> {
    const state = await readRollUpState(sql, { accountId, checkIds, ...window });
    const nowMs = clock.wallMs();
    const segments = checkIds.flatMap((checkId) =>
      planSegments({ checkId, ...window, pointMinutes: null, nowMs }, state),
    );
    if (maxRuns !== null && (await hasMoreSingleRuns(sql, { accountId, segments }, maxRuns))) {
      const message = `must be smaller, or the window shorter: these checks have more than ${maxRuns} runs that are not rolled up yet`;
      throw invalid([{ path: 'query.limit', message }]);
    }
    return sumUpRuns(sql, { accountId, segments });
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
 * How many checks one transaction sums up: as many as take some tenths of a second, during which the embedded
 * database serves nothing else.
 */
function checksAtOnce({ fromMs, toMs }: Window): number {
  return Math.max(1, Math.floor(MAX_CHECK_DAYS / Math.max(1, (toMs - fromMs) / DAY_MS)));
}

/**
 * Rounds to whole hours: parts of hours would be read run by run, and runs are retained for a shorter time. Does not
 * round an end within the last hour, so that a client can request further pages with the end of the first page.
 */
function wholeHours({ fromMs, toMs }: Window, atMs: number): Window {
  const endMs = -startOf(-toMs, HOUR_MS);
  return { fromMs: startOf(fromMs, HOUR_MS), toMs: endMs > atMs - HOUR_MS ? toMs : endMs };
}

function summaryOf(
  check: ReportedCheck,
  window: Window,
  sums: RunsOfCheck | undefined,
): CheckSummary {
  const { runs, passed, degraded, measures } = sums ?? NO_RUNS;
  return {
    check,
    ...window,
    runs,
    failures: runs - passed,
    degraded,
    responseTime: check.checkType === 'ICMP' ? latencyOf(measures) : spreadOf(measures),
    packetLoss: measures.get('packetLoss')?.avg ?? null,
    phases: PHASES[check.checkType].map((phase) => [phase, measures.get(phase)?.avg ?? null]),
  };
}

const NO_RUNS: RunsOfCheck = { runs: 0, passed: 0, degraded: 0, measures: new Map() };

function spreadOf(measures: RunsOfCheck['measures']): Spread | null {
  return measures.get('responseTime') ?? null;
}

/** Combines the latency of ICMP checks: the average of the averages, and the shortest and longest echo. */
function latencyOf(measures: RunsOfCheck['measures']): Spread | null {
  const avg = measures.get('latencyAvg')?.avg;
  const min = measures.get('latencyMin')?.min;
  const max = measures.get('latencyMax')?.max;
  return avg === undefined || min === undefined || max === undefined ? null : { avg, min, max };
}
