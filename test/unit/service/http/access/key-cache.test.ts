import { describe, expect, it } from 'vitest';
import { KeyCache } from '../../../../../src/service/http/access/key-cache.ts';
import { hashOfKey } from '../../../../../src/service/http/access/key-hashes.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

describe('a cache of keys', () => {
  it('does not keep or share the answer of a look-up that began before its holder was forgotten', async () => {
    const answers: ((holder: string | null) => void)[] = [];
    const authenticate = () =>
      new Promise<string | null>((resolve) => {
        answers.push(resolve);
      });
    const options = { clock: new FakeClock(), ttlMs: 5_000, maxEntries: 10 };
    const cache = new KeyCache<string>({ holders: { authenticate }, ...options });
    const key = hashOfKey('a key');
    const early = cache.lookUp(key);
    cache.forget((holder) => holder === 'ann');
    const late = cache.lookUp(key);
    expect(answers).toHaveLength(2);
    answers[1]?.(null);
    expect(await late).toBeNull();
    answers[0]?.('ann');
    await early;
    expect(cache.peek(key)).toBeNull();
    expect(cache.wasKnown(key)).toBe(false);
  });

  it('shares one query among the look-ups of a key at the same time', async () => {
    let asked = 0;
    const authenticate = async () => {
      asked += 1;
      return 'ann';
    };
    const options = { clock: new FakeClock(), ttlMs: 5_000, maxEntries: 10 };
    const cache = new KeyCache<string>({ holders: { authenticate }, ...options });
    const key = hashOfKey('a key');
    expect(await Promise.all([cache.lookUp(key), cache.lookUp(key)])).toEqual(['ann', 'ann']);
    expect(asked).toBe(1);
    expect(cache.peek(key)).toBe('ann');
  });
});
