import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compilePauses,
  NEVER_PAUSED,
  type Pause,
  pausedAt,
} from '../../../../src/model/schedule/pause.ts';
import { caseCount } from '../../../support/nightly.ts';
import { DAY_MS, recurrences } from '../../../support/samples/recurrences.ts';

const HOUR_MS = 3_600_000;
const T0 = Date.UTC(2026, 0, 1);

function daily(fields: Partial<Pause> = {}): Pause {
  const { startsAtMs = T0 } = fields;
  return {
    startsAtMs,
    endsAtMs: startsAtMs + HOUR_MS,
    repeatUnit: 'DAY',
    repeatInterval: 1,
    repeatEndsAtMs: null,
    tags: null,
    ...fields,
  };
}

const TAGS = ['a', 'b', 'c', 'd'];
const tags = fc.subarray(TAGS);
const pauses = fc.array(
  fc
    .tuple(recurrences, fc.option(tags))
    .map(([recurrence, ofTags]): Pause => ({ ...recurrence, tags: ofTags })),
  { maxLength: 6 },
);
/** Within the years in which the generated pauses begin. */
const instant = fc.integer({ min: Date.UTC(2023, 0, 1), max: Date.UTC(2029, 0, 1) });

describe('pauses', () => {
  it('apply to checks that have one of their tags, and without tags to all or none', () => {
    const named = [daily({ tags: ['db', 'web'] })];
    expect(pausedAt(named, ['x', 'web'], T0)).toBe(true);
    expect(pausedAt(named, ['x'], T0)).toBe(false);
    expect(pausedAt(named, [], T0)).toBe(false);
    expect(pausedAt([daily({ tags: null })], [], T0)).toBe(true);
    expect(pausedAt([daily({ tags: [] })], ['web'], T0)).toBe(false);
    expect(pausedAt([], ['web'], T0)).toBe(false);
  });

  it('give the same answers when they are compiled, for instants in any order', () => {
    fc.assert(
      fc.property(pauses, fc.array(fc.tuple(tags, instant)), (all, asked) => {
        const compiled = compilePauses(all);
        for (const [ofCheck, ms] of asked) {
          const expected = pausedAt(all, ofCheck, ms);
          expect(compiled.timesFor(ofCheck).isPausedAt(ms)).toBe(expected);
          expect(compiled.timesFor([...ofCheck, 'other']).isPausedAt(ms)).toBe(expected);
        }
      }),
      { numRuns: caseCount(200) },
    );
  });

  it('are listed as time spans that contain exactly the paused instants of a period', () => {
    fc.assert(
      fc.property(pauses, tags, instant, fc.nat(40 * DAY_MS), (all, ofCheck, fromMs, lengthMs) => {
        const times = compilePauses(all).timesFor(ofCheck);
        const toMs = fromMs + lengthMs;
        const spans = times.pausedBetween(fromMs, toMs);
        spans.forEach((span, index) => {
          expect(span.toMs).toBeGreaterThan(fromMs);
          expect(span.fromMs).toBeLessThanOrEqual(toMs);
          expect(span.fromMs).toBeGreaterThan(spans[index - 1]?.toMs ?? Number.NEGATIVE_INFINITY);
        });
        const edges = spans.flatMap((span) => [
          span.fromMs - 1,
          span.fromMs,
          span.toMs - 1,
          span.toMs,
        ]);
        const steps = Array.from(
          { length: 50 },
          (_, n) => fromMs + Math.floor((lengthMs * n) / 49),
        );
        for (const ms of [...edges, ...steps].filter((each) => each >= fromMs && each <= toMs)) {
          const isInSpan = spans.some((span) => span.fromMs <= ms && ms < span.toMs);
          expect(isInSpan, new Date(ms).toISOString()).toBe(pausedAt(all, ofCheck, ms));
        }
      }),
      { numRuns: caseCount(300) },
    );
  });

  it('are listed up to a bound, however long the period is', () => {
    const times = compilePauses([daily()]).timesFor([]);
    const spans = times.pausedBetween(T0, T0 + 50 * 365 * DAY_MS);
    expect(spans).toHaveLength(100);
    expect(spans.at(-1)).toEqual({ fromMs: T0 + 99 * DAY_MS, toMs: T0 + 99 * DAY_MS + HOUR_MS });
    const always = compilePauses([daily({ endsAtMs: T0 + DAY_MS })]).timesFor([]);
    expect(always.pausedBetween(T0, T0 + 50 * 365 * DAY_MS)).toEqual([
      { fromMs: T0, toMs: Number.POSITIVE_INFINITY },
    ]);
  });

  it('are compiled once for checks with the same pauses', () => {
    const compiled = compilePauses([daily({ tags: ['db'] }), daily({ tags: ['web'] })]);
    expect(compiled.timesFor(['db', 'x'])).toBe(compiled.timesFor(['y', 'db']));
    expect(compiled.timesFor(['db'])).not.toBe(compiled.timesFor(['web']));
    expect(compiled.timesFor(['x'])).toBe(NEVER_PAUSED);
    expect(NEVER_PAUSED.pausedBetween(0, T0)).toEqual([]);
  });

  it('are distinguished whatever the tags are', () => {
    const odd = ['["a","b"]', 'a', 'b', 'one a'];
    const all = odd.map((tag, n) => daily({ startsAtMs: T0 + n * HOUR_MS, tags: [tag] }));
    const compiled = compilePauses(all);
    for (const ofCheck of [['["a","b"]'], ['a', 'b'], ['b', 'a'], ['a'], ['one a'], [], odd]) {
      const times = compiled.timesFor(ofCheck);
      const paused = all.map(({ startsAtMs }) => times.isPausedAt(startsAtMs));
      expect(paused).toEqual(odd.map((tag) => ofCheck.includes(tag)));
    }
  });
});
