import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAccount, insertAccount } from '../../../../src/service/accounts/sql.ts';
import { dryRunOf } from '../../../../src/service/database/dry-run.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import { databases, openMigratedStore } from '../../../support/database/databases.ts';

describe.each(databases)('on %s', (kind) => {
  describe('a dry run', () => {
    let store: Store;
    beforeAll(async () => {
      store = await openMigratedStore(kind);
    });
    afterAll(() => store.close());

    it('returns what its transaction returned, and rolls it back', async () => {
      const id = randomUUID();
      const seen = await dryRunOf(store).transaction(async (tx) => {
        await insertAccount(tx, { id, name: 'tried', createdAtMs: 0 });
        return findAccount(tx, id);
      });
      expect(seen).toMatchObject({ name: 'tried' });
      expect(await findAccount(store, id)).toBeNull();
    });

    it('fails with the error of its work', async () => {
      const error = new Error('refused');
      const failed = dryRunOf(store).transaction(async () => {
        throw error;
      });
      await expect(failed).rejects.toBe(error);
    });

    it('refuses a statement outside of a transaction, which would take effect', async () => {
      const id = randomUUID();
      const written = insertAccount(dryRunOf(store), { id, name: 'written', createdAtMs: 0 });
      await expect(written).rejects.toMatchObject({ code: 'STORE_USE' });
      expect(await findAccount(store, id)).toBeNull();
    });
  });
});
