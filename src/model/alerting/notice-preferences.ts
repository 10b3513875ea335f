import { z } from 'zod';
import type { AlertType } from './alert.ts';
import { MONITORING_PROBLEMS, type MonitoringProblem } from './monitoring-problems.ts';

/** The fields of a channel that select its notices. */
export const preferences = {
  sendFailure: z.boolean().default(true).describe('Whether the channel is notified of failures.'),
  sendRecovery: z
    .boolean()
    .default(true)
    .describe('Whether the channel is notified when a failing or degraded check passes again.'),
  sendDegraded: z
    .boolean()
    .default(false)
    .describe('Whether the channel is notified of degraded checks.'),
  sendLocationSilent: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Whether the channel is notified of silent private locations; null: the same as `sendFailure`.',
    ),
  sendMonitoringProblems: z
    .array(z.enum(MONITORING_PROBLEMS))
    .max(MONITORING_PROBLEMS.length)
    .nullable()
    .default(null)
    .describe(
      'The problems of monitoring itself that the channel is notified of; null: all of them with `sendFailure`, otherwise none.',
    ),
  sslExpiry: z
    .boolean()
    .default(false)
    .describe('Whether the channel is notified of certificates that expire soon.'),
  sslExpiryThreshold: z
    .int()
    .min(1)
    .max(30)
    .default(30)
    .describe('How many days before a certificate expires the channel is notified, once.'),
};

const preferencesSchema = z.object(preferences);
type Preferences = Readonly<z.infer<typeof preferencesSchema>>;

/** The notices that a channel receives. */
export type NoticePreferences = Omit<Preferences, 'sendMonitoringProblems'>;

/** The fields that decide whether a channel receives notices of problems of monitoring itself. */
export type ProblemPreferences = Pick<Preferences, 'sendFailure' | 'sendMonitoringProblems'>;

const PREFERENCE_FOR: Readonly<
  Record<AlertType, 'sendFailure' | 'sendRecovery' | 'sendDegraded' | 'sslExpiry' | null>
> = {
  NO_ALERT: null,
  ALERT_FAILURE: 'sendFailure',
  ALERT_FAILURE_REMAIN: 'sendFailure',
  ALERT_FAILURE_DEGRADED: 'sendDegraded',
  ALERT_RECOVERY: 'sendRecovery',
  ALERT_DEGRADED: 'sendDegraded',
  ALERT_DEGRADED_REMAIN: 'sendDegraded',
  ALERT_DEGRADED_FAILURE: 'sendFailure',
  ALERT_DEGRADED_RECOVERY: 'sendRecovery',
  ALERT_SSL: 'sslExpiry',
};

/**
 * Whether a channel receives a notice, by its type. For a certificate, its remaining whole days
 * must not exceed the channel's threshold.
 */
export function wantsNotice(
  channel: NoticePreferences,
  notice: { readonly alertType: AlertType; readonly sslDaysRemaining: number | null },
): boolean {
  const preference = PREFERENCE_FOR[notice.alertType];
  if (preference === null || !channel[preference]) return false;
  if (notice.alertType !== 'ALERT_SSL') return true;
  return notice.sslDaysRemaining !== null && notice.sslDaysRemaining <= channel.sslExpiryThreshold;
}

/** Whether a channel receives the notice that a private location is silent. */
export function wantsSilence({ sendLocationSilent, sendFailure }: NoticePreferences): boolean {
  return sendLocationSilent ?? sendFailure;
}

/** Whether a channel receives the notice that a problem of monitoring itself has begun. */
export function wantsProblem(
  { sendMonitoringProblems, sendFailure }: ProblemPreferences,
  problem: MonitoringProblem,
): boolean {
  return sendMonitoringProblems?.includes(problem) ?? sendFailure;
}
