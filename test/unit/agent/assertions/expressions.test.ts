import { describe, expect, test } from 'vitest';
import {
  compileJsonPath,
  jsonPathProblem,
  type PathReach,
  pathReach,
} from '../../../../src/agent/assertions/json-path.ts';
import { expectedHeapBytes, jsonProblem } from '../../../../src/agent/assertions/json-size.ts';
import { patternProblem } from '../../../../src/agent/assertions/pattern.ts';

describe('problems that are found before a check runs', () => {
  test.each(['a(\\d+)', '^x|y$', '(?<n>a)\\k<n>', '', '(a+)+$'])('pattern %j is fine', (text) => {
    expect(patternProblem(text)).toBeNull();
  });

  test.each(['a(', '[z-a]', '*', '(?<n>a)(?<n>b)', 'a{2,1}'])('pattern %j is not', (text) => {
    expect(patternProblem(text)).toContain(text);
    // Remembered ones are told again.
    expect(patternProblem(text)).toContain(text);
  });

  test.each([
    '$',
    '$.a.b',
    "$['a b'][0]",
    '$..x',
    '$[?@.a > 1]',
    '$[?search(@.a, "x+")]',
    '$[1:3]',
  ])('JSONPath %s is fine', (text) => {
    expect(jsonPathProblem(text)).toBeNull();
  });

  test.each(['a.b', '$.', '$[', '$.a b', '$[?nope(@)]', '$..', '$[01]', '$.a..', '', '$[?(@.a)]x'])(
    'JSONPath %j is not',
    (text) => {
      expect(jsonPathProblem(text)).toMatch(/^.+$/);
      expect(jsonPathProblem(text)).not.toBeNull();
    },
  );

  test('very deep ones are refused or compiled, and harm nothing', () => {
    const deep = `$${'[?@'.repeat(680)}`;
    expect(jsonPathProblem(deep)).not.toBeNull();
    expect(jsonPathProblem(`${deep}${']'.repeat(680)}`)).toBeNull();
  });
});

test.each<[string, PathReach]>([
  ['$', 'plain'],
  ['$.a[0]["b c"][-1]', 'plain'],
  ['$.a[*].b', 'linear'],
  ['$.*', 'linear'],
  ['$..a', 'open'],
  ['$..*', 'open'],
  ['$[*,*]', 'open'],
  ['$["a","b"]', 'open'],
  ['$[0:2]', 'open'],
  ['$[?@.a]', 'open'],
])('%s is %s', (path, reach) => {
  const query = compileJsonPath(path);
  expect(typeof query === 'string' ? query : pathReach(query)).toBe(reach);
});

describe('the size of a document', () => {
  test('counts what is outside of texts', () => {
    expect(expectedHeapBytes('"[[{{,:::\\"[["')).toBe('"[[{{,:::\\"[["'.length);
    expect(expectedHeapBytes('[]')).toBe(2 + 60);
    expect(expectedHeapBytes('{"a":[1,2]}')).toBe(11 + 60 + 60 + 60 + 8);
    expect(expectedHeapBytes('"unclosed [[')).toBe(12);
  });

  test('large texts are fine, very many values are not', () => {
    expect(jsonProblem(JSON.stringify('x'.repeat(5_000_000)))).toBeNull();
    expect(jsonProblem(`[${'1,'.repeat(3_000_000)}1]`)).toBeNull();
    expect(jsonProblem('['.repeat(6_800_000))).toBeNull();
    expect(jsonProblem('['.repeat(6_900_000))).toContain('too many values');
  });
});
