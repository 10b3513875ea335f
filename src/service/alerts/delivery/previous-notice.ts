import type { Store } from '../../database/store.ts';
import type { AlertNotice } from '../notice.ts';
import { findPreviousNotice } from './previous-notice.sql.ts';
import type { SealedDelivery } from './send-sealed.ts';

/**
 * Adds the previous notice of the check to a notice for Alertmanager. Alertmanager identifies an alert by its labels
 * (severity, name, tags): if they changed, the alert with the previous labels must be ended. If the database cannot be
 * read, the notice is sent without it.
 */
export async function withPreviousNotice(
  store: Pick<Store, 'query'>,
  delivery: SealedDelivery,
): Promise<SealedDelivery> {
  const { accountId, channelId, deliveryId: id, notice, target } = delivery;
  const { alertType, isRepeated = false } = notice;
  if (target.type !== 'ALERTMANAGER' || alertType === 'ALERT_SSL' || isRepeated) return delivery;
  let previousNotice: AlertNotice | null;
  try {
    previousNotice = await findPreviousNotice(store, { accountId, channelId, id });
  } catch {
    return delivery;
  }
  return { ...delivery, notice: { ...notice, previousNotice } };
}
