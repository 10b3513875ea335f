import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonText } from '../../../../src/service/database/values.ts';
import { caseCount } from '../../../support/nightly.ts';

const TRICKY = fc.oneof(
  fc.constantFrom(
    '\\',
    '\\u0000',
    '\\\\u0000',
    '\0',
    '\ud800',
    '\udfff',
    '\ud83d\ude00',
    'u',
    '0000',
    '"',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);

describe('JSON for the database', () => {
  it('has U+FFFD for each text that cannot be stored, and nothing else changed', () => {
    const text = fc.array(TRICKY, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (given) => {
        const storable = given.replaceAll('\0', '\ufffd').toWellFormed();
        expect(JSON.parse(jsonText({ [given]: [given] }))).toEqual({ [storable]: [storable] });
      }),
      { numRuns: caseCount(2_000) },
    );
  });
});
