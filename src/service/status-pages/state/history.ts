import { stateUnder } from '../../../model/status-page/status-page-incident.ts';
import type {
  Availability,
  CheckSpan,
  IntervalWithMissed,
} from '../../analytics/rollups/availability.ts';
import type { Sql } from '../../database/store.ts';
import type { PublicIncident } from '../../incidents/shared.sql.ts';
import {
  conditionOfDay,
  type FailureRuleOf,
  type ServiceCondition,
  worstCondition,
} from './condition.ts';
import { hoursOnDay, isOnDay, type KnownWindow } from './maintenance.ts';

/** Days of bars, the current one included. */
export const HISTORY_DAYS = 90;
export const DAY_MS = 86_400_000;
/** The names of windows on one day. */
const MAX_NAMES = 20;
/** Bounds the rows and segments of a statement. */
const CHECKS_AT_ONCE = 250;

export interface ServiceHistory {
  /** From 0 to 1, over all days, as of `GET /v1/checks/{id}/availability`; null without runs. */
  readonly availability: number | null;
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
  failuresOutside: number;
  leastShare: number;
}

/** A check of the history, with the windows that concern it. */
export interface CheckOfHistory {
  readonly id: string;
  readonly windows: readonly KnownWindow[];
}

/** A service whose history is shown. */
export interface ServiceOfHistory {
  readonly rule: FailureRuleOf;
  /** Without heartbeats. */
  readonly checks: readonly CheckOfHistory[];
  readonly windows: readonly KnownWindow[];
  readonly incidents: readonly PublicIncident[];
}

/**
 * The history of each of the services, in their order; null where nothing was measured.
 *
 * @param nowMs a time on the last day
 */
export async function readHistories(
  sql: Sql,
  availability: Pick<Availability, 'days' | 'runsWithin'>,
  {
    accountId,
    services,
    nowMs,
  }: {
    readonly accountId: string;
    readonly services: readonly ServiceOfHistory[];
    readonly nowMs: number;
  },
): Promise<readonly (ServiceHistory | null)[]> {
  const counts = services.map(() => Array.from({ length: HISTORY_DAYS }, emptyDay));
  const users = new Map<CheckOfHistory['id'], { check: CheckOfHistory; days: DayCounts[][] }>();
  for (const [index, { checks }] of services.entries()) {
    for (const check of checks) {
      const user = users.get(check.id) ?? { check, days: [] };
      user.days.push(counts[index] ?? []);
      users.set(check.id, user);
    }
  }
  const all = [...users.values()];
  for (let at = 0; at < all.length; at += CHECKS_AT_ONCE) {
    const batch = all.slice(at, at + CHECKS_AT_ONCE);
    const checkIds = batch.map(({ check }) => check.id);
    const days = await availability.days(sql, { accountId, checkIds, days: HISTORY_DAYS });
    const spans = batch.flatMap(({ check }) => failedHours(check, days.get(check.id) ?? []));
    const within = await availability.runsWithin(sql, { accountId, spans });
    for (const { check, days: ofServices } of batch) {
      for (const [index, day] of (days.get(check.id) ?? []).entries()) {
        const maintained = within.get(check.id)?.get(day.startMs) ?? { runs: 0, failures: 0 };
        for (const ofService of ofServices) add(ofService[index], day, maintained);
      }
    }
  }
  const lastDayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  return services.map((service, index) => historyOf(service, counts[index] ?? [], lastDayMs));
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

/** The hours of maintenance on days with failures: only these may have to be left out. */
function failedHours(
  { id, windows }: CheckOfHistory,
  days: readonly IntervalWithMissed[],
): readonly CheckSpan[] {
  if (windows.length === 0) return [];
  return days
    .filter(({ failures }) => failures > 0)
    .flatMap(({ startMs }) =>
      hoursOnDay(windows, startMs).map((span) => ({ checkId: id, ...span })),
    );
}

function add(
  into: DayCounts | undefined,
  day: IntervalWithMissed,
  maintained: { readonly runs: number; readonly failures: number },
): void {
  if (into === undefined) return;
  into.runs += day.runs;
  into.failures += day.failures;
  into.degraded += day.degraded;
  into.missed += day.missed;
  const runs = day.runs - maintained.runs;
  const failures = day.failures - maintained.failures;
  if (runs === 0) return;
  into.runsOutside += runs;
  into.failuresOutside += failures;
  into.leastShare = Math.min(into.leastShare, failures / runs);
}

function historyOf(
  service: ServiceOfHistory,
  counts: readonly DayCounts[],
  lastDayMs: number,
): ServiceHistory | null {
  if (counts.every(({ runs, missed }) => runs === 0 && missed === 0)) return null;
  const runs = counts.reduce((sum, day) => sum + day.runs, 0);
  const failures = counts.reduce((sum, day) => sum + day.failures, 0);
  const firstDayMs = lastDayMs - (counts.length - 1) * DAY_MS;
  return {
    availability: runs === 0 ? null : (runs - failures) / runs,
    days: counts.map((day, index) => dayOf(service, day, firstDayMs + index * DAY_MS)),
  };
}

function dayOf(
  { rule, windows, incidents }: ServiceOfHistory,
  counts: DayCounts,
  dayMs: number,
): DayOnPage {
  const open = incidents.filter(
    ({ startedAt, resolvedAt }) =>
      +startedAt < dayMs + DAY_MS && (resolvedAt === null || +resolvedAt >= dayMs),
  );
  const active = windows.filter((window) => isOnDay(window, dayMs));
  const byRuns = conditionOfDay(rule.failureRule, {
    runs: counts.runsOutside,
    failures: counts.failuresOutside,
    degraded: counts.degraded,
    leastShare: counts.leastShare,
  });
  const byIncidents = stateUnder(open.map(({ severity }) => severity));
  const { runs, failures, degraded, missed } = counts;
  return {
    day: new Date(dayMs).toISOString().slice(0, 10),
    runs,
    failures,
    degraded,
    missed,
    condition: worstCondition([
      byRuns,
      byIncidents,
      ...(active.length > 0 ? (['MAINTENANCE'] as const) : []),
    ]),
    incidents: open.map(({ id, name }) => ({ id, name })),
    maintenance: [...new Set(active.map(({ name }) => name))].slice(0, MAX_NAMES),
  };
}
