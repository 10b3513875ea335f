import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MIN_PART_BYTES } from '../../../../src/service/object-store/artifact-store.ts';
import { partOf, planParts } from '../../../../src/service/object-store/part-plan.ts';
import { MAX_ARTIFACT_BYTES } from '../../../../src/wire/v1/limits.ts';

describe('the plan of parts', () => {
  it('covers every byte once, in parts of which only the last is shorter', () => {
    const bytes = fc.integer({ min: 1, max: MAX_ARTIFACT_BYTES });
    const partBytes = fc.integer({ min: MIN_PART_BYTES, max: MAX_ARTIFACT_BYTES });
    fc.assert(
      fc.property(bytes, partBytes, (length, partLength) => {
        const plan = planParts(length, partLength);
        let offset = 0;
        for (const [index, part] of plan.entries()) {
          expect(part.n).toBe(index + 1);
          expect(part.offset).toBe(offset);
          const isLast = index === plan.length - 1;
          expect(isLast ? part.bytes <= partLength : part.bytes === partLength).toBe(true);
          expect(part.bytes).toBeGreaterThan(0);
          offset += part.bytes;
        }
        expect(offset).toBe(length);
      }),
    );
  });

  it('has one full part for exactly one part, and a second one for a byte more', () => {
    expect(planParts(MIN_PART_BYTES, MIN_PART_BYTES)).toHaveLength(1);
    expect(planParts(MIN_PART_BYTES + 1, MIN_PART_BYTES).map(({ bytes }) => bytes)).toEqual([
      MIN_PART_BYTES,
      1,
    ]);
    expect(partOf(MIN_PART_BYTES + 1, MIN_PART_BYTES, 2).offset).toBe(MIN_PART_BYTES);
  });
});
