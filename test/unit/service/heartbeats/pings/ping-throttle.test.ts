import { describe, expect, it } from 'vitest';
import { PingThrottle } from '../../../../../src/service/heartbeats/pings/ping-throttle.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

function throttled() {
  const clock = new FakeClock();
  const throttle = new PingThrottle<number>(clock);
  const taken: string[] = [];
  const ping = (token: string): Promise<number> =>
    throttle.take(token, async (pings) => {
      taken.push(`${token} ${pings}`);
      return taken.length;
    });
  return { clock, throttle, taken, ping };
}

describe('the throttle of pings', () => {
  it('accepts one ping a second of each token, and counts the others with the next', async () => {
    const { clock, taken, ping } = throttled();
    expect(await Promise.all([ping('a'), ping('a'), ping('b')])).toEqual([1, 1, 2]);
    clock.spend(999);
    expect(await ping('a')).toBe(1);
    clock.spend(1);
    expect(await ping('a')).toBe(3);
    expect(taken).toEqual(['a 1', 'b 1', 'a 3']);
  });

  it('accepts the next ping after a failed one, and after forget()', async () => {
    const { throttle, taken, ping } = throttled();
    const failed = throttle.take('a', () => Promise.reject(new Error('away')));
    await expect(failed).rejects.toThrow('away');
    await ping('a');
    throttle.forget('a');
    await ping('a');
    expect(taken).toEqual(['a 1', 'a 1']);
  });

  it('remembers ten thousand tokens', async () => {
    const { taken, ping } = throttled();
    for (let token = 0; token <= 10_000; token += 1) await ping(String(token));
    await ping('1');
    expect(taken).toHaveLength(10_001);
    await ping('0');
    expect(taken).toHaveLength(10_002);
  });
});
