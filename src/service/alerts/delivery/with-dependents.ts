import { reportsFailure } from '../../../model/alerting/alert.ts';
import type { Store } from '../../database/store.ts';
import { readDirectDependents } from '../dependencies/dependents.sql.ts';
import type { SealedDelivery } from './send-sealed.ts';

/** At most this many checks are named in a message. */
const MAX_NAMED = 10;

/**
 * Adds the checks that depend on the failing one to a notice of a failure. Read when the notice is sent; if the
 * database cannot be read, the notice is sent without them.
 */
export async function withDependents(
  store: Pick<Store, 'query'>,
  delivery: SealedDelivery,
): Promise<SealedDelivery> {
  const { accountId, notice } = delivery;
  const { check, location, problem, alertType } = notice;
  const isOfCheck = location === undefined && problem === undefined;
  if (!isOfCheck || !reportsFailure(alertType)) return delivery;
  try {
    const of = { accountId, checkId: check.id, limit: MAX_NAMED };
    const dependents = await readDirectDependents(store, of);
    return dependents.total === 0 ? delivery : { ...delivery, notice: { ...notice, dependents } };
  } catch {
    return delivery;
  }
}
