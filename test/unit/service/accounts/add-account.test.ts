import { expect, it } from 'vitest';
import { addAccount } from '../../../../src/service/accounts/operator.ts';
import type { Row, Store, Transaction } from '../../../../src/service/database/store.ts';
import {
  brokenDatabase,
  commitUnknown,
  StoreError,
  silentRollback,
} from '../../../../src/service/database/store-errors.ts';
import { silentLog } from '../../../support/database/silent-store.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const LOST = new StoreError('unavailable', 'STORE_CONNECTION', 'lost');

interface Failures {
  readonly atStatement?: StoreError;
  readonly atCommit?: StoreError;
}

/** A store whose statements or commit fail as given. */
function storeThat(fails: Failures): Store {
  const query = async <R extends Row>(): Promise<readonly R[]> => {
    if (fails.atStatement !== undefined) throw fails.atStatement;
    return [];
  };
  const tx: Transaction = { query, script: async () => {} };
  return {
    kind: 'postgres',
    query,
    transaction: async (work) => {
      const result = await work(tx);
      if (fails.atCommit !== undefined) throw fails.atCommit;
      return result;
    },
    listen: async () => async () => {},
    close: async () => {},
  };
}

/** Adds an account, and returns what was thrown and what became of its key. */
async function add(store: Store) {
  const done: string[] = [];
  const parts = { store, clock: new FakeClock(), log: silentLog(), ids: () => 'an-id' };
  const thrown: unknown = await addAccount(parts, 'Shop', {
    saveKey: async () => void done.push('saved'),
    discardKey: async () => void done.push('discarded'),
  }).catch((error: unknown) => error);
  return { thrown, done };
}

it.each([
  ['the connection was lost in COMMIT', commitUnknown(LOST)],
  ['the embedded database broke in COMMIT', brokenDatabase('broke')],
])('keeps the key of an account that may exist: %s', async (_, atCommit) => {
  const { thrown, done } = await add(storeThat({ atCommit }));
  expect(thrown).toMatchObject({
    kind: 'environment',
    code: 'ACCOUNT_UNKNOWN',
    message: `it is unknown whether the account "Shop" was created: ${atCommit.message}`,
  });
  expect(done).toEqual(['saved']);
});

const CERTAIN: readonly (readonly [string, Failures])[] = [
  ['a statement failed', { atStatement: LOST }],
  ['the embedded database broke at a statement', { atStatement: brokenDatabase('broke') }],
  ['the connection was lost before COMMIT', { atCommit: LOST }],
  ['the database rolled back', { atCommit: silentRollback() }],
];

it.each(CERTAIN)(
  'discards the key of an account that certainly does not exist: %s',
  async (_, fails) => {
    const { thrown, done } = await add(storeThat(fails));
    expect(thrown).toBe(fails.atStatement ?? fails.atCommit);
    expect(done).toEqual(['saved', 'discarded']);
  },
);
