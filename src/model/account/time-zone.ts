import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../time-units.ts';

const MAX_CHARS = 64;
/** A name of the IANA database: not an offset such as `+01:00`, which Intl also takes. */
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+)*$/;

export const timeZoneSchema = z
  .string()
  .max(MAX_CHARS)
  .refine(
    (name) => NAME.test(name) && isKnown(name),
    'is not a time zone of the IANA database, such as Europe/Berlin or UTC',
  );

/**
 * A time with its offset: `2026-01-31T13:00:00.000+01:00 (Europe/Berlin)`. For UTC, and for a zone
 * that this Node does not know, the text is ISO 8601 in UTC.
 */
export function zonedTime(epochMs: number, timeZone: string): string {
  const utc = new Date(epochMs).toISOString();
  if (timeZone === 'UTC' || !isKnown(timeZone)) return utc;
  const offsetMs = offsetMsOf(epochMs, timeZone);
  const local = new Date(epochMs + offsetMs).toISOString().slice(0, -1);
  return `${local}${offsetText(offsetMs)} (${timeZone})`;
}

/**
 * The next time after `afterMs` at which clocks in the zone show that full hour; epoch
 * milliseconds. If the clocks skip the hour, the result is later by as much as they are set
 * forward; if they repeat it, the result is the first of the two. A zone that this Node does not
 * know counts as UTC.
 *
 * @param hour 0 to 23
 */
export function nextHourInZone(afterMs: number, hour: number, timeZone: string): number {
  const offsetAt = (epochMs: number): number =>
    isKnown(timeZone) ? offsetMsOf(epochMs, timeZone) : 0;
  const localMs = afterMs + offsetAt(afterMs);
  const todayMs = Math.floor(localMs / DAY_MS) * DAY_MS + hour * HOUR_MS;
  const instantOf = (wallMs: number): number => {
    // No zone is a day ahead of UTC or behind it: a change of the clocks near that time is in
    // between.
    const [before, after] = [offsetAt(wallMs - DAY_MS), offsetAt(wallMs + DAY_MS)];
    const first = wallMs - Math.max(before, after);
    // If the clocks skip the time, neither offset leads to it: the smaller one gives a later time.
    return offsetAt(first) === Math.max(before, after) ? first : wallMs - Math.min(before, after);
  };
  const atMs = instantOf(todayMs);
  return atMs > afterMs ? atMs : instantOf(todayMs + DAY_MS);
}

function isKnown(timeZone: string): boolean {
  try {
    formatOf(timeZone);
    return true;
  } catch {
    return false;
  }
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
}

/** The offset of the zone from UTC at that time, in milliseconds; positive east of Greenwich. */
function offsetMsOf(epochMs: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(epochMs);
  const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  // GMT+05:30, with seconds in the 19th century, or GMT alone.
  const found = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(text);
  if (found === null) return 0;
  const [, sign, hours, minutes, seconds = 0] = found;
  const total = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return (sign === '-' ? -total : total) * 1_000;
}

function offsetText(offsetMs: number): string {
  const minutes = Math.round(Math.abs(offsetMs) / 60_000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offsetMs < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
