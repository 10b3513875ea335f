import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  countNumbers,
  hasNumber,
  mergeRanges,
  missingFrom,
  type NumberRange,
  within,
} from '../../../../../src/agent/spool/disk/number-ranges.ts';
import { caseCount } from '../../../../support/nightly.ts';

const range = fc
  .tuple(fc.nat(60), fc.integer({ min: 1, max: 12 }))
  .map(([from, length]): NumberRange => ({ from, end: from + length }));

const numbersOf = (ranges: readonly NumberRange[]): number[] =>
  ranges.flatMap(({ from, end }) => Array.from({ length: end - from }, (_, n) => from + n));

it('number ranges behave like sets of the same numbers', () => {
  fc.assert(
    fc.property(fc.array(range), range, (ranges, other) => {
      const merged = mergeRanges(ranges);
      const set = new Set(numbersOf(ranges));
      const sorted = [...set].sort((one, two) => one - two);
      expect(numbersOf(merged)).toEqual(sorted);
      expect(countNumbers(merged)).toBe(set.size);
      const wanted = numbersOf([other]);
      expect(numbersOf(within(merged, other))).toEqual(wanted.filter((one) => set.has(one)));
      expect(numbersOf(missingFrom(merged, other))).toEqual(wanted.filter((one) => !set.has(one)));
      for (let number = -1; number < 75; number += 1) {
        expect(hasNumber(merged, number)).toBe(set.has(number));
      }
    }),
    { numRuns: caseCount(200) },
  );
});
