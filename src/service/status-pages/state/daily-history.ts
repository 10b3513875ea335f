import { createHash } from 'node:crypto';
import { type ServiceCondition, stateUnder } from '../../../model/incident/status-page-incident.ts';
import { DAY_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Sql } from '../../database/store.ts';
import type { PublicIncident } from '../../incidents/shared.sql.ts';
import { worstCondition } from './condition.ts';
import { conditionOfDay } from './day-condition.ts';
import {
  countDays,
  type DayCounts,
  type DaysReader,
  type MeasuredOfHistory,
} from './day-counts.ts';
import type { KnownWindow } from './maintenance.ts';

/** Days of bars, the current one included. */
export const HISTORY_DAYS = 90;
/** The names of windows on one day. */
const MAX_NAMES = 20;
/**
 * How long past days are cached: only results that arrive late change them. The current day is always read.
 */
const PAST_DAYS_MS = 60_000;
/** Bounds the memory: about 5 KiB for each service. */
const MAX_REMEMBERED_SERVICES = 5_000;

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
  /** About how long failures, degraded runs and missed slots took: of the check with the most. */
  readonly failingMs: number;
  readonly degradedMs: number;
  readonly missedMs: number;
  readonly condition: ServiceCondition;
  /** Incidents that were open on the day, the newest first. */
  readonly incidents: readonly { readonly id: string; readonly name: string }[];
  /** The names of the windows that were active on the day, at most MAX_NAMES. */
  readonly maintenance: readonly string[];
}

/** A service whose history is shown. */
export interface ServiceOfHistory extends MeasuredOfHistory {
  readonly id: string;
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
  /** The history of each of the services, by id. Services without measurements are missing. */
  read(sql: Sql, query: HistoryQuery): Promise<ReadonlyMap<string, ServiceHistory>>;
}

/** The counts of the days before today, of each service of a page. */
interface PastDays {
  readonly fingerprint: string;
  readonly readAtMs: number;
  readonly counts: readonly (readonly DayCounts[])[];
}

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

/** A digest of everything that past days depend on, except the runs. */
function fingerprintOf({ services, windowsVersion }: HistoryQuery, todayMs: number): string {
  const measured = services.map(({ id, rule, checks }) => [
    id,
    rule.failureRule,
    rule.failureLocations,
    checks.map((check) => [check.id, check.locations, check.runMs, check.tags]),
  ]);
  const text = JSON.stringify([todayMs, windowsVersion, measured]);
  return createHash('sha256').update(text).digest('base64');
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
    days: counts.map((day, index) => dayOf(service, day, firstDayMs + index * DAY_MS)),
  };
}

function dayOf(
  { rule, windows, incidents }: ServiceOfHistory,
  counts: DayCounts,
  dayMs: number,
): DayOnPage {
  const { runsOutside, failuresOutside, leastShare, ...shown } = counts;
  const open = incidents.filter(
    ({ startedAt, resolvedAt }) =>
      +startedAt < dayMs + DAY_MS && (resolvedAt === null || +resolvedAt >= dayMs),
  );
  const active = windows.filter(({ hours }) => hours.has(dayMs));
  const byRuns = conditionOfDay(rule.failureRule, {
    runs: runsOutside,
    failures: failuresOutside,
    degraded: shown.degraded,
    leastShare,
  });
  const byIncidents = stateUnder(open.map(({ severity }) => severity));
  const byWindows = active.length > 0 ? (['MAINTENANCE'] as const) : [];
  return {
    day: new Date(dayMs).toISOString().slice(0, 10),
    ...shown,
    condition: worstCondition([byRuns, byIncidents, ...byWindows]),
    incidents: open.map(({ id, name }) => ({ id, name })),
    maintenance: [...new Set(active.map(({ name }) => name))].slice(0, MAX_NAMES),
  };
}
