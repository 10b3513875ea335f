import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type JsonSlice,
  parseJsonInSlices,
} from '../../../../../src/service/http/json/sliced-json.ts';
import { caseCount } from '../../../../support/nightly.ts';

type Outcome = { readonly value: unknown } | { readonly refused: true };

async function inSlices(text: string, slice: JsonSlice): Promise<Outcome> {
  try {
    return { value: await parseJsonInSlices(text, async () => {}, slice) };
  } catch (error) {
    if (error instanceof SyntaxError) return { refused: true };
    throw error;
  }
}

function atOnce(text: string): Outcome {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { refused: true };
  }
}

/** Also the order of keys, and what toEqual does not distinguish. */
function same(one: Outcome, other: Outcome): boolean {
  expect(one).toEqual(other);
  return JSON.stringify(one) === JSON.stringify(other);
}

const SLICE = fc.record({
  maxChars: fc.integer({ min: 1, max: 60 }),
  maxValues: fc.integer({ min: 1, max: 12 }),
});
/** JSON with white space anywhere, escapes of any kind, keys twice, and keys that objects have by nature. */
const { json: JSON_TEXT } = fc.letrec<{ json: string; member: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', '0', '-1.5e+3', '1e999', '12345678901234567890', '""'),
    fc.constantFrom('"\\u0041\\ud800"', '"[{,:}]\\"\\\\"', '"ä😀\\n"', '[]', '{ }'),
    fc
      .tuple(fc.array(tie('json'), { maxLength: 8 }), fc.constantFrom('', ' ', '\n\t'))
      .map(([items, blank]) => `[${blank}${items.join(`${blank},`)}${blank}]`),
    fc
      .tuple(fc.array(tie('member'), { maxLength: 8 }), fc.constantFrom('', '\r\n'))
      .map(([members, blank]) => `{${blank}${members.join(`,${blank}`)}}${blank}`),
  ),
  member: fc
    .tuple(
      fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString', '7', '10', 'a,]"{'),
      fc.constantFrom(':', ' : '),
      tie('json'),
    )
    .map(([key, colon, value]) => `${JSON.stringify(key)}${colon}${value}`),
}));
const PIECES = fc.constantFrom(
  ...['[', ']', '{', '}', ',', ':', '"', '\\', ' ', '1', '-', '.', 'true', 'nul', '"a"', '"a":'],
  ...['\u0000', '\ufeff', '\u00a0', '\\u00', '0', 'e5'],
);

describe('JSON that is parsed in slices', () => {
  it('is what JSON.parse makes of it, however short the slices are', async () => {
    await fc.assert(
      fc.asyncProperty(JSON_TEXT, SLICE, async (text, slice) => {
        expect(same(await inSlices(text, slice), atOnce(text))).toBe(true);
      }),
      { numRuns: caseCount(2_000) },
    );
  });

  it('is refused where JSON.parse refuses it: with a piece too many, one less, or another', async () => {
    await fc.assert(
      fc.asyncProperty(
        JSON_TEXT,
        SLICE,
        fc.nat(200),
        fc.nat(3),
        fc.oneof(PIECES, fc.constant('')),
        async (text, slice, place, length, piece) => {
          const at = place % (text.length + 1);
          const broken = text.slice(0, at) + piece + text.slice(at + length);
          expect(same(await inSlices(broken, slice), atOnce(broken))).toBe(true);
        },
      ),
      { numRuns: caseCount(4_000) },
    );
  });

  it('is refused where JSON.parse refuses any pieces of JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(PIECES, { maxLength: 25 }), SLICE, async (pieces, slice) => {
        const text = pieces.join('');
        expect(same(await inSlices(text, slice), atOnce(text))).toBe(true);
      }),
      { numRuns: caseCount(4_000) },
    );
  });

  it.each([
    ['[1[2]]', '"a" before a list'],
    ['[1,[2,3,4],]', 'a comma at the end'],
    ['[[2,3,4][5]]', 'no comma between'],
    ['[[1,2,3,4}]', 'another bracket'],
    ['{"a"[1,2,3]}', 'no colon'],
    ['{"a":[1,2,3] "b":1}', 'no comma between members'],
    ['{"a":[1,2,3],}', 'a comma at the end of an object'],
    ['{"a":"b"[1,2,3]}', 'a text and a list'],
    ['{"a":[1,2,3]}{"a":1}', 'two texts'],
    ['[1,2,3],', 'a comma behind'],
    ['[[1,2,3]', 'an end that is missing'],
    ['1],[2', 'a list that nobody opened'],
    ['\ufeff[1,2,3,4]', 'a byte order mark'],
  ])('%s is refused, for %s', async (text) => {
    expect(atOnce(text)).toEqual({ refused: true });
    expect(await inSlices(text, { maxChars: 1, maxValues: 1 })).toEqual({ refused: true });
  });
});

describe('a slice', () => {
  const slice = { maxChars: 1_000, maxValues: 100 };

  /** How much is parsed at once, as the pauses show it, and how many pauses there are. */
  async function slicesOf(text: string): Promise<{ longest: number; pauses: number }> {
    const lengths: number[] = [];
    const pause = async (chars: number): Promise<void> => void lengths.push(chars);
    expect(await parseJsonInSlices(text, pause, slice)).toEqual(JSON.parse(text));
    return { longest: lengths.reduce((a, b) => Math.max(a, b), 0), pauses: lengths.length };
  }

  it.each([
    ['a list of numbers', JSON.stringify(Array.from({ length: 20_000 }, (_, n) => n))],
    ['a list of empty lists', `[${'[],'.repeat(20_000)}[]]`],
    ['an object', `{${Array.from({ length: 9_000 }, (_, n) => `"k${n}":{}`).join(',')}}`],
    ['a list far inside', `{"a":[{"b":[[[${'"text",'.repeat(9_000)}0]]]}]}`],
    ['results', `{"e":1,"results":[${'{"a":[1,2,3],"b":"text"},'.repeat(3_000)}0],"z":[]}`],
    ['lists in lists', `[${`${'['.repeat(40)}1${']'.repeat(40)},`.repeat(500)}1]`],
  ])('of %s is never longer than it may be, and never has more values', async (_, text) => {
    const { longest, pauses } = await slicesOf(text);
    expect(longest).toBeLessThanOrEqual(slice.maxChars);
    const values = [...text].filter((unit) => ',[{'.includes(unit)).length;
    // What is parsed between two pauses has about as many as may be, and never twice as many.
    expect(pauses).toBeGreaterThanOrEqual(Math.floor(values / (2 * slice.maxValues)));
  });

  it('is all of a short text, without a pause', async () => {
    expect(await slicesOf('{"a":[1,2,{"b":"c"}]}')).toEqual({ longest: 0, pauses: 0 });
  });

  it('is no shorter than one text', async () => {
    const { longest } = await slicesOf(JSON.stringify([1, 'x'.repeat(5_000), 2, 3]));
    expect(longest).toBeLessThan(5_100);
  });

  it('has pauses that do not grow with the number of small members', async () => {
    const text = JSON.stringify(Array.from({ length: 1_000 }, () => ['x'.repeat(90)]));
    const { pauses } = await slicesOf(text);
    expect(pauses).toBeLessThan((2 * text.length) / slice.maxChars);
  });
});
