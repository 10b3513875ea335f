import { z } from 'zod';
import { MINUTE_MS } from '../time-units.ts';

/**
 * When checks send alerts: the settings of checks, groups and accounts (src/service/README.md,
 * "Alerts").
 */
export const alertSettingsSchema = z
  .strictObject({
    escalationType: z
      .enum(['RUN_BASED', 'TIME_BASED'])
      .default('RUN_BASED')
      .describe('Whether the number of runs or the time decides when an alert is sent.'),
    runBasedEscalation: z
      .strictObject({
        failedRunThreshold: z
          .int()
          .min(1)
          .max(5)
          .default(1)
          .describe('An alert is sent after this many consecutive failed (or degraded) runs.'),
      })
      .optional()
      .describe('The threshold if `escalationType` is `RUN_BASED`.'),
    timeBasedEscalation: z
      .strictObject({
        minutesFailingThreshold: z
          .literal([5, 10, 15, 30])
          .default(5)
          .describe(
            'An alert is sent after the check has been failing (or degraded) for this many minutes.',
          ),
      })
      .optional()
      .describe('The threshold if `escalationType` is `TIME_BASED`.'),
    reminders: z
      .strictObject({
        amount: z
          .literal([0, 1, 2, 3, 4, 5, 100_000])
          .default(0)
          .describe('The number of reminders while the problem lasts; 100000 for no limit.'),
        interval: z
          .literal([1, 2, 3, 4, 5, 10, 15, 30])
          .default(5)
          .describe('Minutes between reminders.'),
      })
      .optional()
      .describe('Reminders that repeat an alert until the check recovers.'),
    parallelRunFailureThreshold: z
      .strictObject({
        enabled: z.boolean().default(false).describe('Whether `percentage` applies.'),
        percentage: z
          .number()
          .min(10)
          .max(100)
          .default(10)
          .describe('The check fails only if at least this percentage of its locations fail.'),
      })
      .optional()
      .describe('For checks that run in two or more locations in parallel.'),
  })
  .meta({ title: 'AlertSettings' });
export type AlertSettings = z.output<typeof alertSettingsSchema>;

/** Minutes until an escalation: a day at most. */
const MAX_ESCALATION_MINUTES = 1440;
export const MAX_ESCALATION_CHANNELS = 20;

/** Where an unacknowledged alert goes (src/service/README.md, "Acknowledgement and escalation"). */
export const escalationStepSchema = z
  .strictObject({
    minutes: z
      .int()
      .min(1)
      .max(MAX_ESCALATION_MINUTES)
      .describe('Minutes from the alert without acknowledgement to the escalation.'),
    alertChannelIds: z
      .array(z.int().min(1))
      .min(1)
      .max(MAX_ESCALATION_CHANNELS)
      .describe('The channels that then get the alert, except those that were already notified.'),
  })
  .meta({ title: 'EscalationStep' });
export type EscalationStep = z.output<typeof escalationStepSchema>;

/** The alert settings of an account, for all of its checks. */
export const accountAlertSettingsSchema = z
  .strictObject({
    ...alertSettingsSchema.shape,
    escalationStep: escalationStepSchema
      .nullable()
      .default(null)
      .describe(
        'Where unacknowledged alerts of all checks go; null for nowhere. Also applies to checks and groups with alert settings of their own.',
      ),
  })
  .meta({ title: 'AccountAlertSettings' });
export type AccountAlertSettings = z.output<typeof accountAlertSettingsSchema>;

/** Settings with all defaults filled in. */
export interface AlertRules {
  readonly escalation:
    | { readonly by: 'runs'; readonly runs: number }
    | { readonly by: 'time'; readonly forMs: number };
  readonly reminders: { readonly amount: number; readonly everyMs: number };
  /** null: one failing location is enough. */
  readonly parallelPercent: number | null;
  /** How long an alert waits for an acknowledgement until it is escalated. Default: for ever. */
  readonly escalateAfterMs?: number;
}

/**
 * @param settings null for the defaults
 * @param step of the account; null for none
 */
export function alertRulesOf(
  settings: AlertSettings | null,
  step: Pick<EscalationStep, 'minutes'> | null = null,
): AlertRules {
  const given = settings ?? alertSettingsSchema.parse({});
  const { reminders, parallelRunFailureThreshold: parallel } = given;
  return {
    escalation:
      given.escalationType === 'RUN_BASED'
        ? { by: 'runs', runs: given.runBasedEscalation?.failedRunThreshold ?? 1 }
        : {
            by: 'time',
            forMs: (given.timeBasedEscalation?.minutesFailingThreshold ?? 5) * MINUTE_MS,
          },
    reminders: {
      amount: reminders?.amount ?? 0,
      everyMs: (reminders?.interval ?? 5) * MINUTE_MS,
    },
    parallelPercent: parallel?.enabled === true ? parallel.percentage : null,
    ...(step === null ? {} : { escalateAfterMs: step.minutes * MINUTE_MS }),
  };
}

/** The given settings, completed with the defaults; null: only the defaults. */
export function wholeAlertSettings(given: AlertSettings | null): AlertSettings {
  const settings = given ?? alertSettingsSchema.parse({});
  return {
    ...(settings.escalationType === 'RUN_BASED'
      ? { runBasedEscalation: { failedRunThreshold: 1 } }
      : { timeBasedEscalation: { minutesFailingThreshold: 5 } }),
    reminders: { amount: 0, interval: 5 },
    parallelRunFailureThreshold: { enabled: false, percentage: 10 },
    ...settings,
  };
}
