import { stableId } from '../../../model/ids.ts';
import type { Bundled } from '../bundling/bundles.ts';
import type { ChannelSubscriber } from '../channels/subscriptions.sql.ts';
import type { AlertNotice, NotifiedBy } from '../notice.ts';
import type { NewDelivery } from './sql.ts';

/** A notice for a channel, before it is stored. */
export interface PendingDelivery {
  readonly notice: AlertNotice;
  readonly recipient: NoticeRecipient;
}

export type NoticeRecipient = ChannelSubscriber & { readonly notifiedBy?: NotifiedBy };

/** The delivery to store. Its id is the same for the same alert, reminder and channel. */
export function newDeliveryOf(
  accountId: string,
  { notice, recipient, bundle }: Bundled<PendingDelivery>,
): NewDelivery {
  const { alertId, alertType, reminder } = notice;
  const { channelId, checkId, notifiedBy } = recipient;
  return {
    id: stableId('delivery', accountId, channelId, alertId, reminder),
    channelId,
    checkId,
    alertId,
    alertType,
    reminder,
    notice: notifiedBy === undefined ? notice : { ...notice, notifiedBy },
    ...(bundle === null ? {} : { bundleKey: bundle.key, dueAtMs: bundle.dueAtMs }),
  };
}
