import type { Store } from '../../database/store.ts';
import type { AlertNotice } from '../notice.ts';
import type { SealedDelivery } from './send-sealed.ts';
import { findNoticeBefore } from './told-before.sql.ts';

/**
 * A notice to Alertmanager with what the channel was sent before. Alertmanager knows an alert by its labels, which
 * have the severity, the name and the tags: if they changed, the alert with the earlier ones must be ended. Without
 * the database the notice goes without it.
 */
export async function withToldBefore(
  store: Pick<Store, 'query'>,
  delivery: SealedDelivery,
): Promise<SealedDelivery> {
  const { accountId, channelId, deliveryId: id, notice, target } = delivery;
  const { alertType, isRepeated = false } = notice;
  if (target.type !== 'ALERTMANAGER' || alertType === 'ALERT_SSL' || isRepeated) return delivery;
  let toldBefore: AlertNotice | null;
  try {
    toldBefore = await findNoticeBefore(store, { accountId, channelId, id });
  } catch {
    return delivery;
  }
  return { ...delivery, notice: { ...notice, toldBefore } };
}
