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
  countDaysByLocation,
  countMissed,
  countMissedIntervals,
  countRuns,
  type MissedInterval,
  type RunCounts,
} from './availability.sql.ts';
import { planCover, type RollUpState, startOf } from './cover.ts';
import { HeartbeatTimes } from './heartbeat-minutes.ts';
import { readRollUpState } from './rolled-runs.sql.ts';

export interface AvailabilityParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Whole days of missed slots, as for results. */
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
  /** How many, with the current one. */
  readonly days: number;
  /** Epoch milliseconds: which day is the current one. */
  readonly nowMs: number;
}

export interface LocationRuns {
  readonly location: string;
  readonly runs: number;
  readonly failures: number;
}

/** By check, and by the start of the day. */
export type RunsByLocation = ReadonlyMap<string, ReadonlyMap<number, readonly LocationRuns[]>>;

/** From a whole hour to a whole hour: roll-ups of hours are kept as long as those of days. */
export interface CheckSpan {
  readonly checkId: string;
  /** Epoch milliseconds; `toMs` is exclusive. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** How available checks were: src/service/README.md, "Analytics". */
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
   * `days` of each of these checks of the account, in a snapshot of the caller. Minutes are the runs of
   * heartbeats: src/service/README.md, "Analytics".
   */
  days(sql: Sql, query: DaysOfChecks): Promise<ReadonlyMap<string, readonly IntervalWithMissed[]>>;
  /**
   * The runs of these days by check, by the start of the day and by location, in a snapshot of the caller.
   * Where there are none, entries are missing.
   */
  daysByLocation(sql: Sql, query: DaysOfChecks): Promise<RunsByLocation>;
  /** Like `daysByLocation`, of the runs inside the spans, each within one day; also minutes of heartbeats. */
  within(
    sql: Sql,
    query: { readonly accountId: string; readonly spans: readonly CheckSpan[] },
  ): Promise<RunsByLocation>;
  /** `quarterHours` of each of these checks of the account, with the slots that were not run. */
  quarterHours(
    accountId: string,
    checkIds: readonly string[],
  ): Promise<ReadonlyMap<string, readonly IntervalWithMissed[]>>;
  /** `usualResponseTime` of those of these checks of the account that have one. */
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
        // Rounded up, so that only a heartbeat that never failed was always available.
        ...heartbeats.minutes(checkId, { fromMs: startMs, toMs: startMs + DAY_MS }, 'up'),
      }));
    return new Map(given.checkIds.map((checkId) => [checkId, daysOf(checkId)]));
  }

  async function readByLocation(
    sql: Sql,
    accountId: string,
    spans: readonly CheckSpan[],
  ): Promise<RunsByLocation> {
    if (spans.length === 0) return new Map();
    const nowMs = clock.wallMs();
    const checkIds = [...new Set(spans.map(({ checkId }) => checkId))];
    const fromMs = spans.reduce((least, span) => Math.min(least, span.fromMs), nowMs);
    const toMs = spans.reduce((most, span) => Math.max(most, span.toMs), fromMs);
    const state = await readRollUpState(sql, { accountId, checkIds, fromMs, toMs });
    const segments = spans.flatMap((span) =>
      planCover({ ...span, pointMinutes: DAY_MINUTES, nowMs }, state),
    );
    const byLocation = new Map<string, Map<number, LocationRuns[]>>();
    for (const row of await countDaysByLocation(sql, { accountId, segments })) {
      const days = byLocation.get(row.checkId) ?? new Map<number, LocationRuns[]>();
      const locations = days.get(+row.start) ?? [];
      const { location, runs, passed } = row;
      locations.push({ location, runs, failures: runs - passed });
      days.set(+row.start, locations);
      byLocation.set(row.checkId, days);
    }
    return byLocation;
  }

  async function heartbeatsIn(
    sql: Sql,
    accountId: string,
    spans: readonly CheckSpan[],
  ): Promise<HeartbeatTimes> {
    const nowMs = clock.wallMs();
    const rows =
      spans.length === 0
        ? []
        : await readDowntime(sql, {
            accountId,
            checkIds: [...new Set(spans.map(({ checkId }) => checkId))],
            fromMs: spans.reduce((least, span) => Math.min(least, span.fromMs), nowMs),
            toMs: spans.reduce((most, span) => Math.max(most, span.toMs), 0),
            each: 'hour',
          });
    return new HeartbeatTimes(rows, nowMs);
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
      return readByLocation(sql, accountId, spans);
    },
    async within(sql, { accountId, spans }) {
      const runs = await readByLocation(sql, accountId, spans);
      return withHeartbeats(runs, spans, await heartbeatsIn(sql, accountId, spans));
    },
    quarterHours: (accountId, checkIds) =>
      readSnapshot(store, (sql) => readQuarters(sql, accountId, checkIds)),
    usualResponseTimes: (accountId, checkIds) =>
      readUsualResponseTimes(store, { accountId, checkIds }, clock.wallMs()),
  };
  return availability;
}

/** A heartbeat has one location, without a name. */
const NOWHERE = '';

function withHeartbeats(
  runs: RunsByLocation,
  spans: readonly CheckSpan[],
  heartbeats: HeartbeatTimes,
): RunsByLocation {
  const all = new Map(runs);
  for (const span of spans) {
    // Rounded down: the rest of a day is never less than nothing.
    const minutes = heartbeats.minutes(span.checkId, span, 'down');
    if (minutes === null) continue;
    const dayMs = startOf(span.fromMs, DAY_MS);
    const days = new Map(all.get(span.checkId));
    days.set(dayMs, [...(days.get(dayMs) ?? []), { location: NOWHERE, ...minutes }]);
    all.set(span.checkId, days);
  }
  return all;
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
    planCover({ checkId, fromMs, toMs, pointMinutes: minutes, nowMs }, state),
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
