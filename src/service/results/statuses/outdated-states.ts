import type { Store } from '../../database/store.ts';
import { lockSubjects } from '../intake/subjects.sql.ts';
import { outdatedStates, readStates } from './outdated-states.sql.ts';

/** Bounds how long a transaction locks checks. */
const CHECKS_A_TRANSACTION = 250;

/**
 * Brings the states of the account's checks up to date: those in which a late result may have changed
 * the beginning, and those that the previous release wrote. Few are outdated at any time, except after
 * an upgrade. To be called before states are read.
 *
 * @param checkId only of this check; null for all
 */
export async function refreshStates(
  store: Store,
  { accountId, checkId }: { readonly accountId: string; readonly checkId: string | null },
): Promise<void> {
  for (let afterId = ''; ; ) {
    const checkIds = await outdatedStates(store, {
      accountId,
      checkId,
      afterId,
      limit: CHECKS_A_TRANSACTION,
    });
    if (checkIds.length > 0) {
      await store.transaction(async (tx) => {
        await lockSubjects(tx, { accountId, checkIds });
        await readStates(tx, { accountId, checkIds });
      });
    }
    if (checkIds.length < CHECKS_A_TRANSACTION) return;
    afterId = checkIds.at(-1) ?? afterId;
  }
}
