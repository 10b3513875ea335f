import { MONITORING_PROBLEM_ENDS, MONITORING_PROBLEMS } from './monitoring-problems.ts';

/** What an alert reports: src/service/README.md, "Alerts". */
export const ALERT_TYPES = [
  'NO_ALERT',
  'ALERT_FAILURE',
  'ALERT_FAILURE_REMAIN',
  'ALERT_FAILURE_DEGRADED',
  'ALERT_RECOVERY',
  'ALERT_DEGRADED',
  'ALERT_DEGRADED_REMAIN',
  'ALERT_DEGRADED_FAILURE',
  'ALERT_DEGRADED_RECOVERY',
  'ALERT_SSL',
] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

/**
 * What a notice reports: an alert of a check, its acknowledgement or the undoing of that, a private
 * location that is silent or no longer silent, or a problem of monitoring itself or its end.
 */
export const NOTICE_TYPES = [
  ...ALERT_TYPES,
  'ALERT_ACKNOWLEDGED',
  'ALERT_UNACKNOWLEDGED',
  'LOCATION_SILENT',
  'LOCATION_RECOVERY',
  ...MONITORING_PROBLEMS,
  ...MONITORING_PROBLEM_ENDS,
] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

/** The conditions of a check, best first. */
export const CONDITIONS = ['passing', 'degraded', 'failing'] as const;
export type Condition = (typeof CONDITIONS)[number];
export type UnhealthyCondition = Exclude<Condition, 'passing'>;

/**
 * The alert that a change from one condition to the next can cause: the table of
 * src/service/README.md, "Alerts".
 */
export const ALERT_OF_STEP = {
  passing: { passing: 'NO_ALERT', degraded: 'ALERT_DEGRADED', failing: 'ALERT_FAILURE' },
  degraded: {
    passing: 'ALERT_DEGRADED_RECOVERY',
    degraded: 'ALERT_DEGRADED_REMAIN',
    failing: 'ALERT_DEGRADED_FAILURE',
  },
  failing: {
    passing: 'ALERT_RECOVERY',
    degraded: 'ALERT_FAILURE_DEGRADED',
    failing: 'ALERT_FAILURE_REMAIN',
  },
} as const satisfies Record<Condition, Record<Condition, AlertType>>;

const FAILURE_NOTICES: readonly AlertType[] = [
  'ALERT_FAILURE',
  'ALERT_FAILURE_REMAIN',
  'ALERT_DEGRADED_FAILURE',
];

/** Whether an alert reports that the check fails. */
export function reportsFailure(alert: AlertType): boolean {
  return FAILURE_NOTICES.includes(alert);
}

export const RECOVERY_TYPES: readonly AlertType[] = ['ALERT_RECOVERY', 'ALERT_DEGRADED_RECOVERY'];

/** Whether an alert reports that a problem is over. */
export function reportsEnd(alert: AlertType): boolean {
  return RECOVERY_TYPES.includes(alert);
}

export function worseOf(one: Condition, other: Condition): Condition {
  return CONDITIONS.indexOf(one) > CONDITIONS.indexOf(other) ? one : other;
}
