import { z } from 'zod';

const MINUTE_MS = 60_000;

/**
 * When trouble notifies, as checks, groups and accounts say it (src/service/README.md, "Alerts").
 */
export const alertSettingsSchema = z.strictObject({
  escalationType: z
    .enum(['RUN_BASED', 'TIME_BASED'])
    .default('RUN_BASED')
    .describe('Whether runs are counted or minutes, before trouble notifies.'),
  runBasedEscalation: z
    .strictObject({
      failedRunThreshold: z
        .int()
        .min(1)
        .max(5)
        .default(1)
        .describe('So many runs in a row fail (or are degraded) before it notifies.'),
    })
    .optional()
    .describe('What counts where `escalationType` is `RUN_BASED`.'),
  timeBasedEscalation: z
    .strictObject({
      minutesFailingThreshold: z
        .literal([5, 10, 15, 30])
        .default(5)
        .describe('For so many minutes it fails (or is degraded) before it notifies.'),
    })
    .optional()
    .describe('What counts where `escalationType` is `TIME_BASED`.'),
  reminders: z
    .strictObject({
      amount: z
        .literal([0, 1, 2, 3, 4, 5, 100_000])
        .default(0)
        .describe('How often a notice is repeated while the trouble lasts; 100000 for ever.'),
      interval: z
        .literal([1, 2, 3, 4, 5, 10, 15, 30])
        .default(5)
        .describe('Minutes from one reminder to the next.'),
    })
    .optional()
    .describe('Notices that repeat, until the check recovers.'),
  parallelRunFailureThreshold: z
    .strictObject({
      enabled: z.boolean().default(false).describe('Whether the percentage counts.'),
      percentage: z
        .number()
        .min(10)
        .max(100)
        .default(10)
        .describe('The check fails only where so many percent of its locations fail, or more.'),
    })
    .optional()
    .describe('For checks that run in two locations or more in parallel.'),
});
export type AlertSettings = z.output<typeof alertSettingsSchema>;

/** Settings with all defaults filled in. */
export interface AlertRules {
  readonly escalation:
    | { readonly by: 'runs'; readonly runs: number }
    | { readonly by: 'time'; readonly forMs: number };
  readonly reminders: { readonly amount: number; readonly everyMs: number };
  /** null: one failing location is enough. */
  readonly parallelPercent: number | null;
}

/** @param settings null for the defaults */
export function alertRulesOf(settings: AlertSettings | null): AlertRules {
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
  };
}

/** The alert settings that may apply to a check. null: none are set. */
export interface AlertSettingsSources {
  readonly own: AlertSettings | null;
  readonly ownUsesGlobal: boolean;
  readonly group: AlertSettings | null;
  readonly groupUsesGlobal: boolean;
  readonly account: AlertSettings | null;
}

/**
 * The settings that apply to a check (src/service/README.md, "Alerts": the group's before the
 * check's own, those before the account's). A group with settings decides for its checks: its own
 * settings apply or, where it uses the global ones, the account's. Without a group, or where the
 * group has no settings, the check decides in the same way.
 */
export function settingsInForce(sources: AlertSettingsSources): AlertSettings | null {
  if (sources.group !== null) return sources.groupUsesGlobal ? sources.account : sources.group;
  return sources.ownUsesGlobal ? sources.account : sources.own;
}

/** The settings given, completed with the defaults; null gives only the defaults. */
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
