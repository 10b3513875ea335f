import fc from 'fast-check';
import { REPEAT_UNITS, type Recurrence } from '../../../src/model/schedule/recurrence.ts';

export const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Recurrences that begin late in a month, and are shorter or longer than their periods. */
export const recurrences: fc.Arbitrary<Recurrence> = fc
  .record({
    startsAtMs: fc
      .record({
        month: fc.integer({ min: 0, max: 60 }),
        day: fc.oneof(fc.integer({ min: 1, max: 31 }), fc.integer({ min: 28, max: 31 })),
        timeMs: fc.oneof(fc.constant(0), fc.nat(DAY_MS - 1)),
      })
      .map(({ month, day, timeMs }) => Date.UTC(2023, month, day) + timeMs),
    durationMs: fc.oneof(fc.integer({ min: 1, max: 48 * HOUR_MS }), fc.nat(70 * DAY_MS)),
    repeatUnit: fc.constantFrom(...REPEAT_UNITS),
    repeatInterval: fc.option(fc.integer({ min: 1, max: 14 })),
    repeatsForMs: fc.option(
      fc.oneof(
        fc.integer({ min: 1, max: 600 * DAY_MS }),
        fc.integer({ min: 1, max: 40 }).map((days) => days * DAY_MS),
      ),
    ),
  })
  .map(({ startsAtMs, durationMs, repeatUnit, repeatInterval, repeatsForMs }) => ({
    startsAtMs,
    endsAtMs: startsAtMs + durationMs,
    repeatUnit,
    repeatInterval,
    repeatEndsAtMs: repeatsForMs === null ? null : startsAtMs + repeatsForMs,
  }));

/** The starts of the occurrences until the instant, by a walk over all days since the first one. */
export function naiveStarts(recurrence: Recurrence, untilMs: number): readonly number[] {
  const { startsAtMs, repeatUnit, repeatInterval, repeatEndsAtMs } = recurrence;
  if (repeatInterval === null) return [startsAtMs];
  const timeMs = startsAtMs % DAY_MS;
  const firstDayMs = startsAtMs - timeMs;
  const firstDate = new Date(firstDayMs).getUTCDate();
  const starts: number[] = [];
  let [days, months] = [0, 0];
  for (let dayMs = firstDayMs; dayMs + timeMs <= untilMs; dayMs += DAY_MS) {
    const date = new Date(dayMs).getUTCDate();
    if (days > 0 && date === 1) months += 1;
    const isLastOfMonth = new Date(dayMs + DAY_MS).getUTCDate() === 1;
    const isItsDay = date === firstDate || (isLastOfMonth && date < firstDate);
    const begins =
      repeatUnit === 'MONTH'
        ? isItsDay && months % repeatInterval === 0
        : days % (repeatInterval * (repeatUnit === 'WEEK' ? 7 : 1)) === 0;
    const isEnded = repeatEndsAtMs !== null && dayMs + timeMs >= repeatEndsAtMs;
    if (begins && !isEnded) starts.push(dayMs + timeMs);
    days += 1;
  }
  return starts;
}
