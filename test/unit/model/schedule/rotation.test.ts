import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FREQUENCIES } from '../../../../src/model/enums.ts';
import { maxFrequencyOffset } from '../../../../src/model/schedule/frequency.ts';
import {
  lastOwnSlotAt,
  nextOwnSlotAfter,
  ownSlotsOf,
  type RotationRule,
  rotationIndexOf,
  rotationRuleOf,
} from '../../../../src/model/schedule/rotation.ts';
import {
  nextSlotAfter,
  type SlotRule,
  slotRuleOf,
} from '../../../../src/model/schedule/slot-rule.ts';
import { caseCount } from '../../../support/nightly.ts';

const INSTANT = fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) });
const SLOTS: fc.Arbitrary<SlotRule> = fc
  .tuple(fc.uuid(), fc.constantFrom(...FREQUENCIES), fc.nat(), fc.boolean())
  .map(([id, frequency, seed, given]) => {
    if (frequency === 0) return slotRuleOf(id, 0, 10 * (1 + (seed % 3)));
    return slotRuleOf(id, frequency, given ? 1 + (seed % maxFrequencyOffset(frequency)) : null);
  });
const LOCATIONS = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 });

function rulesOf(
  slots: SlotRule,
  runParallel: boolean,
  locations: readonly string[],
): RotationRule[] {
  return locations.map((location) => {
    const rule = rotationRuleOf(slots, runParallel, locations, location);
    if (rule === null) throw new Error(`no rule for ${location}`);
    return rule;
  });
}

describe('the rotation of locations', () => {
  it('gives every slot to exactly one location, the one of rotationIndexOf', () => {
    fc.assert(
      fc.property(SLOTS, LOCATIONS, INSTANT, (slots, locations, instantMs) => {
        const rules = rulesOf(slots, false, locations);
        let slotMs = nextSlotAfter(slots, instantMs);
        for (let n = 0; n < locations.length + 1; n += 1) {
          const runsIn = rules.flatMap((rule, at) =>
            lastOwnSlotAt(rule, slotMs) === slotMs ? [at] : [],
          );
          expect(runsIn).toEqual([rotationIndexOf(slots, slotMs, locations.length)]);
          slotMs = nextSlotAfter(slots, slotMs);
        }
      }),
      { numRuns: caseCount(50) },
    );
  });

  it('gives every slot to every location if they run in parallel', () => {
    fc.assert(
      fc.property(SLOTS, LOCATIONS, INSTANT, (slots, locations, instantMs) => {
        for (const rule of rulesOf(slots, true, locations)) {
          expect(nextOwnSlotAfter(rule, instantMs)).toBe(nextSlotAfter(slots, instantMs));
        }
      }),
      { numRuns: caseCount(50) },
    );
  });

  it('has slots one stride apart: the next strictly after an instant, the last at or before it', () => {
    fc.assert(
      fc.property(SLOTS, LOCATIONS, INSTANT, (slots, locations, instantMs) => {
        for (const rule of rulesOf(slots, false, locations)) {
          const next = nextOwnSlotAfter(rule, instantMs);
          const last = lastOwnSlotAt(rule, instantMs);
          expect(next).toBeGreaterThan(instantMs);
          expect(last).toBeLessThanOrEqual(instantMs);
          expect(next - last).toBe(rule.periodMs * rule.stride);
          expect(lastOwnSlotAt(rule, next)).toBe(next);
          expect(rotationIndexOf(slots, next, rule.stride)).toBe(rule.index);
        }
      }),
      { numRuns: caseCount(50) },
    );
  });

  it('is a slot rule with its phase inside the period', () => {
    fc.assert(
      fc.property(SLOTS, LOCATIONS, (slots, locations) => {
        for (const rule of rulesOf(slots, false, locations)) {
          const own = ownSlotsOf(rule);
          expect(own.phaseMs).toBeGreaterThanOrEqual(0);
          expect(own.phaseMs).toBeLessThan(own.periodMs);
        }
      }),
    );
    const slots = { periodMs: 60_000, phaseMs: 6_000 };
    expect(ownSlotsOf({ ...slots, stride: 3, index: 2 })).toEqual({
      periodMs: 180_000,
      phaseMs: 126_000,
    });
  });
});

describe('a location in a rotation', () => {
  const SLOT_RULE = { periodMs: 60_000, phaseMs: 0 };

  it('has no slots of a check of other locations', () => {
    expect(rotationRuleOf(SLOT_RULE, false, ['berlin', 'paris'], 'rome')).toBeNull();
    expect(rotationRuleOf(SLOT_RULE, true, [], 'rome')).toBeNull();
  });

  it('runs every slot if it is the only one', () => {
    expect(rotationRuleOf(SLOT_RULE, false, ['rome'], 'rome')).toEqual({
      ...SLOT_RULE,
      stride: 1,
      index: 0,
    });
  });

  it('counts once if it is named twice', () => {
    expect(rotationRuleOf(SLOT_RULE, false, ['rome', 'paris', 'rome'], 'paris')).toEqual({
      ...SLOT_RULE,
      stride: 2,
      index: 1,
    });
  });
});
