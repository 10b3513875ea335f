import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SlotRange } from '../../../../src/model/schedule/slot-range.ts';
import {
  dropUntilFirst,
  isSchedulable,
  MAX_SPAN_MS,
  overlapMask,
  slotIndexAt,
  slotInstants,
  splitByDay,
  subtractSlots,
} from '../../../../src/service/results/slot-ranges.ts';

const DAY_MS = 86_400_000;

function rangeOf(slot: number, step: number, count: number): SlotRange {
  return { slot, lastSlot: slot + (count - 1) * step, count };
}

/** Ranges close together, so that many share slots. */
const RANGE = fc
  .record({
    first: fc.nat(40),
    step: fc.constantFrom(1, 2, 3, 5),
    count: fc.integer({ min: 1, max: 25 }),
  })
  .map(({ first, step, count }) => rangeOf(first * 1000, step * 1000, count));

describe('a range of slots', () => {
  it('minus any others has exactly the slots that none of them has, in even parts', () => {
    fc.assert(
      fc.property(RANGE, fc.array(RANGE, { maxLength: 5 }), (range, others) => {
        const shared = overlapMask(range, others);
        const left = subtractSlots(range, (number) => shared[number] === 1);
        const taken = new Set(others.flatMap(slotInstants));
        expect(left.flatMap(slotInstants)).toEqual(
          slotInstants(range).filter((slot) => !taken.has(slot)),
        );
        expect(left.every(isSchedulable)).toBe(true);
      }),
    );
  });

  it('minus any of its slots has the others, and at most one more part than gaps', () => {
    fc.assert(
      fc.property(RANGE, fc.uniqueArray(fc.nat(24)), (range, numbers) => {
        const taken = new Set(numbers);
        const asked: number[] = [];
        const left = subtractSlots(range, (number, slotMs) => {
          asked.push(slotMs);
          return taken.has(number);
        });
        const slots = slotInstants(range);
        expect(asked).toEqual(slots);
        expect(left.flatMap(slotInstants)).toEqual(slots.filter((_, number) => !taken.has(number)));
        expect(left.length).toBeLessThanOrEqual(taken.size + 1);
      }),
    );
  });

  it('numbers its slots, and no other instant', () => {
    fc.assert(
      fc.property(RANGE, fc.nat(200_000), (range, instantMs) => {
        expect(slotIndexAt(range, instantMs)).toBe(slotInstants(range).indexOf(instantMs));
        expect(slotInstants(range).map((slot) => slotIndexAt(range, slot))).toEqual(
          slotInstants(range).map((_, number) => number),
        );
      }),
    );
  });

  it('splits into parts of at most a day with the same slots', () => {
    fc.assert(
      fc.property(
        fc.nat(DAY_MS),
        fc.integer({ min: 600_000, max: 3 * DAY_MS }),
        fc.integer({ min: 1, max: 500 }),
        (slot, step, count) => {
          const range = rangeOf(slot, step, count);
          const parts = [...splitByDay(range)];
          expect(parts.flatMap(slotInstants)).toEqual(slotInstants(range));
          expect(parts.every((part) => part.lastSlot - part.slot <= MAX_SPAN_MS)).toBe(true);
          // No two adjacent parts fit into one.
          for (const [number, { slot: from }] of parts.slice(1).entries()) {
            expect(from - (parts[number]?.slot ?? 0)).toBeGreaterThan(MAX_SPAN_MS);
          }
        },
      ),
    );
  });

  it('of years is cut at the first retained slot by binary search', () => {
    const years = rangeOf(0, 1000, 1_700_000_001);
    let asked = 0;
    const kept = dropUntilFirst(years, (slotMs) => {
      asked += 1;
      return slotMs >= 1_699_999_990_500;
    });
    expect(kept).toEqual(rangeOf(1_699_999_991_000, 1000, 10));
    expect(asked).toBeLessThan(40);
    expect(dropUntilFirst(years, () => false)).toBeNull();
    expect(dropUntilFirst(years, () => true)).toEqual(years);
  });

  it.each<[string, SlotRange, boolean]>([
    ['one slot', { slot: 5, lastSlot: 5, count: 1 }, true],
    ['one slot that ends later', { slot: 5, lastSlot: 6, count: 1 }, false],
    ['slots a second apart', rangeOf(0, 1000, 5), true],
    ['slots closer than any period', rangeOf(0, 999, 5), false],
    ['slots that fall between milliseconds', { slot: 0, lastSlot: 10_000, count: 4 }, false],
    ['more slots than milliseconds', { slot: 0, lastSlot: 60_000, count: 2 ** 50 }, false],
  ])('of %s is one that a plan makes: %j %s', (_what, range, even) => {
    expect(isSchedulable(range)).toBe(even);
  });
});
