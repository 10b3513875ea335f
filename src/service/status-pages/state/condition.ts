import {
  type IncidentSeverity,
  type ServiceCondition,
  stateUnder,
} from '../../../model/incident/status-page-incident.ts';
import type { CheckState } from '../../../model/result/check-state.ts';
import type { FailureRule } from '../../../model/status-page/status-page.ts';

/** Best first. */
export const SERVICE_CONDITIONS: readonly ServiceCondition[] = [
  'OPERATIONAL',
  'UNKNOWN',
  'MAINTENANCE',
  'DEGRADED',
  'PARTIAL_OUTAGE',
  'MAJOR_OUTAGE',
];

/** The worst of the conditions; OPERATIONAL without any. */
export function worstCondition(conditions: readonly ServiceCondition[]): ServiceCondition {
  const worst = Math.max(0, ...conditions.map((each) => SERVICE_CONDITIONS.indexOf(each)));
  return SERVICE_CONDITIONS[worst] ?? 'OPERATIONAL';
}

/** A condition, and since when it holds. */
export interface TimedCondition {
  readonly condition: ServiceCondition;
  /** Epoch milliseconds; null if unknown, and of OPERATIONAL. */
  readonly sinceMs: number | null;
}

/** Returns the worse of two conditions; of equal ones, the one that began earlier. */
export function worse(one: TimedCondition, other: TimedCondition): TimedCondition {
  const order =
    SERVICE_CONDITIONS.indexOf(one.condition) - SERVICE_CONDITIONS.indexOf(other.condition);
  if (order !== 0) return order > 0 ? one : other;
  return { ...one, sinceMs: leastOf([one.sinceMs, other.sinceMs]) };
}

/** The facts about a check or heartbeat on which conditions depend. */
export interface MeasuringCheck {
  readonly isHeartbeat: boolean;
  readonly state: CheckState;
  /** Since when it is in this state; epoch milliseconds, null if unknown. */
  readonly sinceMs: number | null;
  /** The slot of the last run that judged the target; null before it. */
  readonly judgedAtMs: number | null;
  /** After this time without a run that judges the target, its state is unknown. */
  readonly staleAfterMs: number;
  /** How many locations it has. */
  readonly locations: number;
  /** The slots of the failed latest runs, one for each location; only used for the rule LOCATIONS. */
  readonly failedAtMs: readonly number[];
}

/** The condition of a service according to one check. */
export interface CheckCondition {
  readonly says: 'failing' | 'degraded' | 'passing' | 'unknown' | 'maintenance' | 'nothing';
  readonly sinceMs: number | null;
}

export interface FailureRuleOf {
  readonly failureRule: FailureRule;
  readonly failureLocations: number | null;
}

/** @param maintenanceSinceMs when the running maintenance of the check began; null without one */
export function conditionOfCheck(
  check: MeasuringCheck,
  rule: FailureRuleOf,
  {
    nowMs,
    maintenanceSinceMs,
  }: { readonly nowMs: number; readonly maintenanceSinceMs: number | null },
): CheckCondition {
  const { state, sinceMs, judgedAtMs, isHeartbeat } = check;
  if (state === 'paused') return { says: 'nothing', sinceMs };
  if (maintenanceSinceMs !== null) return { says: 'maintenance', sinceMs: maintenanceSinceMs };
  if (state === 'unknown') return { says: 'unknown', sinceMs };
  // The service itself judges heartbeats continuously, so their state never becomes stale.
  if (isHeartbeat) return { says: state, sinceMs };
  if (judgedAtMs === null || judgedAtMs < nowMs - check.staleAfterMs) {
    return { says: 'unknown', sinceMs: judgedAtMs };
  }
  if (rule.failureRule !== 'LOCATIONS') return { says: state, sinceMs };
  if (check.failedAtMs.length >= locationsNeeded(rule, check)) {
    return { says: 'failing', sinceMs: state === 'failing' ? sinceMs : leastOf(check.failedAtMs) };
  }
  return state === 'degraded' ? { says: state, sinceMs } : { says: 'passing', sinceMs: null };
}

/** In how many locations the check must fail; limited to the number of its locations. */
function locationsNeeded(
  { failureLocations }: FailureRuleOf,
  { locations }: Pick<MeasuringCheck, 'locations'>,
): number {
  return Math.min(failureLocations ?? 1, Math.max(1, locations));
}

/**
 * Returns the share of failed runs, from 0 to 1, that at least as many locations reach as the rule LOCATIONS
 * requires: an upper bound for the share in which they failed at the same time.
 *
 * @param ofLocations the runs of a check by location
 */
export function failedShareOf(
  rule: FailureRuleOf,
  check: Pick<MeasuringCheck, 'locations'>,
  ofLocations: readonly { readonly runs: number; readonly failures: number }[],
): number {
  const shares = ofLocations
    .filter(({ runs }) => runs > 0)
    .map(({ runs, failures }) => failures / runs)
    .toSorted((one, other) => other - one);
  return shares[locationsNeeded(rule, check) - 1] ?? 0;
}

/** The condition of a service according to its checks, of which there is at least one. */
export function conditionByChecks(
  failureRule: FailureRule,
  checks: readonly CheckCondition[],
): TimedCondition {
  const counted = checks.filter(({ says }) => says !== 'nothing');
  const which = (wanted: CheckCondition['says']): readonly (number | null)[] =>
    counted.filter(({ says }) => says === wanted).map(({ sinceMs }) => sinceMs);
  const failing = which('failing');
  if (failing.length > 0 && failing.length === counted.length) {
    return { condition: 'MAJOR_OUTAGE', sinceMs: greatestOf(failing) };
  }
  if (failing.length > 0 && failureRule !== 'ALL') {
    return { condition: 'PARTIAL_OUTAGE', sinceMs: leastOf(failing) };
  }
  const degraded = [...failing, ...which('degraded')];
  if (degraded.length > 0) return { condition: 'DEGRADED', sinceMs: leastOf(degraded) };
  const maintained = which('maintenance');
  if (maintained.length > 0) return { condition: 'MAINTENANCE', sinceMs: leastOf(maintained) };
  if (which('passing').length > 0) return { condition: 'OPERATIONAL', sinceMs: null };
  const unknown = counted.length > 0 ? which('unknown') : checks.map(({ sinceMs }) => sinceMs);
  return { condition: 'UNKNOWN', sinceMs: greatestOf(unknown) };
}

/** The condition of a service according to its open incidents. */
export function conditionByIncidents(
  incidents: readonly { readonly severity: IncidentSeverity; readonly startedAtMs: number }[],
): TimedCondition {
  const condition = stateUnder(incidents.map(({ severity }) => severity));
  const starts = incidents.filter(({ severity }) => stateUnder([severity]) === condition);
  return { condition, sinceMs: leastOf(starts.map(({ startedAtMs }) => startedAtMs)) };
}

function leastOf(times: readonly (number | null)[]): number | null {
  return pick(times, Math.min);
}

function greatestOf(times: readonly (number | null)[]): number | null {
  return pick(times, Math.max);
}

function pick(
  times: readonly (number | null)[],
  which: (one: number, other: number) => number,
): number | null {
  return times.reduce(
    (picked, time) => (picked === null || time === null ? (picked ?? time) : which(picked, time)),
    null,
  );
}
