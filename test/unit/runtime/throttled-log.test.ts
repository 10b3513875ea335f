import { describe, expect, it } from 'vitest';
import { ThrottledLog, type ThrottleOptions } from '../../../src/runtime/throttled-log.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';

function throttledLog(options: ThrottleOptions = {}) {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const throttled = new ThrottledLog(clock, log, options);
  return {
    clock,
    throttled,
    warn: (kind: string) => throttled.warn(kind, { kind }, 'it failed'),
    counts: () => records().map(({ kind, count }) => [kind, count]),
    records,
  };
}

describe('a throttled log', () => {
  it('logs each kind of problem at once, and then once per period with its count', async () => {
    const { clock, warn, counts } = throttledLog({ periodMs: 1000 });
    for (const kind of ['disk', 'disk', 'disk', 'net']) warn(kind);
    await clock.advance(999);
    warn('disk');
    expect(counts()).toEqual([
      ['disk', 1],
      ['net', 1],
    ]);
    await clock.advance(1);
    warn('disk');
    warn('disk');
    expect(counts().slice(2)).toEqual([['disk', 4]]);
  });

  it('logs a lasting problem once where it does not repeat it, and again after a period without it', async () => {
    const { clock, warn, counts } = throttledLog({ periodMs: 1000, repeats: false });
    for (let time = 0; time < 5; time += 1) {
      warn('disk');
      await clock.advance(600);
    }
    expect(counts()).toHaveLength(1);
    await clock.advance(400);
    warn('disk');
    expect(counts()).toHaveLength(2);
  });

  it('logs at the level and with the count fields that were asked for', () => {
    const { throttled, records } = throttledLog({ countFields: (count) => ({ closed: count }) });
    throttled.error('disk', { code: 'EIO' }, 'the disk failed');
    expect(records()).toEqual([
      expect.objectContaining({ level: 'error', code: 'EIO', closed: 1, msg: 'the disk failed' }),
    ]);
    expect(records()[0]).not.toHaveProperty('count');
  });

  it('shares one line per period among the kinds beyond the limit', () => {
    const { warn, counts } = throttledLog({ maxKinds: 2 });
    for (const kind of ['a', 'b', 'c', 'd', 'a']) warn(kind);
    expect(counts()).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ]);
  });

  it('gives the line of a kind whose period is over to a new kind', async () => {
    const { clock, warn, counts } = throttledLog({ maxKinds: 2, periodMs: 1000 });
    warn('a');
    await clock.advance(600);
    warn('b');
    await clock.advance(400);
    for (const kind of ['c', 'd', 'c']) warn(kind);
    expect(counts()).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['d', 1],
    ]);
  });

  it('logs the next problem at once after it was cleared, and knows whether one was logged', () => {
    const { throttled, warn, counts } = throttledLog();
    expect(throttled.clear()).toBe(false);
    warn('disk');
    expect(throttled.clear()).toBe(true);
    warn('disk');
    expect(counts()).toEqual([
      ['disk', 1],
      ['disk', 1],
    ]);
    expect(throttled.clear()).toBe(true);
    expect(throttled.clear()).toBe(false);
  });
});
