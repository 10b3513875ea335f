import { expect, it } from 'vitest';
import { afterSight, type RunDown } from '../../../../src/model/alerting/certificate-expiry.ts';

const DAY_MS = 86_400_000;

/** The days that are told of, of certificates as they are seen: [day, days remaining]. */
function toldOf(...sights: readonly (readonly [number, number])[]): readonly number[] {
  let before: RunDown | null = null;
  return sights.flatMap(([day, daysRemaining]) => {
    const after = afterSight(before, { slotMs: day * DAY_MS, daysRemaining });
    before = after ?? before;
    return after === null ? [] : [daysRemaining];
  });
}

it.each<[string, readonly (readonly [number, number])[], readonly number[]]>([
  [
    'nothing of one that ends far from now',
    [
      [0, 90],
      [50, 31],
    ],
    [],
  ],
  [
    'each day from the thirtieth on, once',
    [
      [0, 30],
      [0.3, 30],
      [0.9, 29],
      [2, 28],
      [2.1, 28],
    ],
    [30, 29, 28],
  ],
  [
    'the day it is on, where it was not looked at before',
    [
      [0, 12],
      [9, 3],
    ],
    [12, 3],
  ],
  [
    'the last day, and nothing once it is past',
    [
      [0, 1],
      [1, 0],
      [2, -1],
      [30, -29],
    ],
    [1, 0],
  ],
  ['nothing of one that is past already', [[0, -5]], []],
  [
    'the next one when its time comes',
    [
      [0, 3],
      [1, 89],
      [61, 29],
    ],
    [3, 29],
  ],
  [
    'nothing twice, where an old one and a new one are served side by side',
    [
      [0, 10],
      [0.1, 25],
      [0.2, 10],
      [1, 9],
      [1.1, 24],
    ],
    [10, 9],
  ],
  [
    'one that ends sooner than the one before',
    [
      [0, 25],
      [0.1, 10],
      [0.2, 25],
    ],
    [25, 10],
  ],
  [
    'the new one, once the old one is past',
    [
      [0, 1],
      [0.5, 6],
      [2, 4],
      [2.1, -1],
      [2.2, 4],
    ],
    [1, 4],
  ],
])('tells %s', (_name, sights, told) => {
  expect(toldOf(...sights)).toEqual(told);
});
