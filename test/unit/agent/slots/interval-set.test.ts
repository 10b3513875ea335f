import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IntervalSet } from '../../../../src/agent/slots/interval-set.ts';

const instant = fc.integer({ min: 0, max: 60 });
const additions = fc.array(fc.tuple(instant, instant), { maxLength: 15 });

describe('IntervalSet', () => {
  it('contains exactly the instants that were added', () => {
    fc.assert(
      fc.property(additions, (all) => {
        const set = new IntervalSet(100);
        const held = new Set<number>();
        for (const [fromMs, toMs] of all) {
          set.add(fromMs, toMs);
          for (let ms = fromMs + 1; ms <= toMs; ms += 1) held.add(ms);
        }
        for (let ms = 0; ms <= 61; ms += 1) expect(set.endAround(ms) !== null).toBe(held.has(ms));
      }),
    );
  });

  it('returns the end of the interval around an instant', () => {
    fc.assert(
      fc.property(additions, instant, (all, ms) => {
        const set = new IntervalSet(100);
        for (const [fromMs, toMs] of all) set.add(fromMs, toMs);
        const endMs = set.endAround(ms);
        if (endMs === null) return;
        expect(set.endAround(endMs)).toBe(endMs);
        expect(set.endAround(endMs + 0.5)).toBeNull();
      }),
    );
  });

  it('finds the holes in any span, in order and apart', () => {
    fc.assert(
      fc.property(additions, instant, instant, (all, fromMs, toMs) => {
        const set = new IntervalSet(100);
        for (const [start, end] of all) set.add(start, end);
        const free: number[] = [];
        for (const hole of set.holesIn(fromMs, toMs)) {
          for (let ms = hole.fromMs + 1; ms <= hole.toMs; ms += 1) free.push(ms);
        }
        const expected: number[] = [];
        for (let ms = fromMs + 1; ms <= toMs; ms += 1) {
          if (set.endAround(ms) === null) expected.push(ms);
        }
        expect(free).toEqual(expected);
      }),
    );
  });

  it('joins adjacent intervals, so a running clock makes a single one', () => {
    const set = new IntervalSet(3);
    for (let ms = 0; ms < 1000; ms += 10) set.add(ms, ms + 10);
    expect(set.size).toBe(1);
    expect(set.holesIn(0, 1000)).toEqual([]);
  });

  it('forgets the interval farthest from the last one when it has too many', () => {
    const set = new IntervalSet(2);
    set.add(0, 1);
    set.add(100, 110);
    set.add(50, 60);
    expect(set.size).toBe(2);
    expect(set.endAround(1)).toBeNull();
    expect(set.endAround(105)).toBe(110);
    set.add(20, 30);
    expect(set.endAround(105)).toBeNull();
    expect(set.endAround(55)).toBe(60);
  });
});
