import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FREQUENCIES, type Frequency } from '../../../../src/model/enums.ts';
import { maxFrequencyOffset } from '../../../../src/model/schedule/frequency.ts';
import { rotationIndexOf } from '../../../../src/model/schedule/rotation.ts';
import { lastSlotAt, nextSlotAfter, slotRuleOf } from '../../../../src/model/schedule/slot-rule.ts';

const INSTANT = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) });
const PERIODIC = FREQUENCIES.filter((frequency) => frequency > 0);

/** A check id with a frequency and an offset that is legal for it, or none. */
const RULE = fc
  .tuple(fc.uuid(), fc.constantFrom(...PERIODIC), fc.nat(), fc.boolean())
  .map(([id, frequency, seed, given]) => {
    const offset = given ? 1 + (seed % maxFrequencyOffset(frequency)) : null;
    return { id, frequency, offset, rule: slotRuleOf(id, frequency, offset) };
  });

describe('slot rules', () => {
  it('have a phase inside the period', () => {
    fc.assert(
      fc.property(RULE, ({ rule }) => {
        expect(rule.phaseMs).toBeGreaterThanOrEqual(0);
        expect(rule.phaseMs).toBeLessThan(rule.periodMs);
      }),
    );
  });

  it('spread checks in steps of 6 s up to a frequency of an hour, and of 60 min above', () => {
    expect(slotRuleOf('a', 10, 3)).toEqual({ periodMs: 600_000, phaseMs: 18_000 });
    expect(slotRuleOf('a', 60, 599)).toEqual({ periodMs: 3_600_000, phaseMs: 3_594_000 });
    expect(slotRuleOf('a', 720, 2)).toEqual({ periodMs: 43_200_000, phaseMs: 7_200_000 });
  });

  it('treat an offset of a whole period like none', () => {
    expect(slotRuleOf('a', 1, 10).phaseMs).toBe(0);
    expect(slotRuleOf('a', 1440, 24).phaseMs).toBe(0);
  });

  it('use the offset as the period in seconds if the frequency is 0', () => {
    expect(slotRuleOf('a', 0, 20).periodMs).toBe(20_000);
  });

  it('spread checks without an offset over the period', () => {
    const phases = Array.from({ length: 600 }, (_, n) => slotRuleOf(`check-${n}`, 1, null).phaseMs);
    const bySecond = new Set(phases.map((phaseMs) => Math.floor(phaseMs / 1000)));
    expect(bySecond.size).toBeGreaterThan(55);
  });
});

describe('slots', () => {
  it('are k · period + phase, the next one strictly after, the last one at or before', () => {
    fc.assert(
      fc.property(RULE, INSTANT, ({ rule }, instantMs) => {
        const next = nextSlotAfter(rule, instantMs);
        const last = lastSlotAt(rule, instantMs);
        expect((next - rule.phaseMs) % rule.periodMs).toBe(0);
        expect(next).toBeGreaterThan(instantMs);
        expect(last).toBeLessThanOrEqual(instantMs);
        expect(next - last).toBe(rule.periodMs);
      }),
    );
  });

  it('follow each other without a gap', () => {
    fc.assert(
      fc.property(RULE, INSTANT, ({ rule }, instantMs) => {
        const first = nextSlotAfter(rule, instantMs);
        expect(nextSlotAfter(rule, first)).toBe(first + rule.periodMs);
        expect(lastSlotAt(rule, first)).toBe(first);
      }),
    );
  });

  it('are the same for every agent', () => {
    fc.assert(
      fc.property(RULE, ({ id, frequency, offset, rule }) => {
        expect(slotRuleOf(id, frequency, offset)).toEqual(rule);
      }),
    );
    // A constant: another phase for a known id would move the slots of all users on an upgrade.
    expect(slotRuleOf('homepage', 5, null)).toEqual({ periodMs: 300_000, phaseMs: 89_541 });
  });

  it('are run by the locations in rotation', () => {
    fc.assert(
      fc.property(RULE, INSTANT, fc.integer({ min: 1, max: 22 }), ({ rule }, instantMs, n) => {
        const slot = nextSlotAfter(rule, instantMs);
        const turn = rotationIndexOf(rule, slot, n);
        expect(turn).toBeGreaterThanOrEqual(0);
        expect(turn).toBeLessThan(n);
        expect(rotationIndexOf(rule, slot + rule.periodMs, n)).toBe((turn + 1) % n);
      }),
    );
  });
});

describe('frequencyOffset', () => {
  it.each<[Frequency, number]>([
    [1, 10],
    [5, 50],
    [60, 600],
    [120, 2],
    [1440, 24],
  ])('for frequency %i is at most %i', (frequency, max) => {
    expect(maxFrequencyOffset(frequency)).toBe(max);
  });
});
