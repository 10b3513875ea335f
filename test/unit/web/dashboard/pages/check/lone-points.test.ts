import { describe, expect, it } from 'vitest';
import { lonePoints } from '../../../../../../src/web/dashboard/pages/check/lone-points.ts';

describe('lonePoints', () => {
  it('finds the only point of a chart, wherever it is', () => {
    expect(lonePoints([7])).toEqual([0]);
    expect(lonePoints([null, 7, null])).toEqual([1]);
    expect(lonePoints([null, null, 7])).toEqual([2]);
  });

  it('finds a point between two gaps, and none that a line leads to', () => {
    expect(lonePoints([1, 2, null, 3, null, 4, 5])).toEqual([3]);
  });

  it('counts zero as known, and what is missing as a gap', () => {
    expect(lonePoints([0, null, undefined, 1, 2])).toEqual([0]);
  });

  it('finds nothing where nothing is known', () => {
    expect(lonePoints([])).toEqual([]);
    expect(lonePoints([null, null])).toEqual([]);
  });
});
