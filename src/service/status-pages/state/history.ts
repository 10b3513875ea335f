import { createHash } from 'node:crypto';
import { stateUnder } from '../../../model/status-page/status-page-incident.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type {
  Availability,
  IntervalWithMissed,
  LocationRuns,
} from '../../analytics/rollups/availability.ts';
import type { Sql } from '../../database/store.ts';
import type { PublicIncident } from '../../incidents/shared.sql.ts';
import {
  conditionOfDay,
  type FailureRuleOf,
  failedShareOf,
  type ServiceCondition,
  worstCondition,
} from './condition.ts';
import { hoursOnDay, type KnownWindow } from './maintenance.ts';

/** Days of bars, the current one included. */
export const HISTORY_DAYS = 90;
export const DAY_MS = 86_400_000;
/** The names of windows on one day. */
const MAX_NAMES = 20;
/** Bounds the rows and segments of a statement. */
const CHECKS_AT_ONCE = 250;
/**
 * The days before today are read again after this time: only results that arrive late change them. The
 * current day is always read.
 */
const PAST_DAYS_MS = 60_000;
/** Bounds the memory: about 5 KiB for each service. */
const MAX_REMEMBERED_SERVICES = 5_000;

export interface ServiceHistory {
  /** From 0 to 1, over all days, as of `GET /v1/checks/{id}/availability`; null without runs. */
  readonly availability: number | null;
  /** What `runs` are: where only heartbeats measure the service, minutes. */
  readonly unit: 'run' | 'minute';
  /** HISTORY_DAYS, the oldest first, in UTC. */
  readonly days: readonly DayOnPage[];
}

export interface DayOnPage {
  /** YYYY-MM-DD */
  readonly day: string;
  /** All runs, those during maintenance included, as in the analytics. */
  readonly runs: number;
  readonly failures: number;
  /** Among the runs that passed. */
  readonly degraded: number;
  readonly missed: number;
  readonly condition: ServiceCondition;
  /** Those that were open on the day, the newest first. */
  readonly incidents: readonly { readonly id: string; readonly name: string }[];
  /** The names of the windows that were active on the day, at most MAX_NAMES. */
  readonly maintenance: readonly string[];
}

interface DayCounts {
  runs: number;
  failures: number;
  degraded: number;
  missed: number;
  /** Outside of maintenance. */
  runsOutside: number;
  /** Those that count by the failure rule. */
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
  readonly windows: readonly KnownWindow[];
}

/** A service whose history is shown. */
export interface ServiceOfHistory {
  readonly id: string;
  readonly rule: FailureRuleOf;
  readonly checks: readonly CheckOfHistory[];
  readonly windows: readonly KnownWindow[];
  readonly incidents: readonly PublicIncident[];
}

export interface HistoryQuery {
  readonly accountId: string;
  readonly pageId: string;
  readonly services: readonly ServiceOfHistory[];
  /** `version` of the maintenance times. */
  readonly windowsVersion: string;
  readonly nowMs: number;
}

export interface Histories {
  /** The history of each of the services, by id. Those of which nothing was measured have none. */
  read(sql: Sql, query: HistoryQuery): Promise<ReadonlyMap<string, ServiceHistory>>;
}

/** The counts of the days before today, of each service of a page. */
interface PastDays {
  readonly fingerprint: string;
  readonly readAtMs: number;
  readonly counts: readonly (readonly DayCounts[])[];
}

type DaysReader = Pick<Availability, 'days' | 'daysByLocation' | 'within'>;

export function createHistories({
  clock,
  availability,
}: {
  readonly clock: Clock;
  readonly availability: DaysReader;
}): Histories {
  /** By page, the longest unread first. */
  const remembered = new Map<string, PastDays>();

  function remember(key: string, past: PastDays): void {
    remembered.delete(key);
    remembered.set(key, past);
    let services = [...remembered.values()].reduce((sum, { counts }) => sum + counts.length, 0);
    for (const [other, { counts }] of remembered) {
      if (services <= MAX_REMEMBERED_SERVICES) break;
      remembered.delete(other);
      services -= counts.length;
    }
  }

  async function countsOf(
    sql: Sql,
    query: HistoryQuery,
    todayMs: number,
  ): Promise<readonly (readonly DayCounts[])[]> {
    const { accountId, pageId, services, nowMs } = query;
    const of = { accountId, services, nowMs };
    const key = JSON.stringify([accountId, pageId]);
    const fingerprint = fingerprintOf(query, todayMs);
    const past = remembered.get(key);
    const isFresh = past !== undefined && clock.monotonicMs() - past.readAtMs < PAST_DAYS_MS;
    if (isFresh && past.fingerprint === fingerprint) {
      const today = await countDays(sql, availability, { ...of, days: 1 });
      return past.counts.map((days, index) => [...days, ...(today[index] ?? [])]);
    }
    const counts = await countDays(sql, availability, { ...of, days: HISTORY_DAYS });
    const readAtMs = clock.monotonicMs();
    remember(key, { fingerprint, readAtMs, counts: counts.map((days) => days.slice(0, -1)) });
    return counts;
  }

  return {
    async read(sql, query) {
      const todayMs = Math.floor(query.nowMs / DAY_MS) * DAY_MS;
      const counts = await countsOf(sql, query, todayMs);
      return new Map(
        query.services.flatMap((service, index) => {
          const history = historyOf(service, counts[index] ?? [], todayMs);
          return history === null ? [] : [[service.id, history] as const];
        }),
      );
    },
  };
}

/** Of all that the counts of past days depend on, beside the runs. */
function fingerprintOf({ services, windowsVersion }: HistoryQuery, todayMs: number): string {
  const measured = services.map(({ id, rule, checks }) => [
    id,
    rule.failureRule,
    rule.failureLocations,
    checks.map((check) => [check.id, check.locations, check.tags]),
  ]);
  const text = JSON.stringify([todayMs, windowsVersion, measured]);
  return createHash('sha256').update(text).digest('base64');
}

/** Where the counts of a check go. */
interface CountsOfService {
  readonly rule: FailureRuleOf;
  readonly days: readonly DayCounts[];
}

/** The last days of each of the services, the current one last. */
async function countDays(
  sql: Sql,
  availability: DaysReader,
  {
    accountId,
    services,
    days,
    nowMs,
  }: {
    readonly accountId: string;
    readonly services: readonly ServiceOfHistory[];
    readonly days: number;
    /** Not the time of each statement, which may be of the next day. */
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
    // Only these may have to be left out.
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
          add(into[index], day, { runs: outside.runs, failures });
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

function add(into: DayCounts | undefined, day: IntervalWithMissed, outside: Runs): void {
  if (into === undefined) return;
  into.runs += day.runs;
  into.failures += day.failures;
  into.degraded += day.degraded;
  into.missed += day.missed;
  const { runs, failures } = outside;
  into.runsOutside += runs;
  into.failuresOutside += failures;
  into.leastShare = Math.min(into.leastShare, runs === 0 ? 0 : failures / runs);
}

function historyOf(
  service: ServiceOfHistory,
  counts: readonly DayCounts[],
  todayMs: number,
): ServiceHistory | null {
  if (counts.every(({ runs, missed }) => runs === 0 && missed === 0)) return null;
  const runs = counts.reduce((sum, day) => sum + day.runs, 0);
  const failures = counts.reduce((sum, day) => sum + day.failures, 0);
  const firstDayMs = todayMs - (counts.length - 1) * DAY_MS;
  return {
    availability: runs === 0 ? null : (runs - failures) / runs,
    unit: service.checks.every(({ isHeartbeat }) => isHeartbeat) ? 'minute' : 'run',
    days: counts.map((day, index) => dayOf(service, day, firstDayMs + index * DAY_MS)),
  };
}

function dayOf(
  { rule, windows, incidents }: ServiceOfHistory,
  counts: DayCounts,
  dayMs: number,
): DayOnPage {
  const { runs, failures, degraded, missed, runsOutside, failuresOutside, leastShare } = counts;
  const open = incidents.filter(
    ({ startedAt, resolvedAt }) =>
      +startedAt < dayMs + DAY_MS && (resolvedAt === null || +resolvedAt >= dayMs),
  );
  const active = windows.filter(({ hours }) => hours.has(dayMs));
  const byRuns = conditionOfDay(rule.failureRule, {
    runs: runsOutside,
    failures: failuresOutside,
    degraded,
    leastShare,
  });
  const byIncidents = stateUnder(open.map(({ severity }) => severity));
  const byWindows = active.length > 0 ? (['MAINTENANCE'] as const) : [];
  return {
    day: new Date(dayMs).toISOString().slice(0, 10),
    runs,
    failures,
    degraded,
    missed,
    condition: worstCondition([byRuns, byIncidents, ...byWindows]),
    incidents: open.map(({ id, name }) => ({ id, name })),
    maintenance: [...new Set(active.map(({ name }) => name))].slice(0, MAX_NAMES),
  };
}
