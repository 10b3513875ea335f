import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../../src/service/database/store.ts';
import { StoreError } from '../../../../../src/service/database/store-errors.ts';
import { ResultStorage } from '../../../../../src/service/results/intake/result-storage.ts';
import { databases, useMigratedStore } from '../../../../support/database/databases.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';

const FULL = new StoreError('unavailable', 'STORE_RESOURCES', 'full', { sqlState: '53100' });

/** How the database refuses results, and accepts them again. */
describe.each(databases)('on %s', (kind) => {
  describe('whether the database accepts results', () => {
    const storeOf = useMigratedStore(kind);
    const storageOn = (store: Pick<Store, 'transaction'>) => {
      const clock = new FakeClock();
      const { log, records } = captureLog();
      return { clock, records, storage: new ResultStorage({ store, clock, log }) };
    };

    it('is probed by a write that is rolled back', async () => {
      const tables = () => storeOf().query('select relname, relpages from pg_class order by oid');
      const before = await tables();
      const { storage } = storageOn(storeOf());
      await expect(storage.watch(Promise.reject(FULL))).rejects.toBe(FULL);
      expect(await storage.takes()).toBe(true);
      expect(await tables()).toEqual(before);
    });

    it('is probed also by a role that may not create tables in the schema', async () => {
      const transaction: Store['transaction'] = (work) =>
        storeOf().transaction(async (tx) => {
          // The revoked right is back after the rollback.
          await tx.query('create role without_tables');
          await tx.query('revoke create on schema public from public');
          await tx.query('set local role without_tables');
          return await work(tx);
        });
      const { storage, records } = storageOn({ transaction });
      await expect(storage.watch(Promise.reject(FULL))).rejects.toBe(FULL);
      expect(await storage.takes()).toBe(true);
      expect(records().map(({ level }) => level)).toEqual(['error', 'warn']);
    });

    it('is false while the database is read-only, and true again afterwards', async () => {
      const store = storeOf();
      const { storage, clock, records } = storageOn(store);
      await setReadOnly(store, 'on');
      await expect(storage.watch(store.query('delete from check_results'))).rejects.toMatchObject({
        code: 'STORE_READ_ONLY',
      });
      expect(await storage.takes()).toBe(false);
      await clock.advance(1_000);
      expect(await storage.takes()).toBe(false);
      await setReadOnly(store, 'off');
      await clock.advance(1_000);
      expect(await storage.takes()).toBe(true);
      await storage.watch(store.query('delete from check_results'));
      expect(records().map(({ level, sqlState }) => [level, sqlState])).toEqual([
        ['error', '25006'],
        ['warn', undefined],
      ]);
    });
  });
});

async function setReadOnly(store: Store, to: 'on' | 'off'): Promise<void> {
  if (store.kind === 'pglite') {
    await store.query(`set default_transaction_read_only = ${to}`);
    return;
  }
  await store.transaction(async (tx) => {
    await tx.query('set transaction read write');
    const [row] = await tx.query<{ name: string }>('select current_database() as name');
    await tx.query(`alter database ${row?.name} set default_transaction_read_only = ${to}`);
  });
  // The setting applies to new connections only.
  const others = 'datname = current_database() and pid <> pg_backend_pid()';
  await store.query(
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where ${others}`,
  );
  const own = store.query('select pg_terminate_backend(pg_backend_pid())');
  await expect(own).rejects.toBeInstanceOf(StoreError);
}
