import { z } from 'zod';
import { commonFields } from '../check/check.ts';
import { instantMsOf, instantSchema } from '../instant.ts';
import { logicalIdField } from '../logical-id.ts';
import type { Pause } from './pause.ts';
import { REPEAT_UNITS, type Recurrence } from './recurrence.ts';

/** A day (its start in UTC) or a full timestamp. */
const instant = instantSchema;
/** Keeps the dates of months within the range of `Date`. */
const MAX_REPEAT_INTERVAL = 10_000;

/**
 * The writable fields of a maintenance window: src/service/README.md, "Maintenance windows". The
 * rules between fields are in `windowProblems`.
 */
export const maintenanceWindowSchema = z.strictObject({
  name: z.string().min(1).max(200).describe('The name of the window.'),
  tags: commonFields.tags.describe(
    'Checks with one of these tags, or whose group has one, skip their slots during the window.',
  ),
  startsAt: instant.describe('The start of the first occurrence.'),
  endsAt: instant.describe('The end of the first occurrence, after startsAt.'),
  repeatUnit: z
    .enum(REPEAT_UNITS)
    .describe(
      'The unit of repeatInterval. In a month without the day of startsAt, the window starts on the last day.',
    ),
  repeatInterval: z
    .int()
    .min(1)
    .max(MAX_REPEAT_INTERVAL)
    .nullable()
    .default(null)
    .describe(
      'The number of units between the starts of two occurrences; null if the window does not repeat.',
    ),
  repeatEndsAt: instant
    .nullable()
    .default(null)
    .describe(
      'No occurrence starts at this time or later. It is after startsAt; null if the window repeats forever.',
    ),
  pauseAllChecks: z
    .boolean()
    .default(false)
    .describe('Whether all checks skip their slots, whatever their tags.'),
  silenceAlertsTags: commonFields.tags.describe(
    'Checks with one of these tags, or whose group has one, send no alerts during the window.',
  ),
  silenceAllAlerts: z
    .boolean()
    .default(false)
    .describe('Whether no check sends alerts, whatever their tags.'),
  logicalId: logicalIdField,
});
export type MaintenanceWindowFields = z.output<typeof maintenanceWindowSchema>;

/** A maintenance window with its times as epoch milliseconds. */
export interface MaintenanceWindow extends Recurrence {
  readonly name: string;
  readonly tags: readonly string[];
  readonly pauseAllChecks: boolean;
  readonly silenceAlertsTags: readonly string[];
  readonly silenceAllAlerts: boolean;
  readonly logicalId: string | null;
}

/** Builds a window from fields that fit the schema. */
export function maintenanceWindowOf({
  startsAt,
  endsAt,
  repeatEndsAt,
  ...fields
}: MaintenanceWindowFields): MaintenanceWindow {
  return { ...fields, ...windowTimesOf({ startsAt, endsAt, repeatEndsAt }) };
}

type WindowTimes = Pick<MaintenanceWindow, 'startsAtMs' | 'endsAtMs' | 'repeatEndsAtMs'>;

/** The times alone. */
export function windowTimesOf({
  startsAt,
  endsAt,
  repeatEndsAt,
}: Pick<MaintenanceWindowFields, 'startsAt' | 'endsAt' | 'repeatEndsAt'>): WindowTimes {
  return {
    startsAtMs: instantMsOf(startsAt) ?? 0,
    endsAtMs: instantMsOf(endsAt) ?? 0,
    repeatEndsAtMs: repeatEndsAt === null ? null : instantMsOf(repeatEndsAt),
  };
}

/** The fields as a response contains them, with full timestamps in UTC. */
export function fieldsOfWindow({
  startsAtMs,
  endsAtMs,
  repeatEndsAtMs,
  tags,
  silenceAlertsTags,
  ...fields
}: MaintenanceWindow): MaintenanceWindowFields {
  return {
    ...fields,
    tags: [...tags],
    silenceAlertsTags: [...silenceAlertsTags],
    startsAt: new Date(startsAtMs).toISOString(),
    endsAt: new Date(endsAtMs).toISOString(),
    repeatEndsAt: repeatEndsAtMs === null ? null : new Date(repeatEndsAtMs).toISOString(),
  };
}

/** Conflicts between the times of a window; `message` follows the name of the field. */
export function windowProblems({
  startsAtMs,
  endsAtMs,
  repeatEndsAtMs,
}: WindowTimes): readonly { readonly field: string; readonly message: string }[] {
  const message = 'must be after startsAt';
  const problems = [];
  if (endsAtMs <= startsAtMs) problems.push({ field: 'endsAt', message });
  if (repeatEndsAtMs !== null && repeatEndsAtMs <= startsAtMs) {
    problems.push({ field: 'repeatEndsAt', message });
  }
  return problems;
}

/** The pause for agents; null if it pauses nothing. */
export function pauseOf(window: MaintenanceWindow): Pause | null {
  const { startsAtMs, endsAtMs, repeatUnit, repeatInterval, repeatEndsAtMs } = window;
  if (!window.pauseAllChecks && window.tags.length === 0) return null;
  const tags = window.pauseAllChecks ? null : [...window.tags];
  return { startsAtMs, endsAtMs, repeatUnit, repeatInterval, repeatEndsAtMs, tags };
}

/**
 * The checks whose alerts it silences, and when, in the form of a pause; null if there are none.
 */
export function silenceOf(window: MaintenanceWindow): Pause | null {
  const { startsAtMs, endsAtMs, repeatUnit, repeatInterval, repeatEndsAtMs } = window;
  if (!window.silenceAllAlerts && window.silenceAlertsTags.length === 0) return null;
  const tags = window.silenceAllAlerts ? null : [...window.silenceAlertsTags];
  return { startsAtMs, endsAtMs, repeatUnit, repeatInterval, repeatEndsAtMs, tags };
}
