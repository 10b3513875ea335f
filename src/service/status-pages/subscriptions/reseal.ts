import type { SecretBox } from '../../../runtime/secret-box.ts';
import type { Store } from '../../database/store.ts';
import { addressDigests, openSubscriber, sealSubscriber } from './address.ts';
import { listSealedByOthers, resealSubscriber, type SealedSubscriber } from './reseal.sql.ts';

const ROWS_AT_ONCE = 500;

/**
 * Re-encrypts subscribers with the newest key, because these secrets cannot be entered again. Skips values that no
 * key decrypts.
 */
export async function resealSubscribers(
  { store, secrets }: { readonly store: Store; readonly secrets: SecretBox },
  signal: AbortSignal,
): Promise<void> {
  const [keyName = ''] = secrets.keyNames;
  let afterN = 0;
  let found: readonly SealedSubscriber[];
  do {
    found = await listSealedByOthers(store, { keyName, afterN, limit: ROWS_AT_ONCE });
    for (const { accountId, id, n, kind, sealed: before } of found) {
      afterN = n;
      // While not every replica has the newest key, another one encrypts.
      if (signal.aborted || secrets.isOfNewestKey(before) || !secrets.hasKeyOf(before)) continue;
      const opened = openSubscriber(secrets, accountId, { id, sealed: before });
      const sealed = sealSubscriber(secrets, { accountId, id }, opened);
      const [addressDigest] = addressDigests(secrets, kind, opened.address);
      await resealSubscriber(store, { accountId, id, before, sealed, addressDigest });
    }
  } while (found.length === ROWS_AT_ONCE && !signal.aborted);
}
