import { expect, it } from 'vitest';
import { runPaced } from '../../../src/agent/paced-starts.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const { signal } = new AbortController();

function itemsOf(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** When each of `count` runs starts, in ms since the first. `workMs` is the duration of a start. */
async function startTimes(count: number, workMs = 0): Promise<readonly number[]> {
  const clock = new FakeClock();
  const firstMs = clock.monotonicMs();
  const starts: number[] = [];
  let isOver = false;
  const ended = runPaced(itemsOf(count), { clock, signal }, async () => {
    starts.push(clock.monotonicMs() - firstMs);
    clock.spend(workMs);
  }).then(() => {
    isOver = true;
  });
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve));
    if (clock.nextTimerInMs !== null) await clock.advance(clock.nextTimerInMs);
  }
  await ended;
  return starts;
}

it('spreads eighty starts evenly over 200 ms', async () => {
  const starts = await startTimes(80);
  expect(starts).toHaveLength(80);
  for (const [index, atMs] of starts.entries()) expect(atMs).toBeCloseTo((index * 200) / 79, 6);
});

it('spreads few starts by at most 5 ms each', async () => {
  expect(await startTimes(4)).toEqual([0, 5, 10, 15]);
});

it('starts a single item at once, and accepts an empty list', async () => {
  expect(await startTimes(1)).toEqual([0]);
  expect(await startTimes(0)).toEqual([]);
});

it('makes no pause if starting takes longer', async () => {
  expect(await startTimes(4, 7)).toEqual([0, 7, 14, 21]);
});

it('yields to the event loop between two starts, however late it is', async () => {
  const clock = new FakeClock();
  let turns = 0;
  const seen: number[] = [];
  const turn = () => {
    turns += 1;
    if (seen.length < 50) setImmediate(turn);
  };
  setImmediate(turn);
  await runPaced(itemsOf(50), { clock, signal }, async () => {
    seen.push(turns);
    clock.spend(100);
  });
  expect(new Set(seen).size).toBe(50);
});

it('starts the rest at once when the signal aborts', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  let starts = 0;
  await runPaced(itemsOf(80), { clock, signal: stop.signal }, async () => {
    starts += 1;
    if (starts === 3) stop.abort();
    else if (starts < 3) clock.spend(3);
  });
  expect(starts).toBe(80);
  expect(clock.pendingTimers).toBe(0);
});

it('rejects with the error of a run after all have started', async () => {
  let starts = 0;
  const failing = runPaced(itemsOf(3), { clock: systemClock, signal }, async (item) => {
    starts += 1;
    if (item === 0) throw new Error('broken');
  });
  await expect(failing).rejects.toThrow('broken');
  expect(starts).toBe(3);
});
