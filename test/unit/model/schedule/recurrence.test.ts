import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isWithin,
  mergedRecurrence,
  overAt,
  REPEAT_UNITS,
  type Recurrence,
  spanAt,
} from '../../../../src/model/schedule/recurrence.ts';
import { caseCount } from '../../../support/nightly.ts';
import { DAY_MS, naiveStarts, recurrences } from '../../../support/samples/recurrences.ts';

const HOUR_MS = 3_600_000;
const at = (text: string): number => Date.parse(text.length === 10 ? `${text}T00:00Z` : text);

function recurrenceOf(fields: Partial<Recurrence>): Recurrence {
  const startsAtMs = at('2026-01-31T22:00Z');
  const endsAtMs = (fields.startsAtMs ?? startsAtMs) + 4 * HOUR_MS;
  const rest = { repeatUnit: 'DAY', repeatInterval: 1, repeatEndsAtMs: null } as const;
  return { startsAtMs, endsAtMs, ...rest, ...fields };
}

/** The days on which an occurrence begins in the months from January 2026 on. */
function beginnings(recurrence: Recurrence, days: number): readonly string[] {
  const begun: string[] = [];
  for (let ms = at('2026-01-01'); ms < at('2026-01-01') + days * DAY_MS; ms += HOUR_MS / 2) {
    const span = spanAt(recurrence, ms);
    if (span.isInside && span.fromMs === ms) begun.push(new Date(ms).toISOString().slice(0, 16));
  }
  return begun;
}

describe('a recurrence', () => {
  it('in months falls on the last day of a month that lacks its day, and on its own day afterwards', () => {
    expect(beginnings(recurrenceOf({ repeatUnit: 'MONTH' }), 160)).toEqual([
      '2026-01-31T22:00',
      '2026-02-28T22:00',
      '2026-03-31T22:00',
      '2026-04-30T22:00',
      '2026-05-31T22:00',
    ]);
  });

  it('in months falls on 29 February in leap years, and on the 28th in other years', () => {
    const yearly = recurrenceOf({
      startsAtMs: at('2024-02-29'),
      repeatUnit: 'MONTH',
      repeatInterval: 12,
    });
    const isOn = (day: string): boolean => isWithin(yearly, at(day));
    expect(isOn('2025-02-28')).toBe(true);
    expect(isOn('2025-03-01')).toBe(false);
    expect(isOn('2028-02-28')).toBe(false);
    expect(isOn('2028-02-29')).toBe(true);
    expect(isOn('2100-02-28')).toBe(true);
  });

  it('has the same length each time, also across the end of a month', () => {
    const monthly = recurrenceOf({ repeatUnit: 'MONTH' });
    expect(isWithin(monthly, at('2026-03-01T01:59Z'))).toBe(true);
    expect(isWithin(monthly, at('2026-03-01T02:00Z'))).toBe(false);
  });

  it.each([
    ['DAY', 10, ['2026-01-31', '2026-02-10', '2026-02-20', '2026-03-02']],
    ['WEEK', 2, ['2026-01-31', '2026-02-14', '2026-02-28', '2026-03-14']],
    ['MONTH', 2, ['2026-01-31', '2026-03-31', '2026-05-31', '2026-07-31']],
  ] as const)('in units of %s times %d comes so often', (repeatUnit, repeatInterval, days) => {
    const begun = beginnings(recurrenceOf({ repeatUnit, repeatInterval }), 220);
    expect(begun.slice(0, days.length)).toEqual(days.map((day) => `${day}T22:00`));
  });

  it('begins at its first instant and is over at its last', () => {
    const once = recurrenceOf({ repeatInterval: null });
    const [from, to] = [once.startsAtMs, once.endsAtMs];
    expect([from - 1, from, to - 1, to].map((ms) => isWithin(once, ms))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(overAt(once)).toBe(to);
  });

  it('does not start at the instant at which it stops repeating, but an occurrence continues beyond it', () => {
    const until = (text: string) => recurrenceOf({ repeatEndsAtMs: at(text) });
    expect(beginnings(until('2026-02-02T22:00Z'), 60)).toHaveLength(2);
    expect(beginnings(until('2026-02-02T22:01Z'), 60)).toHaveLength(3);
    expect(isWithin(until('2026-02-02T22:01Z'), at('2026-02-03T01:00Z'))).toBe(true);
    expect(overAt(until('2026-02-02T22:01Z'))).toBe(at('2026-02-03T02:00Z'));
    expect(overAt(recurrenceOf({}))).toBe(Number.POSITIVE_INFINITY);
  });

  it('without any occurrence is never active', () => {
    const none = recurrenceOf({ repeatEndsAtMs: at('2026-01-31T22:00Z') });
    expect(beginnings(none, 60)).toEqual([]);
    expect(isWithin(none, none.startsAtMs)).toBe(false);
    expect(overAt(none)).toBe(none.startsAtMs);
  });

  it('since 1970 costs no more than one of today', () => {
    const steps = spanAt(recurrenceOf({ startsAtMs: 0, repeatUnit: 'MONTH' }), at('9999-12-31'));
    expect(steps.isInside).toBe(false);
    expect(steps.toMs).toBe(at('+010000-01-01T00:00Z'));
  });

  it.each(REPEAT_UNITS)('equals a walk over all days, in units of %s', (repeatUnit) => {
    fc.assert(
      fc.property(recurrences, fc.nat(), (drawn, offset) => {
        const recurrence = { ...drawn, repeatUnit };
        const instantMs = recurrence.startsAtMs - 3 * DAY_MS + (offset % (900 * DAY_MS));
        const durationMs = recurrence.endsAtMs - recurrence.startsAtMs;
        const isInside = naiveStarts(recurrence, instantMs).some(
          (startMs) => startMs <= instantMs && instantMs < startMs + durationMs,
        );
        const span = spanAt(recurrence, instantMs);
        expect(span.isInside).toBe(isInside);
        expect(span.fromMs).toBeLessThanOrEqual(instantMs);
        expect(span.toMs).toBeGreaterThan(instantMs);
        // The answer is the same throughout the span.
        for (const ms of [span.fromMs, span.toMs - 1].filter(Number.isFinite)) {
          expect(isWithin(recurrence, ms)).toBe(isInside);
        }
        expect(isWithin(mergedRecurrence(recurrence), instantMs)).toBe(isInside);
        if (isInside) expect(overAt(recurrence)).toBeGreaterThan(instantMs);
      }),
      { numRuns: caseCount(400) },
    );
  });
});
