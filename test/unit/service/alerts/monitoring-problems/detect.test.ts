import { describe, expect, it } from 'vitest';
import { diskLevel } from '../../../../../src/service/alerts/monitoring-problems/detect.ts';
import {
  type DiskSpace,
  timedDiskReader,
} from '../../../../../src/service/alerts/monitoring-problems/disk-space.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const GIB = 2 ** 30;

describe('a disk', () => {
  it.each([
    // A small disk: the share that is free decides.
    [20, 1.9, 'bad'],
    [20, 2, 'near'],
    [20, 2.9, 'near'],
    [20, 3, null],
    // A large disk: 10 GiB are enough for a long time.
    [2000, 9.9, 'bad'],
    [2000, 10, 'near'],
    [2000, 15, null],
  ])('of %s GiB with %s GiB free is: %s', (size, free, level) => {
    expect(diskLevel({ sizeBytes: size * GIB, freeBytes: free * GIB })).toBe(level);
  });

  it('that does not answer has an unknown level, and is not asked again until it answers', async () => {
    const clock = new FakeClock();
    let answer: (space: DiskSpace) => void = () => {};
    const asked = new Promise<DiskSpace>((resolve) => {
      answer = resolve;
    });
    let times = 0;
    const read = timedDiskReader(clock, () => {
      times += 1;
      return asked;
    });
    const first = read();
    await clock.advance(5_000);
    expect(await first).toBeNull();
    expect(await read()).toBeNull();
    expect(times).toBe(1);
    const space = { freeBytes: GIB, sizeBytes: GIB };
    answer(space);
    await asked;
    expect(await read()).toEqual(space);
    expect(clock.pendingTimers).toBe(0);
  });
});
