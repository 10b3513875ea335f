import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ConcurrencyLimit } from '../../../../../src/agent/source/discovery/concurrency-limit.ts';
import { FileReader } from '../../../../../src/agent/source/discovery/file-reader.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';

const { signal } = new AbortController();
const LATE = /cannot be read within 10 s/;

it('reading a file that blocks is given up after 10 s, and not begun again before it ends', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  const path = join(folder.path, 'targets.json');
  await writeFile(path, '[]');
  const clock = new FakeClock();
  const limiter = new ConcurrencyLimit(1);
  // Stands in for a file on a dead mount.
  let unblock = (): void => {};
  const blocked = limiter.run(() => new Promise<void>((resolve) => (unblock = resolve)));
  const reader = new FileReader(path, { clock, limiter });

  const late = expect(reader.find(new Map(), signal)).rejects.toThrow(LATE);
  await clock.advance(10_000);
  await late;
  await expect(reader.find(new Map(), signal)).rejects.toThrow(LATE);

  unblock();
  await blocked;
  // The next reading is due, and the abandoned one ends.
  await limiter.run(async () => {});
  const stamp = expect.any(String);
  const known = reader.find(new Map(), signal);
  const found = await clockwise(clock, known);
  expect(found).toEqual([{ name: path, language: 'JSON', stamp, text: '[]' }]);
  expect(clock.pendingTimers).toBe(0);
});

/** Lets the time pass that the promise waits for. */
async function clockwise<T>(clock: FakeClock, promise: Promise<T>): Promise<T> {
  let isDone = false;
  const done = promise.finally(() => {
    isDone = true;
  });
  while (!isDone) await clock.advance((clock.nextTimerInMs ?? 0) <= 1_000 ? 1_000 : 0);
  return done;
}
