import { stableId } from '../../../model/ids.ts';
import type { ChannelSubscriber } from '../channels/subscriptions.sql.ts';
import type { Bundled } from '../grouping/bundles.ts';
import type { AlertNotice } from '../notice.ts';
import type { NewDelivery } from './sql.ts';

/** A notice for a channel, before it is stored. */
export interface PendingDelivery {
  readonly notice: AlertNotice;
  readonly listener: ChannelSubscriber;
}

/** As it is stored: the same alert, reminder and channel is one delivery. */
export function deliveryOf(
  accountId: string,
  { notice, listener, bundle }: Bundled<PendingDelivery>,
): NewDelivery {
  const { alertId, alertType, reminder } = notice;
  const { channelId, checkId } = listener;
  return {
    id: stableId('delivery', accountId, channelId, alertId, reminder),
    channelId,
    checkId,
    alertId,
    alertType,
    reminder,
    notice,
    ...(bundle === null ? {} : { bundleKey: bundle.key, dueAtMs: bundle.dueAtMs }),
  };
}
