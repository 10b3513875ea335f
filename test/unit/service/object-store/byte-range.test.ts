import { describe, expect, it } from 'vitest';
import {
  type ByteRange,
  parseRangeHeader,
  resolveRange,
} from '../../../../src/service/object-store/byte-range.ts';

describe('a Range header', () => {
  it.each<[string | undefined, ByteRange | null]>([
    ['bytes=0-0', { first: 0, last: 0 }],
    ['bytes=10-19', { first: 10, last: 19 }],
    ['bytes=10-', { first: 10, last: null }],
    ['bytes=-5', { lastBytes: 5 }],
    ['Bytes=1-2', { first: 1, last: 2 }],
    [' bytes=1-2 ', { first: 1, last: 2 }],
  ])('%j is a range', (header, range) => {
    expect(parseRangeHeader(header)).toEqual(range);
  });

  it.each([
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=5-4',
    'bytes=0-1,3-4',
    'items=0-1',
    'bytes=a-b',
    'bytes=1.5-2',
    'bytes=0-99999999999999999',
  ])('%j stands for the whole', (header) => {
    expect(parseRangeHeader(header)).toBeNull();
  });
});

describe('a range in 100 bytes', () => {
  it.each<[ByteRange | null, number, number]>([
    [null, 0, 99],
    [{ first: 0, last: 0 }, 0, 0],
    [{ first: 99, last: null }, 99, 99],
    [{ first: 90, last: 1000 }, 90, 99],
    [{ lastBytes: 1 }, 99, 99],
    [{ lastBytes: 1000 }, 0, 99],
  ])('%j', (range, first, last) => {
    expect(resolveRange(range, 100)).toEqual({ first, last });
  });

  it.each<ByteRange>([
    { first: 100, last: null },
    { first: 100, last: 200 },
    { first: -1, last: 5 },
    { first: 5, last: 4 },
    { first: 0.5, last: 4 },
    { first: Number.NaN, last: null },
    { lastBytes: 0 },
    { lastBytes: -3 },
  ])('has nothing of %j', (range) => {
    expect(() => resolveRange(range, 100)).toThrow(
      expect.objectContaining({ code: 'ARTIFACT_RANGE', attributes: { bytes: 100 } }),
    );
  });
});
