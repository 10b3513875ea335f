import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createYielder, yieldToEventLoop } from '../../../src/runtime/event-loop.ts';

describe('a yield to the event loop', () => {
  it('resumes one waiting caller per iteration of the event loop, in order', async () => {
    const resumed: number[] = [];
    const all = [1, 2, 3].map((n) => yieldToEventLoop().then(() => resumed.push(n)));
    const seen: number[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      await nextIteration();
      seen.push(resumed.length);
    }
    await Promise.all(all);
    expect(resumed).toEqual([1, 2, 3]);
    expect(seen).toEqual([1, 2, 3]);
  });
});

describe('a yielder', () => {
  it('resolves at once until its time is used up, and again after a yield', async () => {
    let nowMs = 0;
    const turn = createYielder({ monotonicMs: () => nowMs });
    let others = 0;
    const isOthersTurn = async (): Promise<boolean> => {
      const before = others;
      setImmediate(() => (others += 1));
      await turn();
      const hadOne = others > before;
      await nextIteration();
      return hadOne;
    };
    const seen: boolean[] = [];
    for (const atMs of [1, 4, 6, 9, 12]) {
      nowMs = atMs;
      seen.push(await isOthersTurn());
    }
    expect(seen).toEqual([false, false, true, false, true]);
  });
});
