import { describe, expect, it } from 'vitest';
import {
  machineLimits,
  waitingLimit,
} from '../../../../../src/agent/scheduler/permits/waiting-limit.ts';

const GIB = 1024 ** 3;

describe('waitingLimit', () => {
  it.each([
    [
      'open files',
      100,
      { descriptors: 2552, memoryBytes: 8 * GIB },
      1048,
      /ulimit -n\), which is 2552$/,
    ],
    ['no open files left', 1000, { descriptors: 1024, memoryBytes: 8 * GIB }, 0, /ulimit -n/],
    ['memory', 100, { descriptors: 1_048_576, memoryBytes: GIB }, 1024, /memory than 1024 MiB$/],
    [
      'memory without a known limit of files',
      100,
      { descriptors: null, memoryBytes: GIB / 2 },
      512,
      /512 MiB/,
    ],
    [
      'a number that more agents share',
      100,
      { descriptors: null, memoryBytes: 64 * GIB },
      10_000,
      /add an agent/,
    ],
  ] as const)('is set by %s', (_what, concurrency, limits, runs, remedy) => {
    const limit = waitingLimit(concurrency, limits);
    expect(limit).toEqual({ runs, remedy: expect.stringMatching(remedy) });
  });

  it('uses the limits of this process', () => {
    const { descriptors, memoryBytes } = machineLimits();
    expect(descriptors ?? 1).toBeGreaterThan(0);
    expect(memoryBytes).toBeGreaterThan(64 * 1024 ** 2);
    expect(Number.isFinite(memoryBytes)).toBe(true);
  });
});
