import {
  type AlertRules,
  alertRulesOf,
  alertSettingsSchema,
  escalationStepSchema,
} from '../../model/alerting/alert-settings.ts';
import { settingsInForce } from '../../model/alerting/alert-settings-in-force.ts';
import type { ParallelLocations } from '../../model/alerting/location-verdicts.ts';
import { freshFor } from '../../model/alerting/verdict-freshness.ts';
import { sequenceIdOf } from '../../model/ids.ts';
import { slotRuleOf } from '../../model/schedule/slot-rule.ts';
import type { AlertSubject } from './states.sql.ts';

/** The locations of a check that runs in parallel; null if they rotate, or there is only one. */
export function parallelOf(subject: AlertSubject, rules: AlertRules): ParallelLocations | null {
  const { runsParallel, locations } = subject;
  if (!runsParallel || locations.length < 2) return null;
  return { locations, freshMs: freshnessMs(subject), percent: rules.parallelPercent };
}

/** How long the verdict of one of several locations is valid. */
export function freshnessMs({ checkId, frequency, frequencyOffset }: AlertSubject): number {
  return freshFor(slotRuleOf(checkId, frequency, frequencyOffset).periodMs);
}

/** Where locations rotate: how far behind the others a run may be and still count, in milliseconds; else 0. */
export function rotationLagMsOf(subject: AlertSubject): number {
  const { runsParallel, locations } = subject;
  return runsParallel || locations.length < 2 ? 0 : freshnessMs(subject);
}

/**
 * The settings in force. A heartbeat has no further runs that could fail: if runs are counted, the first is enough.
 */
export function rulesOf({ settings, escalationStep, checkType }: AlertSubject): AlertRules {
  const read = (stored: unknown) => alertSettingsSchema.safeParse(stored).data ?? null;
  const rules = alertRulesOf(
    settingsInForce({
      ...settings,
      own: read(settings.own),
      group: read(settings.group),
      account: read(settings.account),
    }),
    escalationStepSchema.safeParse(escalationStep).data ?? null,
  );
  if (checkType !== 'HEARTBEAT' || rules.escalation.by === 'time') return rules;
  return { ...rules, escalation: { by: 'runs', runs: 1 } };
}

/** The location that the slot belongs to: a retry may run in another location. */
export function parallelLocationOf(
  { checkId, locations }: AlertSubject,
  run: { readonly location: string; readonly slotMs: number; readonly sequenceId: string | null },
): string {
  const { location, slotMs, sequenceId } = run;
  if (sequenceId === null || sequenceIdOf(checkId, location, slotMs) === sequenceId) {
    return location;
  }
  return locations.find((slug) => sequenceIdOf(checkId, slug, slotMs) === sequenceId) ?? location;
}
