import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { openTestStore } from '../../../support/database/databases.ts';

it('the embedded database yields to the event loop between the statements of a transaction', async () => {
  let nowMs = 0;
  // Each reading of the clock takes a second.
  const monotonicMs = (): number => {
    nowMs += 1_000;
    return nowMs;
  };
  const store = await openTestStore('pglite', { ...systemClock, monotonicMs });
  onTestFinished(() => store.close());
  const order: string[] = [];
  await store.transaction(async (tx) => {
    for (const number of [1, 2, 3]) {
      await tx.query('select 1');
      order.push(`statement ${number}`);
      setImmediate(() => order.push('another'));
    }
  });
  expect(order.slice(0, 5)).toEqual([
    'statement 1',
    'another',
    'statement 2',
    'another',
    'statement 3',
  ]);
});
