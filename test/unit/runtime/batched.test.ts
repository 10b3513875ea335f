import { describe, expect, it } from 'vitest';
import { batched } from '../../../src/runtime/batched.ts';

/** Answers each batch when the test says so. */
function fixture() {
  const lots: {
    readonly key: string;
    readonly items: readonly number[];
    end(fails?: Error): void;
  }[] = [];
  let arrived = (): void => {};
  const ask = batched<number, string>((key, items) => {
    return new Promise((resolve, reject) => {
      const end = (fails?: Error): void => {
        if (fails !== undefined) reject(fails);
        else resolve(items.map((item) => `${key} ${item}`));
      };
      lots.push({ key, items, end });
      arrived();
    });
  });
  const lot = async (index: number) => {
    while (lots.length <= index) {
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
    const found = lots[index];
    if (found === undefined) throw new Error('there is no such lot');
    return found;
  };
  return { ask, lots, lot };
}

describe('batched', () => {
  it('answers concurrent calls with one batch, each with its own answer', async () => {
    const { ask, lots, lot } = fixture();
    const answers = Promise.all([ask('a', 1), ask('a', 2), ask('b', 3), ask('a', 4)]);
    (await lot(0)).end();
    (await lot(1)).end();
    expect(await answers).toEqual(['a 1', 'a 2', 'b 3', 'a 4']);
    expect(lots.map(({ key, items }) => [key, items])).toEqual([
      ['a', [1, 2, 4]],
      ['b', [3]],
    ]);
  });

  it('never answers a call from an earlier read', async () => {
    const { ask, lots, lot } = fixture();
    const first = ask('a', 1);
    const one = await lot(0);
    const later = [ask('a', 2), ask('a', 3)];
    expect(lots).toHaveLength(1);
    one.end();
    expect(await first).toBe('a 1');
    const two = await lot(1);
    expect(two.items).toEqual([2, 3]);
    two.end();
    expect(await Promise.all(later)).toEqual(['a 2', 'a 3']);
  });

  it('rejects each call of a failed batch, and answers the next one', async () => {
    const { ask, lot } = fixture();
    const failed = [ask('a', 1), ask('a', 2)];
    const one = await lot(0);
    const next = ask('a', 3);
    one.end(new Error('away'));
    for (const answer of failed) await expect(answer).rejects.toThrow('away');
    (await lot(1)).end();
    expect(await next).toBe('a 3');
    const again = ask('a', 4);
    (await lot(2)).end();
    expect(await again).toBe('a 4');
  });
});
