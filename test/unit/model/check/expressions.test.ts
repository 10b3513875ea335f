import { describe, expect, test } from 'vitest';
import { parseJsonPath, parsePattern } from '../../../../src/model/check/expressions.ts';

describe('a regular expression', () => {
  test.each(['a(\\d+)', '^x|y$', '(?<n>a)\\k<n>', '', '(a+)+$'])('%j is parsed', (text) => {
    expect(parsePattern(text)).toEqual(new RegExp(text));
  });

  test.each([
    ['(?i)ready', /ready/i],
    ['(?ims)^a.b$', /^a.b$/ims],
    ['(?u)\\p{L}+', /\p{L}+/u],
    ['(?s)', /(?:)/s],
  ])('%j has the flags at its start', (text, pattern) => {
    expect(parsePattern(text)).toEqual(pattern);
  });

  test.each([
    ['(?x)a b', 'Flags at its start may be i, m, s, u'],
    ['(?g)a', 'Flags at its start may be i, m, s, u'],
    ['(?ii)a', 'A flag is given twice'],
    ['a(?i)b', 'Invalid group'],
    ['(?i)a(', 'Unterminated group'],
    ['a(', 'Unterminated group'],
    ['[z-a]', 'Range out of order in character class'],
    ['*', 'Nothing to repeat'],
    ['(?<n>a)(?<n>b)', 'Duplicate capture group name'],
    ['a{2,1}', 'numbers out of order in {} quantifier'],
    ["$&$'(", 'Unterminated group'],
  ])('%j is refused, and the problem does not repeat it', (text, problem) => {
    expect(parsePattern(text)).toBe(problem);
  });
});

describe('a JSONPath', () => {
  test.each([
    '$',
    '$.a.b',
    "$['a b'][0]",
    '$..x',
    '$[?@.a > 1]',
    '$[?search(@.a, "x+")]',
    '$[1:3]',
  ])('%s is parsed', (text) => {
    expect(parseJsonPath(text)).not.toBeTypeOf('string');
  });

  test.each(['a.b', '$.', '$[', '$.a b', '$[?nope(@)]', '$..', '$[01]', '$.a..', '', '$[?(@.a)]x'])(
    '%j is not, and the problem is one line',
    (text) => {
      expect(parseJsonPath(text)).toMatch(/^.+$/);
    },
  );

  test('that is nested very deep is parsed or refused, without a stack overflow', () => {
    const deep = `$${'[?@'.repeat(680)}`;
    expect(parseJsonPath(deep)).toBeTypeOf('string');
    expect(parseJsonPath(`${deep}${']'.repeat(680)}`)).not.toBeTypeOf('string');
  });
});
