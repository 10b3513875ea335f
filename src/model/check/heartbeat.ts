import { z } from 'zod';
import { logicalIdField } from '../logical-id.ts';
import { type Check, checkTypeField, commonFields } from './check.ts';

export const HEARTBEAT_UNITS = ['DAYS', 'HOURS', 'MINUTES', 'SECONDS'] as const;
export type HeartbeatUnit = (typeof HEARTBEAT_UNITS)[number];

const UNIT_MS: Readonly<Record<HeartbeatUnit, number>> = {
  DAYS: 86_400_000,
  HOURS: 3_600_000,
  MINUTES: 60_000,
  SECONDS: 1000,
};

/** src/service/README.md, "Heartbeats". */
const MIN_PERIOD_MS = 30_000;
const MAX_MS = 365 * UNIT_MS.DAYS;
const MAX_SECONDS = MAX_MS / UNIT_MS.SECONDS;

/** The fields of `heartbeat`, without the rules for an amount and its unit together. */
export const rhythmFields = {
  period: z
    .int()
    .min(1)
    .max(MAX_SECONDS)
    .describe('The time between expected pings, from 30 seconds to 365 days.'),
  periodUnit: z.enum(HEARTBEAT_UNITS).describe('The unit of `period`.'),
  grace: z.int().min(0).max(MAX_SECONDS).describe('How late a ping may be, from 0 to 365 days.'),
  graceUnit: z.enum(HEARTBEAT_UNITS).describe('The unit of `grace`.'),
};

type RhythmInput = z.output<z.ZodObject<typeof rhythmFields>>;

/** Validates amounts with their units; the fields reject amounts that no unit allows. */
function limits(given: RhythmInput, context: z.RefinementCtx): void {
  const { periodMs, graceMs } = rhythmOf(given);
  const { period, grace } = given;
  if (period >= 1 && period <= MAX_SECONDS && (periodMs < MIN_PERIOD_MS || periodMs > MAX_MS)) {
    const message = 'must be from 30 seconds to 365 days, in its unit';
    context.addIssue({ code: 'custom', path: ['period'], message });
  }
  if (grace <= MAX_SECONDS && graceMs > MAX_MS) {
    const message = 'must be from 0 to 365 days, in its unit';
    context.addIssue({ code: 'custom', path: ['grace'], message });
  }
}

/**
 * The writable fields of a heartbeat check, which is passive: it has no locations and no schedule.
 */
export const heartbeatFields = {
  name: commonFields.name,
  activated: commonFields.activated.describe('Whether a missing ping makes the check fail.'),
  muted: commonFields.muted,
  tags: commonFields.tags,
  alertSettings: commonFields.alertSettings,
  useGlobalAlertSettings: commonFields.useGlobalAlertSettings,
  groupId: commonFields.groupId,
  alertChannelSubscriptions: commonFields.alertChannelSubscriptions,
  triggerIncident: commonFields.triggerIncident,
  description: commonFields.description,
  logicalId: logicalIdField,
  heartbeat: z
    .strictObject(rhythmFields)
    .superRefine(limits)
    .describe('How often pings are expected, and how late they may be.'),
};

/**
 * A check that waits to be pinged (src/service/README.md, "Heartbeats"), as the API takes it,
 * without its id.
 */
export const heartbeatCheckSchema = z.strictObject({
  checkType: checkTypeField('HEARTBEAT'),
  ...heartbeatFields,
});

/** With its id and every default filled in. */
export type HeartbeatCheck = z.output<typeof heartbeatCheckSchema> & { readonly id: string };

/** Any check under /v1/checks. */
export type AnyCheck = Check | HeartbeatCheck;

/** How often a heartbeat is expected, and how late it may be. Milliseconds. */
export interface Rhythm {
  /** 30 s to 365 d. */
  readonly periodMs: number;
  /** 0 to 365 d. */
  readonly graceMs: number;
}

export function rhythmOf({ period, periodUnit, grace, graceUnit }: RhythmInput): Rhythm {
  return { periodMs: period * UNIT_MS[periodUnit], graceMs: grace * UNIT_MS[graceUnit] };
}

/** For example `1 day 12 hours`; milliseconds are left out. */
export function periodText(durationMs: number): string {
  const parts: string[] = [];
  let restMs = durationMs;
  for (const unit of HEARTBEAT_UNITS) {
    const amount = Math.floor(restMs / UNIT_MS[unit]);
    restMs -= amount * UNIT_MS[unit];
    const word = unit.toLowerCase().slice(0, -1);
    if (amount > 0) parts.push(`${amount} ${word}${amount === 1 ? '' : 's'}`);
  }
  return parts.length === 0 ? '0 seconds' : parts.join(' ');
}
