import type { Logger } from '../../runtime/logger.ts';
import type { SecretBox } from '../../runtime/secret-box.ts';
import { createCheckVariables } from '../checks/variables/check-variables.ts';
import type { AccountKey } from '../database/account-key.ts';
import type { Store } from '../database/store.ts';
import { ServiceError } from '../errors.ts';
import { createProxyPasswords } from '../private-locations/proxy-passwords.ts';
import { lockPrivateLocation } from '../private-locations/shared.sql.ts';
import {
  listCredentialChecks,
  listProxyLocations,
  lockCheckCredentials,
  putCheckCredentials,
  putLocationProxy,
} from './sealing.sql.ts';

export interface RewriteParts {
  readonly store: Store;
  readonly log: Logger;
  /** null: credentials are stored unencrypted. */
  readonly secrets: SecretBox | null;
}

/** How many checks and locations. */
export interface Rewritten {
  readonly changed: number;
  /** The number that no key decrypts; these do not change. */
  readonly unreadable: number;
}

const BATCH = 100;

/**
 * Encrypts all stored credentials with the first key, or decrypts them. Changes and locks each row in its own
 * transaction. Repeatable, and safe on several replicas at once.
 *
 * @param changedSinceMs only those of checks that changed since then, and all proxies; null: all
 */
export async function rewriteCredentials(
  { store, log, secrets }: RewriteParts,
  to: 'seal' | 'unseal',
  signal: AbortSignal,
  changedSinceMs: number | null = null,
): Promise<Rewritten> {
  const checkVariables = createCheckVariables({ log, secrets });
  const proxyPasswords = createProxyPasswords({ log, secrets });
  const rewriteCheck = to === 'seal' ? checkVariables.sealAgain : checkVariables.unsealCredentials;
  const rewriteProxy = to === 'seal' ? proxyPasswords.sealAgain : proxyPasswords.unseal;
  let changed = 0;
  let unreadable = 0;

  const rewrite = async (work: () => Promise<boolean>): Promise<void> => {
    try {
      if (await work()) changed += 1;
    } catch (error) {
      // No key decrypts the secret.
      if (!(error instanceof ServiceError)) throw error;
      unreadable += 1;
    }
  };

  await inBatches(
    (after) => listCredentialChecks(store, { after, limit: BATCH, changedSinceMs }),
    (key) =>
      rewrite(async () => {
        if (rewriteCheck(key, key.body, key.sealedVariables) === null) return false;
        return store.transaction(async (tx) => {
          const stored = await lockCheckCredentials(tx, key);
          const next =
            stored === null ? null : rewriteCheck(key, stored.body, stored.sealedVariables);
          if (next !== null) await putCheckCredentials(tx, { ...key, ...next });
          return next !== null;
        });
      }),
    signal,
  );
  await inBatches(
    (after) => listProxyLocations(store, { after, limit: BATCH }),
    (key) =>
      rewrite(async () => {
        if (rewriteProxy(key, key) === null) return false;
        return store.transaction(async (tx) => {
          const stored = await lockPrivateLocation(tx, key);
          const next = stored === null ? null : rewriteProxy(key, stored);
          if (next !== null) await putLocationProxy(tx, { ...key, ...next });
          return next !== null;
        });
      }),
    signal,
  );
  return { changed, unreadable };
}

async function inBatches<Row extends AccountKey>(
  listAfter: (after: AccountKey | null) => Promise<readonly Row[]>,
  work: (row: Row) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let after: AccountKey | null = null; !signal.aborted; ) {
    const rows: readonly Row[] = await listAfter(after);
    for (const row of rows) {
      if (signal.aborted) return;
      await work(row);
    }
    after = rows.at(-1) ?? null;
    if (after === null || rows.length < BATCH) return;
  }
}
