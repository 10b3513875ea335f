import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonError } from '../../../../../src/service/http/json/json-error.ts';
import { caseCount } from '../../../../support/nightly.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const PIECES = fc.constantFrom(
  ...['[', ']', '{', '}', ',', ':', '"', '\\', ' ', '\n', '\u0001', '1', '0', '-', '.', 'e5'],
  ...['true', 'nul', '"a"', '"a":', '"\\u00e9"', '"\\x"', '\ufeff'],
);

describe('the error of a text that is not JSON', () => {
  it.each([
    ['', 1, 1, 'a value'],
    ['{"a":1,}', 1, 8, 'a name in double quotes'],
    ['{\n  "a" 1\n}', 2, 7, 'a colon'],
    ['[1,\n2', 2, 2, 'a comma or ]'],
    ['{"a":[1}', 1, 8, 'a comma or ]'],
    ["{'a':1}", 1, 2, 'a name in double quotes or }'],
    ['{"a":tru}', 1, 6, 'a value'],
    ['{"a":"b\nc"}', 1, 8, 'an escape such as \\n'],
    ['["\\d"]', 1, 3, 'a valid escape such as \\n or \\\\'],
    ['"open', 1, 6, 'a closing double quote'],
    ['{}x', 1, 3, 'the end'],
  ])('of %j is at line %i, column %i: expected %s', (text, line, column, expected) => {
    expect(findJsonError(text)).toEqual({ line, column, expected });
  });

  it('is found in exactly the texts that JSON.parse refuses', () => {
    const texts = fc.oneof(
      fc.array(PIECES, { maxLength: 12 }).map((pieces) => pieces.join('')),
      fc.json(),
    );
    fc.assert(
      fc.property(texts, (text) => (findJsonError(text) === null) === isJson(text)),
      { numRuns: caseCount(2_000) },
    );
  });
});
