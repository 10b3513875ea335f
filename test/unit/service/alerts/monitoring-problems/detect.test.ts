import { describe, expect, it } from 'vitest';
import { diskLevel } from '../../../../../src/service/alerts/monitoring-problems/detect.ts';

const GIB = 2 ** 30;

describe('a disk', () => {
  it.each([
    // A small one: its share decides.
    [20, 1.9, 'bad'],
    [20, 2, 'near'],
    [20, 2.9, 'near'],
    [20, 3, null],
    // A large one: 10 GiB are enough for long.
    [2000, 9.9, 'bad'],
    [2000, 10, 'near'],
    [2000, 15, null],
  ])('of %s GiB with %s GiB free is: %s', (size, free, level) => {
    expect(diskLevel({ sizeBytes: size * GIB, freeBytes: free * GIB })).toBe(level);
  });
});
