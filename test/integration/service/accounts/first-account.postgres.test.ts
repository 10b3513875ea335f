import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { makeFirstAccount } from '../../../../src/service/accounts/first-account.ts';
import { createApiKeys } from '../../../../src/service/api-keys/api-keys.ts';
import { hashOfKey } from '../../../../src/service/http/access/key-hashes.ts';
import { databases, useMigratedStore } from '../../../support/database/databases.ts';

const KEY = `vk_${'0f'.repeat(16)}`;
const OTHER = `vk_${'1e'.repeat(16)}`;

/** The first account of an empty service. */
describe.each(databases)('on %s', (kind) => {
  describe('the first account', () => {
    const store = useMigratedStore(kind);
    const parts = () => ({ store: store(), clock: systemClock, ids: randomUUID });

    it('is created once with its key, which has the role admin', async () => {
      expect(await makeFirstAccount(parts(), KEY)).toBe('made');
      expect(await makeFirstAccount(parts(), KEY)).toBe('known');
      const keys = createApiKeys(parts());
      expect(await keys.authenticate(hashOfKey(KEY))).toMatchObject({ role: 'admin' });
      expect(await store().query('select name from accounts')).toEqual([{ name: 'Main' }]);
    });

    it('is not created where an account exists already', async () => {
      await makeFirstAccount(parts(), KEY);
      expect(await makeFirstAccount(parts(), OTHER)).toBe('unused');
      expect(await createApiKeys(parts()).authenticate(hashOfKey(OTHER))).toBeNull();
    });

    it('is created once by replicas that start at the same time', async () => {
      const made = await Promise.all(
        [KEY, KEY, OTHER].map((key) => makeFirstAccount(parts(), key)),
      );
      expect(made.filter((each) => each === 'made')).toHaveLength(1);
      expect(await store().query('select id from accounts')).toHaveLength(1);
    });
  });
});
