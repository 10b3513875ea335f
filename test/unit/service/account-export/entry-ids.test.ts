import { expect, it } from 'vitest';
import { entryIds } from '../../../../src/service/account-export/entry-ids.ts';

it('keeps the ids of files, and derives the others from names, each unique', () => {
  const ids = entryIds(
    [
      { id: 1, logicalId: null, name: 'Web shop (EU)' },
      { id: 2, logicalId: null, name: 'Web shop, EU' },
      { id: 3, logicalId: 'shop/ops', name: 'any' },
      { id: 4, logicalId: 'ops', name: 'any' },
      { id: 5, logicalId: null, name: '日本' },
      { id: 6, logicalId: null, name: 'Größe Ünit' },
    ],
    'channel',
  );
  expect([...ids].sort(([one], [other]) => Number(one) - Number(other))).toEqual([
    [1, 'web-shop-eu'],
    [2, 'web-shop-eu-2'],
    [3, 'ops-2'],
    [4, 'ops'],
    [5, 'channel'],
    [6, 'gro-e-unit'],
  ]);
});

it('gives what was applied from an export the same ids again, in whatever order it is stored', () => {
  const exported = ['a', 'b', 'a-2'].map((logicalId, id) => ({ id, logicalId, name: 'x' }));
  for (const stored of [exported, exported.toReversed()]) {
    const ids = entryIds(stored, 'group');
    expect(exported.map(({ id }) => ids.get(id))).toEqual(['a', 'b', 'a-2']);
  }
});
