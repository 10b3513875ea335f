import type { Clock } from '../../runtime/clock.ts';
import { shownPartsOf } from '../api-keys/keys.ts';
import { findActiveApiKeyByHash, insertApiKey } from '../api-keys/shared.sql.ts';
import type { Store } from '../database/store.ts';
import { hashOfKey } from '../http/access/key-hashes.ts';
import { hasAccount, insertAccount, lockFirstAccount } from './sql.ts';

export interface FirstAccountParts {
  readonly store: Store;
  readonly clock: Clock;
  /** Makes a UUID. */
  readonly ids: () => string;
}

const ACCOUNT_NAME = 'Main';
const KEY_NAME = 'First key';

/**
 * - `made`: there was no account; now there is one, with this key
 * - `known`: the key belongs to an existing account
 * - `unused`: there are accounts, and the key belongs to none
 */
export type FirstAccount = 'made' | 'known' | 'unused';

/**
 * Creates the first account and key of an empty service: creating any other key needs a key. Idempotent,
 * and safe on several replicas at once.
 *
 * @param key `vk_` and 32 hex digits
 */
export function makeFirstAccount(
  { store, clock, ids }: FirstAccountParts,
  key: string,
): Promise<FirstAccount> {
  const hash = hashOfKey(key);
  const [accountId, keyId] = [ids(), ids()];
  return store.transaction(async (tx) => {
    if ((await findActiveApiKeyByHash(tx, hash)) !== null) return 'known';
    if (await lockFirstAccount(tx)) {
      // Another replica may have created it while this one waited for the lock.
      return (await findActiveApiKeyByHash(tx, hash)) === null ? 'unused' : 'known';
    }
    const createdAtMs = clock.wallMs();
    await insertAccount(tx, { id: accountId, name: ACCOUNT_NAME, createdAtMs });
    await insertApiKey(tx, {
      id: keyId,
      accountId,
      name: KEY_NAME,
      role: 'admin',
      hash,
      ...shownPartsOf(key),
      createdAtMs,
    });
    return 'made';
  });
}

/** Without an account, no key can be valid. */
export async function isWithoutAccount(store: Store): Promise<boolean> {
  return !(await hasAccount(store));
}
