import { describe, expect, it } from 'vitest';
import { jsonShape } from '../../../../../src/service/http/json/json-shape.ts';

const UNBOUNDED = {
  maxDepth: 64,
  maxValues: Number.POSITIVE_INFINITY,
  maxKeys: Number.POSITIVE_INFINITY,
};

describe('the depth of a JSON text', () => {
  it.each([
    ['1', 0],
    ['[]', 1],
    ['{"a":[1,{"b":2}],"c":{}}', 3],
    ['"[[[["', 0],
    ['["\\"[[[", "\\\\", []]', 2],
    ['[[],[],[[]]]', 3],
  ])('%s is %i', (json, depth) => {
    const shape = (maxDepth: number) => jsonShape(Buffer.from(json), { ...UNBOUNDED, maxDepth });
    expect(shape(depth)).toBe('fits');
    if (depth > 0) expect(shape(depth - 1)).toBe('too-deep');
  });
});

describe('the number of values of a JSON text', () => {
  it.each([
    ['1', 0],
    ['[1]', 1],
    ['{"a":1,"b":[2,3]}', 4],
    ['",,,,{{{"', 0],
    ['["\\",[,{", "\\\\", 3]', 3],
  ])('%s is %i', (json, values) => {
    const shape = (maxValues: number) => jsonShape(Buffer.from(json), { ...UNBOUNDED, maxValues });
    expect(shape(values)).toBe('fits');
    if (values > 0) expect(shape(values - 1)).toBe('too-many');
  });
});

describe('the number of keys of the largest object of a JSON text', () => {
  it.each([
    ['{"a":1,"b":2,"c":3}', 3],
    ['[1,2,3,4,5,{"a":[1,2,3,4],"b":{"c":1,"d":2}},{"e":1}]', 2],
    ['[[1,2,3],{"a":{"b":1},"c":{},"d":[]},{"e":",,,,,"}]', 3],
    ['{"a":{"b":1,"c":2,"d":3},"e":1,"f":2,"g":3}', 4],
  ])('%s is %i', (json, keys) => {
    const shape = (maxKeys: number) => jsonShape(Buffer.from(json), { ...UNBOUNDED, maxKeys });
    expect(shape(keys)).toBe('fits');
    expect(shape(keys - 1)).toBe('too-many-keys');
  });

  it('counts no items of lists', () => {
    const json = `[${'1,'.repeat(1000)}1]`;
    expect(jsonShape(Buffer.from(json), { ...UNBOUNDED, maxKeys: 1 })).toBe('fits');
  });

  it('is found in any bytes', () => {
    for (const json of [']]]],,,,', '{,,,', '[{]},', '}'.repeat(100)]) {
      expect(jsonShape(Buffer.from(json), { ...UNBOUNDED, maxKeys: 10 })).toBe('fits');
    }
  });
});
