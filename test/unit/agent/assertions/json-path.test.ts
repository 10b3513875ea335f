import { describe, expect, test } from 'vitest';
import {
  compileJsonPath,
  type PathReach,
  pathReach,
} from '../../../../src/agent/assertions/json-path.ts';
import { expectedHeapBytes, jsonProblem } from '../../../../src/agent/assertions/json-size.ts';

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
])('the JSONPath %s has the reach %s', (path, reach) => {
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
