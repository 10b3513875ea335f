import { z } from 'zod';

const SPACED = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})$/;
const isoDay = z.iso.date();
const isoTime = z.iso.datetime({ offset: true });
/** The last four-digit year, which databases and `Date` support. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Epoch milliseconds of an instant in one of these forms: `2026-01-31` (its start, UTC),
 * `2026-01-31 13:00:00` (UTC, src/service/README.md, "Status pages and incidents") or ISO 8601 with
 * an offset or Z. null for other texts, and before 1970 or after 9999.
 */
export function instantMsOf(text: string): number | null {
  const iso = text.replace(SPACED, '$1T$2Z');
  if (!isoDay.safeParse(iso).success && !isoTime.safeParse(iso).success) return null;
  const ms = Date.parse(iso);
  return ms >= 0 && ms <= LAST_MS ? ms : null;
}

/**
 * `YYYY-MM-DD HH:MM:SS` in UTC (src/service/README.md, "Status pages and incidents"), without
 * fractions of a second.
 */
export function spacedTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** An instant in a body. It stays a text; `instantMsOf` parses it. */
export const instantSchema = z
  .string()
  .max(40)
  .refine((text) => instantMsOf(text) !== null, {
    error:
      'must be a day such as 2026-01-31 or a time such as 2026-01-31 13:00:00 or 2026-01-31T13:00:00Z, from 1970 to 9999',
  })
  .meta({ pattern: '^\\d{4}-\\d{2}-\\d{2}([T ]\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-].+)?)?$' });
