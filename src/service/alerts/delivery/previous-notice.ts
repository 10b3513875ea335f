import type { Store } from '../../database/store.ts';
import type { AlertNotice } from '../notice.ts';
import { findPreviousNotice } from './previous-notice.sql.ts';
import type { SealedDelivery } from './send-sealed.ts';

/**
 * A notice to Alertmanager with what the channel was sent before. Alertmanager knows an alert by its labels, which
 * have the severity, the name and the tags: if they changed, the alert with the earlier ones must be ended. Without
 * the database the notice goes without it.
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
