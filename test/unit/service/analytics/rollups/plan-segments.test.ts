import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Mark,
  planSegments,
  type RollUpSegment,
  type RollUpState,
} from '../../../../../src/service/analytics/rollups/plan-segments.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const TODAY = Date.UTC(2026, 2, 10);
const NOW = TODAY + 10 * HOUR_MS + 20 * MINUTE_MS;
const NOTHING: RollUpState = { marks: [], backfillDaysMs: new Set(), resultsFromMs: 0 };

function mark(span: Mark['span'], startMs: number): Mark {
  return { checkId: 'shop', span, startMs };
}

/** As `span from-to`, in hours from the start of today. */
function cover(
  fromMs: number,
  toMs: number,
  state: Partial<RollUpState> = {},
  pointMinutes: number | null = null,
): readonly string[] {
  const query = { checkId: 'shop', fromMs, toMs, pointMinutes, nowMs: NOW };
  const hours = (ms: number): number => (ms - TODAY) / HOUR_MS;
  return planSegments(query, { ...NOTHING, ...state }).map(
    (part) => `${part.span} ${hours(part.fromMs)}-${hours(part.toMs)}`,
  );
}

describe('the cover of a window', () => {
  it('has the longest roll-ups inside, and runs at the edges', () => {
    const from = TODAY - DAY_MS - 90 * MINUTE_MS - 20 * MINUTE_MS;
    expect(cover(from, TODAY + 2 * HOUR_MS + 20 * MINUTE_MS)).toEqual([
      `0 ${-25 - 50 / 60}-${-25.75}`,
      '15 -25.75--25',
      '60 -25--24',
      '1440 -24-0',
      '60 0-2',
      '15 2-2.25',
      `0 2.25-${2 + 20 / 60}`,
    ]);
  });

  it('has no roll-up that reaches into two points', () => {
    expect(cover(TODAY - DAY_MS, TODAY, {}, 60)).toEqual(['60 -24-0']);
    expect(cover(TODAY - DAY_MS, TODAY, {}, 45)).toEqual(['15 -24-0']);
    expect(cover(TODAY - DAY_MS, TODAY, {}, 7)).toEqual(['0 -24-0']);
  });

  it('reads runs where a roll-up lacks some, and shorter roll-ups beside them', () => {
    const marks = [mark(15, TODAY - 90 * MINUTE_MS), mark(60, TODAY - 5 * HOUR_MS)];
    expect(cover(TODAY - DAY_MS, TODAY, { marks })).toEqual([
      '60 -24--5',
      '15 -5--4',
      '60 -4--2',
      '15 -2--1.5',
      '0 -1.5--1.25',
      '15 -1.25--1',
      '60 -1-0',
    ]);
    const others = marks.map((one) => ({ ...one, checkId: 'other' }));
    expect(cover(TODAY - DAY_MS, TODAY, { marks: others })).toEqual(['1440 -24-0']);
  });

  it('reads runs of days without roll-ups', () => {
    const backfillDaysMs = new Set([TODAY - 2 * DAY_MS]);
    expect(cover(TODAY - 3 * DAY_MS, TODAY, { backfillDaysMs })).toEqual([
      '1440 -72--48',
      '0 -48--24',
      '1440 -24-0',
    ]);
  });

  it('has whole hours where the results were dropped, whatever is marked', () => {
    const resultsFromMs = TODAY - 30 * DAY_MS;
    const start = resultsFromMs - DAY_MS;
    const marks = [mark(15, start + 3 * HOUR_MS)];
    const state = { resultsFromMs, marks };
    expect(cover(start, resultsFromMs, state)).toEqual(['1440 -744--720']);
    expect(cover(start + 20 * MINUTE_MS, start + 2.5 * HOUR_MS, state)).toEqual(['60 -743--742']);
    expect(cover(start, resultsFromMs, state, 15)).toEqual([]);
  });

  it('has quarter hours of the last 7 days alone', () => {
    const from = TODAY - 7 * DAY_MS;
    expect(cover(from - HOUR_MS, from + HOUR_MS, {}, 15)).toEqual(['0 -169--168', '15 -168--167']);
  });

  it('contains each instant of the window once, in order', () => {
    const quarter = fc.integer({ min: -400, max: 60 }).map((n) => TODAY + n * 15 * MINUTE_MS);
    const marks = fc.array(
      fc.oneof(
        quarter.map((startMs) => mark(15, startMs)),
        quarter.map((startMs) => mark(60, Math.floor(startMs / HOUR_MS) * HOUR_MS)),
        quarter.map((startMs) => mark(1440, Math.floor(startMs / DAY_MS) * DAY_MS)),
      ),
      { maxLength: 20 },
    );
    const instant = fc.integer({ min: TODAY - 5 * DAY_MS, max: TODAY + DAY_MS });
    const minutes = fc.constantFrom(null, 7, 15, 60, 120, 1440);
    fc.assert(
      fc.property(instant, instant, marks, minutes, (one, other, given, pointMinutes) => {
        const [fromMs, toMs] = [Math.min(one, other), Math.max(one, other)];
        const query = { checkId: 'shop', fromMs, toMs, pointMinutes, nowMs: NOW };
        const parts: readonly RollUpSegment[] = planSegments(query, { ...NOTHING, marks: given });
        let atMs = fromMs;
        for (const part of parts) {
          expect(part.fromMs).toBe(atMs);
          expect(part.toMs).toBeGreaterThan(part.fromMs);
          atMs = part.toMs;
        }
        expect(atMs).toBe(toMs);
      }),
    );
  });
});
