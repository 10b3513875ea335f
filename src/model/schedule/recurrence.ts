import { DAY_MS } from '../time-units.ts';
/** How a maintenance window repeats (src/service/README.md, "Maintenance windows"). */
export const REPEAT_UNITS = ['DAY', 'WEEK', 'MONTH'] as const;
export type RepeatUnit = (typeof REPEAT_UNITS)[number];

/** A span of time that occurs once or repeats, each occurrence as long as the first. All in UTC. */
export interface Recurrence {
  /** Epoch milliseconds of the first occurrence. */
  readonly startsAtMs: number;
  /** The end of the first occurrence; exclusive. */
  readonly endsAtMs: number;
  readonly repeatUnit: RepeatUnit;
  /** Units between the starts of two occurrences, 1 or more; null if there is only one. */
  readonly repeatInterval: number | null;
  /** No occurrence starts at this instant or later; null for never ending. */
  readonly repeatEndsAtMs: number | null;
}

/** A span from `fromMs` (inclusive) to `toMs` (exclusive); the state may last longer. */
export interface TimeSpan {
  /** Whether the span is inside an occurrence. */
  readonly isInside: boolean;
  readonly fromMs: number;
  readonly toMs: number;
}

const UNIT_DAYS = { DAY: 1, WEEK: 7 } as const;
/** The most days from a day of one month to the same day of the next. */
const LONGEST_MONTH_DAYS = 31;

/** Whether the instant is inside an occurrence. Constant time, however old the first one is. */
export function isWithin(recurrence: Recurrence, instantMs: number): boolean {
  return spanAt(recurrence, instantMs).isInside;
}

/** The span around the instant. */
export function spanAt(recurrence: Recurrence, instantMs: number): TimeSpan {
  const { startsAtMs, endsAtMs } = recurrence;
  // Where occurrences overlap, the last to start is the last to end.
  const number = Math.min(numberAt(recurrence, instantMs), lastNumber(recurrence));
  if (number < 0) {
    const toMs = lastNumber(recurrence) < 0 ? Number.POSITIVE_INFINITY : startsAtMs;
    return { isInside: false, fromMs: Number.NEGATIVE_INFINITY, toMs };
  }
  const fromMs = startOf(recurrence, number);
  const toMs = fromMs + Math.max(0, endsAtMs - startsAtMs);
  if (instantMs < toMs) return { isInside: true, fromMs, toMs };
  const isLast = number >= lastNumber(recurrence);
  const nextMs = isLast ? Number.POSITIVE_INFINITY : startOf(recurrence, number + 1);
  return { isInside: false, fromMs: toMs, toMs: nextMs };
}

/**
 * The end of the last occurrence in epoch milliseconds; Infinity if the recurrence never ends.
 */
export function overAt(recurrence: Recurrence): number {
  const last = lastNumber(recurrence);
  if (last < 0) return recurrence.startsAtMs;
  if (last === Number.POSITIVE_INFINITY) return last;
  return startOf(recurrence, last) + recurrence.endsAtMs - recurrence.startsAtMs;
}

/** The same times; as one long occurrence if each one lasts until the next one has begun. */
export function mergedRecurrence(recurrence: Recurrence): Recurrence {
  const { startsAtMs, endsAtMs, repeatUnit, repeatInterval } = recurrence;
  if (repeatInterval === null || lastNumber(recurrence) < 0) return recurrence;
  const days = repeatUnit === 'MONTH' ? LONGEST_MONTH_DAYS : UNIT_DAYS[repeatUnit];
  if (endsAtMs - startsAtMs < repeatInterval * days * DAY_MS) return recurrence;
  const once = { repeatInterval: null, repeatEndsAtMs: null };
  return { startsAtMs, endsAtMs: overAt(recurrence), repeatUnit, ...once };
}

/**
 * The index of the last occurrence that started by the instant, from 0; below 0 before the first.
 */
function numberAt(recurrence: Recurrence, instantMs: number): number {
  const { startsAtMs, repeatUnit, repeatInterval } = recurrence;
  if (instantMs < startsAtMs) return -1;
  if (repeatInterval === null) return 0;
  if (repeatUnit !== 'MONTH') {
    return Math.floor((instantMs - startsAtMs) / (repeatInterval * UNIT_DAYS[repeatUnit] * DAY_MS));
  }
  const months = monthOf(instantMs) - monthOf(startsAtMs);
  const number = Math.floor(months / repeatInterval);
  // In that month the occurrence may not have started yet.
  return startOf(recurrence, number) > instantMs ? number - 1 : number;
}

/** The index of the last occurrence; below 0 if there is none, Infinity if they never end. */
function lastNumber(recurrence: Recurrence): number {
  const { repeatInterval, repeatEndsAtMs } = recurrence;
  if (repeatInterval === null) return 0;
  if (repeatEndsAtMs === null) return Number.POSITIVE_INFINITY;
  const number = numberAt(recurrence, repeatEndsAtMs);
  return number >= 0 && startOf(recurrence, number) === repeatEndsAtMs ? number - 1 : number;
}

function startOf(recurrence: Recurrence, number: number): number {
  const { startsAtMs, repeatUnit, repeatInterval } = recurrence;
  const units = number * (repeatInterval ?? 0);
  if (units === 0) return startsAtMs;
  if (repeatUnit !== 'MONTH') return startsAtMs + units * UNIT_DAYS[repeatUnit] * DAY_MS;
  return monthsLater(startsAtMs, units);
}

/**
 * The same day and time; the last day of a month that lacks that day (src/service/README.md,
 * "Maintenance windows").
 */
function monthsLater(instantMs: number, months: number): number {
  const first = new Date(instantMs);
  const year = first.getUTCFullYear();
  const month = first.getUTCMonth() + months;
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const day = Math.min(first.getUTCDate(), lastDay);
  const laterMs = Date.UTC(year, month, day) + (instantMs % DAY_MS);
  // JavaScript has no later dates, so no occurrence follows.
  return Number.isNaN(laterMs) ? Number.POSITIVE_INFINITY : laterMs;
}

/** Months since the year 0. */
function monthOf(instantMs: number): number {
  const date = new Date(instantMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
