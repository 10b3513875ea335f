import { DAY_MS } from '../../../model/time-units.ts';
import type { Availability, IntervalWithMissed } from '../../analytics/rollups/availability.ts';
import type { LocationRuns } from '../../analytics/rollups/runs-by-location.ts';
import type { Sql } from '../../database/store.ts';
import { type FailureRuleOf, failedShareOf } from './condition.ts';
import { hoursOnDay, type KnownWindow } from './maintenance.ts';

/** Bounds the rows and segments of a statement. */
const CHECKS_AT_ONCE = 250;

export type DaysReader = Pick<Availability, 'days' | 'daysByLocation' | 'within'>;

/** The counts of a service on a day. */
export interface DayCounts {
  runs: number;
  failures: number;
  degraded: number;
  missed: number;
  /** Each of the three times is that of the check with the longest one, at most a day. */
  failingMs: number;
  degradedMs: number;
  missedMs: number;
  /** Runs outside of maintenance. */
  runsOutside: number;
  /** Failures outside of maintenance, as the failure rule counts them. */
  failuresOutside: number;
  leastShare: number;
}

/** A check of the history, with the windows that concern it. */
export interface CheckOfHistory {
  readonly id: string;
  readonly isHeartbeat: boolean;
  readonly tags: readonly string[];
  /** How many locations it has. */
  readonly locations: number;
  /** The time that one run stands for, in milliseconds: its period, or a share of it if locations run in parallel. */
  readonly runMs: number;
  readonly windows: readonly KnownWindow[];
}

/** A service as its checks measure it. */
export interface MeasuredOfHistory {
  readonly rule: FailureRuleOf;
  readonly checks: readonly CheckOfHistory[];
}

/** The counts of a service that a check measures. */
interface CountsOfService {
  readonly rule: FailureRuleOf;
  readonly days: readonly DayCounts[];
}

/** The last days of each of the services, the current one last. */
export async function countDays(
  sql: Sql,
  availability: DaysReader,
  {
    accountId,
    services,
    days,
    nowMs,
  }: {
    readonly accountId: string;
    readonly services: readonly MeasuredOfHistory[];
    readonly days: number;
    /** The same for all statements, since a later statement may run on the next day. */
    readonly nowMs: number;
  },
): Promise<readonly (readonly DayCounts[])[]> {
  const counts = services.map(() => Array.from({ length: days }, emptyDay));
  const measuring = new Map<string, { check: CheckOfHistory; counted: CountsOfService[] }>();
  for (const [index, { checks, rule }] of services.entries()) {
    for (const check of checks) {
      const known = measuring.get(check.id) ?? { check, counted: [] };
      known.counted.push({ rule, days: counts[index] ?? [] });
      measuring.set(check.id, known);
    }
  }
  const all = [...measuring.values()];
  for (let at = 0; at < all.length; at += CHECKS_AT_ONCE) {
    const batch = all.slice(at, at + CHECKS_AT_ONCE);
    const checkIds = batch.map(({ check }) => check.id);
    const runs = await availability.days(sql, { accountId, checkIds, days, nowMs });
    const byLocation = await availability.daysByLocation(sql, {
      accountId,
      checkIds: batch
        .filter(
          ({ check, counted }) =>
            !check.isHeartbeat && counted.some(({ rule }) => isByLocations(rule)),
        )
        .map(({ check }) => check.id),
      days,
      nowMs,
    });
    // Only runs in these hours may have to be excluded.
    const spans = batch.flatMap(({ check: { id, windows } }) =>
      (windows.length === 0 ? [] : (runs.get(id) ?? []))
        .filter(({ failures }) => failures > 0)
        .flatMap(({ startMs }) => hoursOnDay(windows, startMs))
        .map((span) => ({ checkId: id, ...span })),
    );
    const maintained = await availability.within(sql, { accountId, spans });
    for (const { check, counted } of batch) {
      for (const [index, day] of (runs.get(check.id) ?? []).entries()) {
        const inMaintenance = maintained.get(check.id)?.get(day.startMs) ?? [];
        const locations = byLocation.get(check.id)?.get(day.startMs) ?? [];
        for (const { rule, days: into } of counted) {
          const outside = outsideOf(day, inMaintenance);
          const failures =
            isByLocations(rule) && !check.isHeartbeat
              ? outside.runs * failedShareOf(rule, check, without(locations, inMaintenance))
              : outside.failures;
          add(into[index], day, { outside: { runs: outside.runs, failures }, runMs: check.runMs });
        }
      }
    }
  }
  return counts;
}

function isByLocations({ failureRule }: FailureRuleOf): boolean {
  return failureRule === 'LOCATIONS';
}

function emptyDay(): DayCounts {
  return {
    runs: 0,
    failures: 0,
    degraded: 0,
    missed: 0,
    failingMs: 0,
    degradedMs: 0,
    missedMs: 0,
    runsOutside: 0,
    failuresOutside: 0,
    leastShare: 1,
  };
}

interface Runs {
  readonly runs: number;
  readonly failures: number;
}

function outsideOf(day: Runs, inMaintenance: readonly Runs[]): Runs {
  return inMaintenance.reduce<Runs>(
    (rest, { runs, failures }) => ({
      runs: rest.runs - runs,
      failures: rest.failures - failures,
    }),
    day,
  );
}

/** The runs of each location, without those in maintenance. */
function without(
  locations: readonly LocationRuns[],
  inMaintenance: readonly LocationRuns[],
): readonly Runs[] {
  return locations.map((own) =>
    outsideOf(
      own,
      inMaintenance.filter(({ location }) => location === own.location),
    ),
  );
}

function add(
  into: DayCounts | undefined,
  day: IntervalWithMissed,
  { outside, runMs }: { readonly outside: Runs; readonly runMs: number },
): void {
  if (into === undefined) return;
  into.runs += day.runs;
  into.failures += day.failures;
  into.degraded += day.degraded;
  into.missed += day.missed;
  // Uses the maximum instead of the sum, since checks may fail at the same time.
  const longest = (known: number, runs: number) => Math.min(DAY_MS, Math.max(known, runs * runMs));
  into.failingMs = longest(into.failingMs, day.failures);
  into.degradedMs = longest(into.degradedMs, day.degraded);
  into.missedMs = longest(into.missedMs, day.missed);
  const { runs, failures } = outside;
  into.runsOutside += runs;
  into.failuresOutside += failures;
  into.leastShare = Math.min(into.leastShare, runs === 0 ? 0 : failures / runs);
}
