import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import {
  type AlertSettings,
  alertRulesOf,
  wholeAlertSettings,
} from '../../model/alerting/alert-settings.ts';
import { CHECK_SHAPES } from '../../model/check/check.ts';
import { retryPlanOf } from '../../model/check/retry.ts';
import { offsetMsOf } from '../../model/schedule/frequency.ts';
import { HOUR_MS, MINUTE_MS } from '../../model/time-units.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { isActivated, privateLocationsOf, type Subject, tagsOf } from './subject.ts';

/** Where the value of a setting comes from. A value equal to the default counts as `default`. */
export type SettingSource = 'check' | 'group' | 'check and group' | 'account' | 'default';

export interface Setting {
  /** The name of the field in the API. */
  readonly name: string;
  /** The value in effect. */
  readonly value: unknown;
  /** The value for people. */
  readonly text: string;
  readonly source: SettingSource;
}

/** Fields that only the check itself decides, with their units. */
const OWN_FIELDS: Readonly<Record<string, string>> = {
  runParallel: '',
  shouldFail: '',
  degradedResponseTime: ' ms',
  maxResponseTime: ' ms',
  degradedPacketLossThreshold: ' %',
  maxPacketLossThreshold: ' %',
};
/** The API's value for an unlimited number of reminders. */
const ENDLESS_REMINDERS = 100_000;

/**
 * Returns the settings in effect for a check, and where each comes from (src/service/README.md, "Checks" and
 * "Alerts").
 */
export function effectiveSettings(subject: Subject): readonly Setting[] {
  const isHeartbeat = subject.check.checkType === 'HEARTBEAT';
  return [
    activated(subject),
    ...(isHeartbeat ? [rhythm(subject)] : runSettings(subject)),
    tags(subject),
    muted(subject),
    alerts(subject),
  ];
}

function runSettings(subject: Subject): readonly Setting[] {
  return [
    frequency(subject),
    ...privateLocations(subject),
    retries(subject),
    ...Object.entries(OWN_FIELDS).flatMap(([name, unit]) => ownSetting(subject, name, unit)),
  ];
}

function activated(subject: Subject): Setting {
  const value = isActivated(subject);
  const source = value ? 'default' : subject.check.activated ? 'group' : 'check';
  return { name: 'activated', value, text: textOf(value), source };
}

function muted({ check, group }: Subject): Setting {
  const value = check.muted || group?.muted === true;
  const source = check.muted ? 'check' : value ? 'group' : 'default';
  return { name: 'muted', value, text: textOf(value), source };
}

function tags(subject: Subject): Setting {
  const value = tagsOf(subject);
  const [own, ofGroup] = [subject.check.tags.length > 0, (subject.group?.tags ?? []).length > 0];
  const both = own && ofGroup ? 'check and group' : ofGroup ? 'group' : 'check';
  const source = value.length === 0 ? 'default' : both;
  return { name: 'tags', value, text: textOf(value), source };
}

function privateLocations(subject: Subject): readonly Setting[] {
  const { check, group } = subject;
  const value = privateLocationsOf(subject);
  const ofGroup = (group?.privateLocations ?? []).length > 0;
  const source = ofGroup ? 'group' : value.length > 0 ? 'check' : 'default';
  const own: Setting = { name: 'privateLocations', value, text: textOf(value), source };
  const open = check.locations ?? [];
  if (open.length === 0) return [own];
  const text = `${textOf(open)} (no agent serves public locations)`;
  return [own, { name: 'locations', value: open, text, source: 'check' }];
}

function frequency({ check }: Subject): Setting {
  const { frequency: minutes = 10, frequencyOffset } = check;
  if (minutes === 0) {
    const text = `every ${frequencyOffset ?? 10} s`;
    return { name: 'frequency', value: minutes, text, source: 'check' };
  }
  const shift =
    frequencyOffset === undefined
      ? 'shifted by its id'
      : `shifted by ${shiftText(offsetMsOf(minutes, frequencyOffset))}`;
  const isDefault =
    frequencyOffset === undefined && isDefaultOf(check.checkType, 'frequency', minutes);
  const text = `every ${minutes} min, ${shift}`;
  return { name: 'frequency', value: minutes, text, source: isDefault ? 'default' : 'check' };
}

/** Formats an offset, which is a multiple of 6 s or of an hour. */
function shiftText(shiftMs: number): string {
  const hours = shiftMs / HOUR_MS;
  return Number.isInteger(hours) && hours > 0 ? `${hours} h` : `${shiftMs / 1000} s`;
}

function rhythm({ check }: Subject): Setting {
  const { heartbeat: given } = check;
  const { period, periodUnit, grace, graceUnit } = given as Readonly<Record<string, unknown>>;
  const text = `a ping every ${period} ${unitText(periodUnit)}, up to ${grace} ${unitText(graceUnit)} late`;
  const value = { period, periodUnit, grace, graceUnit };
  return { name: 'heartbeat', value, text, source: 'check' };
}

const UNITS: Readonly<Record<string, string>> = {
  DAYS: 'd',
  HOURS: 'h',
  MINUTES: 'min',
  SECONDS: 's',
};

/** A newer service may have more units. */
function unitText(unit: unknown): string {
  return UNITS[String(unit)] ?? String(unit);
}

function retries({ check }: Subject): Setting {
  const { retryStrategy, doubleCheck } = check;
  if (retryStrategy === undefined) {
    const text = doubleCheck
      ? 'one retry at once, in another location if there is one'
      : 'no retries';
    const source = doubleCheck ? 'default' : 'check';
    return { name: 'doubleCheck', value: doubleCheck, text, source };
  }
  const plan = retryPlanOf(retryStrategy, doubleCheck);
  const where = plan.sameRegion ? 'in the same location' : 'in another location';
  const on = plan.onlyOnNetworkError ? ', only without a status code' : '';
  const text =
    plan.maxRetries === 0
      ? 'no retries'
      : `up to ${countText(plan.maxRetries, 'retry', 'retries')}, ${plan.type} from ${plan.baseMs / 1000} s, within ${plan.maxDurationMs / 1000} s, ${where}${on}`;
  return { name: 'retryStrategy', value: retryStrategy, text, source: 'check' };
}

/** The alert settings in effect: those of the group if it has any, else those of the check or the account. */
function alerts({ check, group, alertSettings }: Subject): Setting {
  const { own, group: ofGroup, account } = alertSettings;
  const decides = ofGroup === null ? check : group;
  const usesAccount = decides?.useGlobalAlertSettings === true;
  const value = usesAccount ? account : (ofGroup ?? own);
  const source = usesAccount ? 'account' : ofGroup === null ? 'check' : 'group';
  const isDefault = isDeepStrictEqual(value, wholeAlertSettings(null));
  return {
    name: 'alertSettings',
    value,
    text: alertsText(value),
    source: isDefault ? 'default' : source,
  };
}

function alertsText(settings: AlertSettings): string {
  const { escalation, reminders, parallelPercent } = alertRulesOf(settings);
  const every = `every ${reminders.everyMs / MINUTE_MS} min`;
  const parts = [
    escalation.by === 'runs'
      ? `after ${countText(escalation.runs, 'failed run')}`
      : `after failing for ${escalation.forMs / MINUTE_MS} min`,
    reminders.amount === 0
      ? 'no reminders'
      : reminders.amount === ENDLESS_REMINDERS
        ? `a reminder ${every}`
        : `${countText(reminders.amount, 'reminder')}, ${every}`,
    ...(parallelPercent === null ? [] : [`if ${parallelPercent} % of its locations fail`]),
  ];
  return parts.join('; ');
}

/** None if the type of the check has no such field. */
function ownSetting({ check }: Subject, name: string, unit: string): readonly Setting[] {
  const value = check[name];
  if (value === undefined) return [];
  const source = isDefaultOf(check.checkType, name, value) ? 'default' : 'check';
  const text = typeof value === 'number' ? `${value}${unit}` : textOf(value);
  return [{ name, value, text, source }];
}

function isDefaultOf(checkType: string, field: string, value: unknown): boolean {
  const shapes: Readonly<Record<string, { readonly shape: object }>> = CHECK_SHAPES;
  const fields = shapes[checkType]?.shape as Readonly<Record<string, z.ZodType>> | undefined;
  const standard = fields?.[field]?.safeParse(undefined);
  return standard?.success === true && isDeepStrictEqual(value, standard.data);
}

function textOf(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return String(value);
}
