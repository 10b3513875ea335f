import { FREQUENCIES } from '../../../model/enums.ts';
import { SUB_MINUTE_OFFSETS } from '../../../model/schedule/frequency.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../model/time-units.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  y: 365 * DAY_MS,
};
const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d|w|y))+$/;
const PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d|w|y)/g;

/** Parses a duration of Go or Prometheus (`1m30s`) to milliseconds; null if it is invalid. */
export function durationMs(value: unknown): number | null {
  if (typeof value !== 'string' || value.length > 64 || !DURATION.test(value)) return null;
  let totalMs = 0;
  for (const [, amount = '', unit = ''] of value.matchAll(PART)) {
    totalMs += Number(amount) * (UNIT_MS[unit] ?? 0);
  }
  return totalMs;
}

export interface Schedule {
  readonly fields: { readonly frequency: number; readonly frequencyOffset?: number };
  readonly periodMs: number;
}

/**
 * Returns the nearest period that a check can have; of two equally near ones, the shorter.
 *
 * @param allowsSeconds whether the type of the check can run more often than once a minute
 */
export function nearestSchedule(periodMs: number, allowsSeconds: boolean): Schedule {
  const seconds = SUB_MINUTE_OFFSETS.map((offset) => ({
    fields: { frequency: 0, frequencyOffset: offset },
    periodMs: offset * SECOND_MS,
  }));
  const minutes = FREQUENCIES.filter((frequency) => frequency > 0).map((frequency) => ({
    fields: { frequency },
    periodMs: frequency * MINUTE_MS,
  }));
  // In ascending order, so that the first of the nearest is the shortest.
  const allowed: readonly Schedule[] = allowsSeconds ? [...seconds, ...minutes] : minutes;
  const distance = (schedule: Schedule): number => Math.abs(schedule.periodMs - periodMs);
  return allowed.reduce((nearest, next) => (distance(next) < distance(nearest) ? next : nearest));
}
