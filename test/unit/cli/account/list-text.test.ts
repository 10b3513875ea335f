import { expect, it } from 'vitest';
import { AccountTable, accountLines } from '../../../../src/cli/account/list-text.ts';

const SHOP = {
  id: '5f0c8a8e-0000-4000-8000-000000000001',
  name: 'Shop\tteam',
  checks: 1200,
  users: 3,
  locations: 2,
  keys: 5,
  lastResultAt: new Date('2026-01-31T08:39:04Z'),
  createdAt: new Date('2025-12-01T00:00:00Z'),
};
const NEW = { ...SHOP, id: 'n', name: 'New', checks: 0, lastResultAt: null };

it('prints accounts as lines of tab-separated fields, with tabs in names escaped', () => {
  expect(accountLines([SHOP, NEW])).toBe(
    [
      '5f0c8a8e-0000-4000-8000-000000000001\tShop\\u{9}team\t1200\t3\t2\t5\t2026-01-31T08:39:04.000Z\t2025-12-01T00:00:00.000Z\n',
      'n\tNew\t0\t3\t2\t5\t-\t2025-12-01T00:00:00.000Z\n',
    ].join(''),
  );
});

it('prints accounts as a table, with one heading for all pages', () => {
  const table = new AccountTable();
  const [heading = '', row = ''] = table.page([SHOP]).split('\n');
  expect(heading).toMatch(/^ID +NAME +CHECKS {2}USERS {2}LOCATIONS {2}KEYS {2}LAST RESULT/);
  expect(row.indexOf('1200') + 4).toBe(heading.indexOf('CHECKS') + 6);
  expect(row).toContain('2026-01-31 08:39');
  const next = table.page([NEW]).split('\n');
  expect(next).toHaveLength(2);
  expect(next[0]?.indexOf('New')).toBe(heading.indexOf('NAME'));
});
