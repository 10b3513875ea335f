import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type AccountOverview,
  accountOverviews,
} from '../../../../src/service/accounts/overviews.ts';
import { resolveAccount } from '../../../../src/service/accounts/resolve-account.ts';
import { insertAccount } from '../../../../src/service/accounts/sql.ts';
import { databases, useMigratedStore } from '../../../support/database/databases.ts';

/** `vedette account list`, and how its commands find an account. */
describe.each(databases)('on %s', (kind) => {
  const store = useMigratedStore(kind);
  const createdAtMs = Date.UTC(2026, 0, 1);

  async function addAccount(name: string): Promise<string> {
    const id = randomUUID();
    await insertAccount(store(), { id, name, createdAtMs });
    return id;
  }

  it('lists each account once, a few at a time, with the numbers of what it has', async () => {
    const ids = [await addAccount('one'), await addAccount('two'), await addAccount('three')];
    const [first = ''] = ids;
    await store().query(
      `insert into private_locations (id, account_id, slug, name)
       values ('l1', $1, 'office', 'Office')`,
      [first],
    );
    await store().query(
      `insert into api_keys (id, account_id, name, key_hash, key_prefix, role, revoked_at)
       values ('k1', $1, 'a', '\\x01', 'vk_1', 'read', null),
         ('k2', $1, 'b', '\\x02', 'vk_2', 'read', now())`,
      [first],
    );
    await store().query(
      `insert into check_statuses
         (account_id, check_id, name, has_failures, has_errors, is_degraded, last_slot)
       values ($1, 'home', 'home', false, false, false, '2026-01-02T03:04:00Z')`,
      [first],
    );
    const pages: (readonly AccountOverview[])[] = [];
    for await (const page of accountOverviews(store(), 2)) pages.push(page);
    expect(pages.map((page) => page.length)).toEqual([2, 1]);
    const listed = pages.flat();
    expect(listed.map(({ id }) => id).toSorted()).toEqual(
      [...ids].sort((one, other) => (one < other ? -1 : 1)),
    );
    expect(listed.find(({ id }) => id === first)).toMatchObject({
      name: 'one',
      checks: 0,
      users: 0,
      locations: 1,
      keys: 1,
      lastResultAt: new Date('2026-01-02T03:04:00Z'),
      createdAt: new Date(createdAtMs),
    });
    expect(listed.find(({ id }) => id !== first)).toMatchObject({ keys: 0, lastResultAt: null });
  });

  it('finds an account by its id or its name, and names the ids where several have it', async () => {
    const shop = await addAccount('Shop');
    const twins = [await addAccount('Twin'), await addAccount('Twin')];
    expect((await resolveAccount(store(), shop)).name).toBe('Shop');
    expect((await resolveAccount(store(), 'Shop')).id).toBe(shop);
    await expect(resolveAccount(store(), 'shop')).rejects.toThrow(/no account with the id or/);
    await expect(resolveAccount(store(), 'a\u0000b')).rejects.toThrow(/no account/);
    const several = await resolveAccount(store(), 'Twin').catch((error: Error) => error.message);
    for (const id of twins) expect(several).toContain(id);
  });
});
