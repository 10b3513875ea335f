import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../../src/service/database/store.ts';
import { StoreError } from '../../../../../src/service/database/store-errors.ts';
import { ResultStorage } from '../../../../../src/service/results/intake/result-storage.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';

const FULL = new StoreError('unavailable', 'STORE_RESOURCES', 'full', { sqlState: '53100' });
const OUT_OF_MEMORY = new StoreError('unavailable', 'STORE_RESOURCES', 'no', { sqlState: '53200' });
const SHUT_DOWN = new StoreError('unavailable', 'STORE_SHUTDOWN', 'no', { sqlState: '57P01' });
const NO_RIGHT = new StoreError('internal', 'STORE_STATEMENT', 'no right to create', {
  sqlState: '42501',
});
const SOMETHING_ELSE = new StoreError('conflict', 'STORE_UNIQUE', 'no', { sqlState: '23505' });

/** A store whose transactions fail with these errors in order. Counts transactions. */
function refusing(...refusals: readonly (Error | null)[]) {
  const left = [...refusals];
  const made = { count: 0 };
  const transaction = async (): Promise<never> => {
    made.count += 1;
    const refusal = left.length > 1 ? left.shift() : left[0];
    if (refusal === null || refusal === undefined) return undefined as never;
    throw refusal;
  };
  return { made, store: { transaction } as Pick<Store, 'transaction'> };
}

function storageOn(store: Pick<Store, 'transaction'>) {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  return { clock, records, storage: new ResultStorage({ store, clock, log }) };
}

describe('whether the database accepts results', () => {
  it('is true without a probe until a refusal', async () => {
    const { store, made } = refusing(FULL);
    const { storage } = storageOn(store);
    await expect(storage.watch(Promise.reject(SOMETHING_ELSE))).rejects.toBe(SOMETHING_ELSE);
    expect(await storage.watch(Promise.resolve('stored'))).toBe('stored');
    expect(await storage.takes()).toBe(true);
    expect(made.count).toBe(0);
  });

  it('is probed once a second during refusals, logged once, and true again with the first write', async () => {
    const { store, made } = refusing(FULL, FULL, null);
    const { storage, clock, records } = storageOn(store);
    await expect(storage.watch(Promise.reject(FULL))).rejects.toBe(FULL);
    expect(await Promise.all([storage.takes(), storage.takes()])).toEqual([false, false]);
    expect(await storage.takes()).toBe(false);
    expect(made.count).toBe(1);
    // A batch that is stored already does not write.
    await storage.watch(Promise.resolve());
    await clock.advance(1_000);
    expect([await storage.takes(), made.count]).toEqual([false, 2]);
    await clock.advance(1_000);
    expect([await storage.takes(), made.count]).toEqual([true, 3]);
    expect(await storage.takes()).toBe(true);
    expect(made.count).toBe(3);
    expect(records().map(({ level, sqlState }) => [level, sqlState])).toEqual([
      ['error', '53100'],
      ['warn', undefined],
    ]);
  });

  it('is true if one batch is refused for another reason, such as its size', async () => {
    const { storage } = storageOn(refusing(FULL).store);
    await expect(storage.watch(Promise.reject(OUT_OF_MEMORY))).rejects.toBe(OUT_OF_MEMORY);
    expect(await storage.takes()).toBe(true);
  });

  it('is unknown while the database cannot be probed', async () => {
    const { store, made } = refusing(SHUT_DOWN, null);
    const { storage, clock } = storageOn(store);
    await expect(storage.watch(Promise.reject(FULL))).rejects.toBe(FULL);
    expect(await storage.takes()).toBe(false);
    await clock.advance(1_000);
    expect([await storage.takes(), made.count]).toEqual([true, 2]);
  });

  it('is true if the probe itself fails, which is logged', async () => {
    const { storage, records } = storageOn(refusing(NO_RIGHT).store);
    await expect(storage.watch(Promise.reject(FULL))).rejects.toBe(FULL);
    expect(await storage.takes()).toBe(true);
    expect(records().map(({ level }) => level)).toEqual(['error', 'error']);
    expect(records().at(-1)?.msg).toMatch(/could not test it: no right to create/);
  });
});
