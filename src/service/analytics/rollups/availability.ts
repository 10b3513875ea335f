import { DAY_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import { findCheck } from '../../checks/shared.sql.ts';
import type { AccountKey } from '../../database/account-key.ts';
import { readSnapshot } from '../../database/read-snapshot.ts';
import type { Sql, Store } from '../../database/store.ts';
import { notFound } from '../../errors.ts';
import { readDowntime } from '../../heartbeats/shared.sql.ts';
import { readUsualResponseTimes } from '../usual-response-times.ts';
import {
  type ChecksWindow,
  countMissed,
  countMissedIntervals,
  countRuns,
  type MissedInterval,
  type RunCounts,
} from './availability.sql.ts';
import { HeartbeatTimes } from './heartbeat-minutes.ts';
import { planSegments, type RollUpState, startOf } from './plan-segments.ts';
import { readRollUpState } from './rolled-up-runs.sql.ts';
import {
  type CheckSpan,
  type RunsByLocation,
  readRunsByLocation,
  readWithHeartbeats,
} from './runs-by-location.ts';

export interface AvailabilityParts {
  readonly store: Store;
  readonly clock: Clock;
  /** How many whole days of missed slots are stored; the same as for results. */
  readonly retentionDays: number;
}

export interface IntervalCounts {
  readonly startMs: number;
  readonly runs: number;
  readonly failures: number;
  /** Among the runs that passed. */
  readonly degraded: number;
}

export interface IntervalWithMissed extends IntervalCounts {
  readonly missed: number;
}

export interface CheckAvailability {
  /** Each day, the current one last. */
  readonly days: readonly IntervalWithMissed[];
  /** The last 24 hours by quarter hours, the current one last. */
  readonly quarterHours: readonly IntervalCounts[];
  /** Milliseconds, estimated over 7 days; null without a complete hour of passed runs. */
  readonly usualResponseTime: number | null;
}

export interface DaysOfChecks {
  readonly accountId: string;
  readonly checkIds: readonly string[];
  /** How many days, including the current one. */
  readonly days: number;
  /** Epoch milliseconds; determines the current day. */
  readonly nowMs: number;
}

/** The availability of checks: src/service/README.md, "Analytics". */
export interface Availability {
  /** @throws ServiceError 404 for a check that does not exist */
  ofCheck(key: AccountKey, days: number): Promise<CheckAvailability>;
  /** The availability of each of these checks of the account. */
  ofChecks(
    accountId: string,
    checkIds: readonly string[],
    days: number,
  ): Promise<ReadonlyMap<string, CheckAvailability>>;
  /**
   * The days of each of these checks, read in a snapshot of the caller. Heartbeats have minutes instead of
   * runs: src/service/README.md, "Analytics".
   */
  days(sql: Sql, query: DaysOfChecks): Promise<ReadonlyMap<string, readonly IntervalWithMissed[]>>;
  /**
   * The runs of these days by check, start of the day and location, read in a snapshot of the caller. Has no
   * entries for days without runs.
   */
  daysByLocation(sql: Sql, query: DaysOfChecks): Promise<RunsByLocation>;
  /** Like `daysByLocation` for runs within the spans, each within one day; includes minutes of heartbeats. */
  within(
    sql: Sql,
    query: { readonly accountId: string; readonly spans: readonly CheckSpan[] },
  ): Promise<RunsByLocation>;
  /** The `quarterHours` of each of these checks, including missed slots. */
  quarterHours(
    accountId: string,
    checkIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly IntervalWithMissed[]>>;
  /** The `usualResponseTime` of these checks. Has no entry for a check without one. */
  usualResponseTimes(
    accountId: string,
    checkIds: readonly string[],
  ): Promise<ReadonlyMap<string, number>>;
}

const QUARTER_MINUTES = 15;
const QUARTER_MS = QUARTER_MINUTES * 60_000;
const QUARTERS = 96;
const DAY_MINUTES = 1_440;

export function createAvailability({
  store,
  clock,
  retentionDays,
}: AvailabilityParts): Availability {
  async function read(
    sql: Sql,
    accountId: string,
    checkIds: readonly string[],
    days: number,
  ): Promise<ReadonlyMap<string, CheckAvailability>> {
    const nowMs = clock.wallMs();
    const recent = recentQuarters(nowMs);
    const checks = { accountId, checkIds };
    const byDay = await availability.days(sql, { ...checks, days, nowMs });
    const fromMs = startOf(recent.fromMs, DAY_MS);
    const state = await readRollUpState(sql, { ...checks, fromMs, toMs: recent.toMs });
    const quarters = { ...checks, ...recent, nowMs, state, minutes: QUARTER_MINUTES };
    const byQuarter = ofEachCheck(await count(sql, quarters));
    const usual = await readUsualResponseTimes(sql, checks, nowMs);
    return new Map(
      checkIds.map((checkId) => [
        checkId,
        {
          days: byDay.get(checkId) ?? [],
          quarterHours: startsOf(recent, QUARTER_MS).map((startMs) =>
            countsOf(startMs, byQuarter.get(checkId)?.get(startMs)),
          ),
          usualResponseTime: usual.get(checkId) ?? null,
        },
      ]),
    );
  }

  function windowOf({ accountId, checkIds, days, nowMs }: DaysOfChecks): ChecksWindow {
    const today = startOf(nowMs, DAY_MS);
    return { accountId, checkIds, fromMs: today - (days - 1) * DAY_MS, toMs: today + DAY_MS };
  }

  async function readDays(
    sql: Sql,
    given: DaysOfChecks,
  ): Promise<ReadonlyMap<string, readonly IntervalWithMissed[]>> {
    const { nowMs } = given;
    const query = windowOf(given);
    const state = await readRollUpState(sql, query);
    const runs = ofEachCheck(await count(sql, { ...query, nowMs, state, minutes: DAY_MINUTES }));
    const slotsFromMs = startOf(nowMs, DAY_MS) - retentionDays * DAY_MS;
    const missed = ofEachCheck(await countMissed(sql, { ...query, slotsFromMs }));
    const heartbeats = new HeartbeatTimes(
      await readDowntime(sql, { ...query, each: 'day' }),
      nowMs,
    );
    const starts = startsOf(query, DAY_MS);
    const daysOf = (checkId: string): readonly IntervalWithMissed[] =>
      starts.map((startMs) => ({
        ...countsOf(startMs, runs.get(checkId)?.get(startMs)),
        missed: missed.get(checkId)?.get(startMs)?.missed ?? 0,
        // Rounded up: only a heartbeat that never failed has an availability of 100 %.
        ...heartbeats.minutes(checkId, { fromMs: startMs, toMs: startMs + DAY_MS }, 'up'),
      }));
    return new Map(given.checkIds.map((checkId) => [checkId, daysOf(checkId)]));
  }

  async function readQuarters(
    sql: Sql,
    accountId: string,
    checkIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly IntervalWithMissed[]>> {
    const nowMs = clock.wallMs();
    const recent = recentQuarters(nowMs);
    const checks = { accountId, checkIds };
    const fromMs = startOf(recent.fromMs, DAY_MS);
    const state = await readRollUpState(sql, { ...checks, fromMs, toMs: recent.toMs });
    const query = { ...checks, ...recent, minutes: QUARTER_MINUTES };
    const runs = ofEachCheck(await count(sql, { ...query, nowMs, state }));
    const missed = ofEachCheck(await countMissedIntervals(sql, query));
    const quartersOf = (checkId: string): readonly IntervalWithMissed[] =>
      startsOf(recent, QUARTER_MS).map((startMs) => ({
        ...countsOf(startMs, runs.get(checkId)?.get(startMs)),
        missed: missed.get(checkId)?.get(startMs)?.missed ?? 0,
      }));
    return new Map(checkIds.map((checkId) => [checkId, quartersOf(checkId)]));
  }

  const availability: Availability = {
    async ofCheck(key, days) {
      if ((await findCheck(store, key)) === null) throw notFound('check');
      const found = (await availability.ofChecks(key.accountId, [key.id], days)).get(key.id);
      if (found === undefined) throw notFound('check');
      return found;
    },
    ofChecks: (accountId, checkIds, days) =>
      readSnapshot(store, (sql) => read(sql, accountId, checkIds, days)),
    days: readDays,
    daysByLocation(sql, query) {
      const { accountId, checkIds, fromMs, toMs } = windowOf(query);
      const spans = checkIds.map((checkId) => ({ checkId, fromMs, toMs }));
      return readRunsByLocation(sql, { accountId, spans, nowMs: clock.wallMs() });
    },
    within: (sql, query) => readWithHeartbeats(sql, { ...query, nowMs: clock.wallMs() }),
    quarterHours: (accountId, checkIds) =>
      readSnapshot(store, (sql) => readQuarters(sql, accountId, checkIds)),
    usualResponseTimes: (accountId, checkIds) =>
      readUsualResponseTimes(store, { accountId, checkIds }, clock.wallMs()),
  };
  return availability;
}

function count(
  sql: Sql,
  {
    accountId,
    checkIds,
    fromMs,
    toMs,
    minutes,
    nowMs,
    state,
  }: ChecksWindow & {
    /** The length of an interval. */
    readonly minutes: number;
    readonly nowMs: number;
    readonly state: RollUpState;
  },
): Promise<readonly RunCounts[]> {
  const segments = checkIds.flatMap((checkId) =>
    planSegments({ checkId, fromMs, toMs, pointMinutes: minutes, nowMs }, state),
  );
  return countRuns(sql, { accountId, segments, minutes });
}

function recentQuarters(nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const lastMs = startOf(nowMs, QUARTER_MS);
  return { fromMs: lastMs - (QUARTERS - 1) * QUARTER_MS, toMs: lastMs + QUARTER_MS };
}

function countsOf(startMs: number, counts: RunCounts | undefined): IntervalCounts {
  const { runs, passed, degraded } = counts ?? { runs: 0, passed: 0, degraded: 0 };
  return { startMs, runs, failures: runs - passed, degraded };
}

function startsOf(
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  spanMs: number,
): readonly number[] {
  return Array.from({ length: (toMs - fromMs) / spanMs }, (_, index) => fromMs + index * spanMs);
}

/** By check, and by the start of the interval. */
function ofEachCheck<Row extends RunCounts | MissedInterval>(
  rows: readonly Row[],
): ReadonlyMap<string, ReadonlyMap<number, Row>> {
  const groups = groupBy(rows, ({ checkId }) => checkId);
  const startOfRow = (row: Row): number => ('startMs' in row ? row.startMs : +row.start);
  return new Map(
    [...groups].map(([checkId, own]) => [
      checkId,
      new Map(own.map((row) => [startOfRow(row), row])),
    ]),
  );
}
