import type { ServiceCondition } from '../../../model/incident/status-page-incident.ts';
import type { FailureRule } from '../../../model/status-page/status-page.ts';

/** The runs of a service on a day. */
export interface DayRuns {
  /** Outside of maintenance. */
  readonly runs: number;
  /** With the rule LOCATIONS: computed by `failedShareOf`. */
  readonly failures: number;
  readonly degraded: number;
  /** The least share of failures that one of its checks had, from 0 to 1; 0 if one of them had no runs. */
  readonly leastShare: number;
}

/** Shares of the runs of a day, from 0 to 1. */
const MAJOR_SHARE = 0.5;
const PARTIAL_SHARE = 0.05;
const DEGRADED_SHARE = 0.05;

/** The condition of a day according to its runs: UNKNOWN without runs, even if slots were missed. */
export function conditionOfDay(failureRule: FailureRule, day: DayRuns): ServiceCondition {
  if (day.runs === 0) return 'UNKNOWN';
  if (day.leastShare >= MAJOR_SHARE) return 'MAJOR_OUTAGE';
  const share = failureRule === 'ALL' ? day.leastShare : day.failures / day.runs;
  if (share >= PARTIAL_SHARE) return 'PARTIAL_OUTAGE';
  const isDegraded = day.failures > 0 || day.degraded / day.runs >= DEGRADED_SHARE;
  return isDegraded ? 'DEGRADED' : 'OPERATIONAL';
}
