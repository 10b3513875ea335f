import type { components } from '../../api/openapi.d.ts';

export type Window = components['schemas']['MaintenanceWindow'];

/** One occurrence of a window. */
export interface Occurrence {
  readonly window: Window;
  readonly fromMs: number;
  readonly toMs: number;
}

const DAY_MS = 86_400_000;
/** The most occurrences of a window in the range that is shown: a daily one has at most 42 in a month. */
const MAX_OCCURRENCES = 400;

/** The start of an occurrence, by the rules of the service: in UTC, and on the last day of shorter months. */
function startOf({ startsAt, repeatUnit, repeatInterval }: Window, number: number): number {
  const firstMs = Date.parse(startsAt);
  const units = number * (repeatInterval ?? 0);
  if (repeatUnit === 'DAY') return firstMs + units * DAY_MS;
  if (repeatUnit === 'WEEK') return firstMs + units * 7 * DAY_MS;
  const first = new Date(firstMs);
  const [year, month] = [first.getUTCFullYear(), first.getUTCMonth() + units];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(first.getUTCDate(), lastDay)) + (firstMs % DAY_MS);
}

/** The number of an occurrence that begins before the instant, or 0. */
function numberBefore(window: Window, instantMs: number): number {
  const { startsAt, repeatUnit, repeatInterval } = window;
  const days = { DAY: 1, WEEK: 7, MONTH: 31 }[repeatUnit] * (repeatInterval ?? 1);
  return Math.max(0, Math.floor((instantMs - Date.parse(startsAt)) / (days * DAY_MS)) - 1);
}

/** The occurrences between the instants, the earliest first. */
export function occurrencesIn(
  windows: readonly Window[],
  fromMs: number,
  toMs: number,
): readonly Occurrence[] {
  return windows
    .flatMap((window) => occurrencesOf(window, fromMs, toMs))
    .sort((one, other) => one.fromMs - other.fromMs || one.window.id - other.window.id);
}

function occurrencesOf(window: Window, fromMs: number, toMs: number): readonly Occurrence[] {
  const lengthMs = Date.parse(window.endsAt) - Date.parse(window.startsAt);
  const untilMs =
    window.repeatEndsAt === null ? Number.POSITIVE_INFINITY : Date.parse(window.repeatEndsAt);
  const found: Occurrence[] = [];
  let number = window.repeatInterval === null ? 0 : numberBefore(window, fromMs - lengthMs);
  while (found.length < MAX_OCCURRENCES) {
    const startMs = startOf(window, number);
    if (startMs >= toMs || startMs >= untilMs || Number.isNaN(startMs)) break;
    if (startMs + lengthMs > fromMs) {
      found.push({ window, fromMs: startMs, toMs: startMs + lengthMs });
    }
    if (window.repeatInterval === null) break;
    number += 1;
  }
  return found;
}

/** The occurrences that overlap with another one. */
export function overlapping(occurrences: readonly Occurrence[]): ReadonlySet<Occurrence> {
  const found = new Set<Occurrence>();
  let latest: Occurrence | null = null;
  for (const occurrence of occurrences) {
    if (latest !== null && occurrence.fromMs < latest.toMs) {
      found.add(latest);
      found.add(occurrence);
    }
    if (latest === null || occurrence.toMs > latest.toMs) latest = occurrence;
  }
  return found;
}

/** `every 2 weeks until 1 Mar 2027` */
export function repetitionText({ repeatUnit, repeatInterval, repeatEndsAt }: Window): string {
  if (repeatInterval === null) return 'once';
  const unit = repeatUnit.toLowerCase();
  const every = repeatInterval === 1 ? `every ${unit}` : `every ${repeatInterval} ${unit}s`;
  if (repeatEndsAt === null) return every;
  const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
  return `${every} until ${date.format(new Date(repeatEndsAt))}`;
}

/** The effect of the window, in words. */
export function coverText(window: Window): string {
  const { pauseAllChecks, tags, silenceAllAlerts, silenceAlertsTags } = window;
  const parts = [
    pauseAllChecks
      ? 'pauses all checks'
      : tags.length > 0
        ? `pauses checks tagged ${tags.join(', ')}`
        : null,
    silenceAllAlerts
      ? 'silences all alerts'
      : silenceAlertsTags.length > 0
        ? `silences alerts of checks tagged ${silenceAlertsTags.join(', ')}`
        : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'does nothing: it names no checks' : parts.join(', ');
}
