import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Comparison } from '../../../../../src/model/check/assertions/assertion.ts';
import { comparisonWith } from '../../../../../src/model/check/assertions/compare.ts';

function holds(actual: unknown, comparison: Comparison, target = ''): boolean {
  return comparisonWith(comparison, target)(actual);
}

const json = fc.jsonValue({ maxDepth: 3 });

/** As JSON.parse makes it, where __proto__ is a key like any other. */
function parsed(text: string): unknown {
  return JSON.parse(text);
}

describe('EQUALS', () => {
  test.each<[unknown, string, boolean]>([
    [200, '200', true],
    [200, '200.0', true],
    [200, ' 2e2 ', true],
    [200, '201', false],
    ['007', '7', true],
    ['007', '007', true],
    ['a', 'a', true],
    ['a', 'A', false],
    ['a', ' a', false],
    ['', '', true],
    ['', '0', false],
    ['0x10', '16', false],
    ['Infinity', '1e999', false],
    ['12345678901234567890', '12345678901234567891', false],
    ['+12345678901234567890', '12345678901234567890', true],
    [parsed('12345678901234567890'), '12345678901234567890', true],
    [true, 'true', true],
    [true, '1', false],
    [null, 'null', true],
    [null, '', false],
    [[1, 'a'], '[1, "a"]', true],
    [[1, 'a'], '["a", 1]', false],
    [[], '[]', true],
    [[], '', false],
    [[1], '1', false],
    [{ a: 1, b: [2] }, '{"b":[2.0],"a":1}', true],
    [{ a: 1 }, '{"a":1,"b":2}', false],
    [{ a: 1, b: 2 }, '{"a":1,"c":2}', false],
    [{ a: 1 }, 'not JSON', false],
    [{}, '[]', false],
  ])('%j and %s: %s', (actual, target, expected) => {
    expect(holds(actual, 'EQUALS', target)).toBe(expected);
  });

  test('a long target costs nothing more for each of very many lists', () => {
    const lists = Array.from({ length: 500_000 }, () => []);
    const target = `[${'1,'.repeat(4990)}1]`;
    // With time proportional to the product of both, this takes minutes and times out.
    expect(holds(lists, 'HAS_VALUE', target)).toBe(false);
    expect(holds([...lists, JSON.parse(target)], 'HAS_VALUE', target)).toBe(true);
  });

  test('every JSON value equals its own JSON text, and text equals itself', () => {
    fc.assert(
      fc.property(json, (value) => {
        const target = typeof value === 'string' ? value : JSON.stringify(value);
        return holds(parsed(JSON.stringify(value)), 'EQUALS', target);
      }),
    );
  });

  test('a very long text is not a number, and is compared quickly', () => {
    const digits = '1'.repeat(5_000_000);
    expect(holds(digits, 'EQUALS', `${digits}0`)).toBe(false);
    expect(holds(digits, 'EQUALS', digits)).toBe(true);
  });

  test('works with a target that is nested as deep as its length allows', () => {
    const target = '['.repeat(5000) + ']'.repeat(5000);
    expect(holds(parsed(target), 'EQUALS', target)).toBe(true);
    expect(holds(parsed(`[${target}]`), 'EQUALS', target)).toBe(false);
  });
});

describe('ONE_OF', () => {
  test.each<[unknown, string, boolean]>([
    [200, '200', true],
    [200, '200-299, 404', true],
    [299, '200-299, 404', true],
    [404, '200-299, 404', true],
    [300, '200-299, 404', false],
    [405, '200-299,404', false],
    ['404', '404', false],
    [null, '404', false],
    [200, 'nothing', false],
  ])('%j and %s: %s', (actual, target, expected) => {
    expect(holds(actual, 'ONE_OF', target)).toBe(expected);
  });
});

describe('the negative comparisons', () => {
  const pairs: readonly (readonly [Comparison, Comparison])[] = [
    ['EQUALS', 'NOT_EQUALS'],
    ['HAS_KEY', 'NOT_HAS_KEY'],
    ['HAS_VALUE', 'NOT_HAS_VALUE'],
    ['IS_EMPTY', 'NOT_EMPTY'],
    ['CONTAINS', 'NOT_CONTAINS'],
    ['IS_NULL', 'NOT_NULL'],
  ];
  test.each(pairs)('%s and %s are exact opposites', (positive, negative) => {
    fc.assert(
      fc.property(json, fc.string(), (value, target) => {
        return holds(value, positive, target) !== holds(value, negative, target);
      }),
    );
  });
});

describe('GREATER_THAN and LESS_THAN', () => {
  test.each<[unknown, string, 'greater' | 'less' | 'neither']>([
    [10, '9', 'greater'],
    ['10', '9', 'greater'],
    ['1e3', '999.9', 'greater'],
    [-1, '0', 'less'],
    [5, '5.0', 'neither'],
    ['2026-01-02', '2026-01-01', 'greater'],
    ['a', 'b', 'less'],
    ['10', '9a', 'less'],
    ['99999999999999999999', '99999999999999999998', 'greater'],
    [null, '0', 'neither'],
    [[5], '1', 'neither'],
    [{ a: 5 }, '1', 'neither'],
  ])('%j against %s: %s', (actual, target, expected) => {
    expect(holds(actual, 'GREATER_THAN', target)).toBe(expected === 'greater');
    expect(holds(actual, 'LESS_THAN', target)).toBe(expected === 'less');
  });

  test('numbers order as numbers, as a number and as text', () => {
    const number = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(number, number, (left, right) => {
        const target = String(right);
        for (const actual of [left, String(left)]) {
          expect(holds(actual, 'GREATER_THAN', target)).toBe(left > right);
          expect(holds(actual, 'LESS_THAN', target)).toBe(left < right);
          expect(holds(actual, 'EQUALS', target)).toBe(left === right);
        }
      }),
    );
  });
});

describe('HAS_KEY', () => {
  test.each<[unknown, string, boolean]>([
    [{ a: null }, 'a', true],
    [{ a: 1 }, 'b', false],
    [{}, 'toString', false],
    [{}, '__proto__', false],
    [parsed('{"__proto__":1}'), '__proto__', true],
    [['x', 'y'], '1', true],
    [['x', 'y'], '2', false],
    [['x'], 'length', false],
    [['x'], '-1', false],
    ['text', 'length', false],
    [null, 'a', false],
    [5, 'a', false],
  ])('%j and %s: %s', (actual, key, expected) => {
    expect(holds(actual, 'HAS_KEY', key)).toBe(expected);
  });
});

describe('HAS_VALUE', () => {
  test.each<[unknown, string, boolean]>([
    [['a', 5], '5.0', true],
    [['a', 5], 'b', false],
    [{ k: 'v' }, 'v', true],
    [{ k: 'v' }, 'k', false],
    [[[1, 2]], '[1,2]', true],
    [[null], 'null', true],
    ['v', 'v', true],
    [null, 'null', false],
  ])('%j and %s: %s', (actual, value, expected) => {
    expect(holds(actual, 'HAS_VALUE', value)).toBe(expected);
  });
});

describe('IS_EMPTY and IS_NULL', () => {
  test.each<[unknown, boolean, boolean]>([
    ['', true, false],
    [[], true, false],
    [{}, true, false],
    [null, true, true],
    [' ', false, false],
    [0, false, false],
    [false, false, false],
    [[null], false, false],
    [{ a: undefined }, false, false],
    ['null', false, false],
  ])('%j: empty %s, null %s', (actual, empty, isNull) => {
    expect(holds(actual, 'IS_EMPTY')).toBe(empty);
    expect(holds(actual, 'IS_NULL')).toBe(isNull);
  });
});

describe('CONTAINS', () => {
  test.each<[unknown, string, boolean]>([
    ['hello world', 'lo w', true],
    ['hello', '', true],
    ['hello', 'Hello', false],
    [12345, '234', true],
    [['ab', 'c'], 'c', true],
    [['ab', 'c'], 'a', false],
    [[1, 2], '2.0', true],
    [{ a: { b: 1 } }, '"b":1', true],
    [null, '', false],
    [true, 'ru', true],
  ])('%j and %s: %s', (actual, target, expected) => {
    expect(holds(actual, 'CONTAINS', target)).toBe(expected);
  });

  test('finds a text wherever it lies in a long one', () => {
    const filler = 'x'.repeat(65_536);
    for (const before of [0, 1, 65_530, 65_535, 65_536, 65_537, 131_071]) {
      const text = `${filler.repeat(3).slice(0, before)}needle${filler.repeat(2)}`;
      expect(holds(text, 'CONTAINS', 'needle')).toBe(true);
      expect(holds(text, 'CONTAINS', 'needles')).toBe(false);
    }
  });
});
