import { zonedTime } from '../../../model/account/time-zone.ts';
import { ALERT_TYPES, reportsFailure } from '../../../model/alerting/alert.ts';
import { shortenedToBytes } from '../../../runtime/text/cut-text.ts';
import type { Store } from '../../database/store.ts';
import type { ClaimedDelivery } from '../delivery/claims.sql.ts';
import type { SealedDelivery } from '../delivery/send-sealed.ts';
import type { AlertNotice, BundleKey } from '../notice.ts';
import { headlineOf } from '../senders/headline.ts';
import { bundleKeyOf } from './bundle-key.ts';
import { type CarriedNotices, findCarried } from './bundles.sql.ts';

/** At most this many notices are listed in a message. */
const MAX_LISTED = 20;
const MAX_LINE_BYTES = 160;
const FAILURES = ALERT_TYPES.filter(reportsFailure);

/**
 * Adds the list of the other notices of the message to a delivery; unchanged if there are none. A digest has a list
 * even for a single notice.
 *
 * @throws Error if the database cannot be read: without the list the message would hide the others
 */
export async function withBundle(
  store: Pick<Store, 'query'>,
  delivery: SealedDelivery,
  { bundleKey, isBundle }: Pick<ClaimedDelivery, 'bundleKey' | 'isBundle'>,
): Promise<SealedDelivery> {
  const key = bundleKeyOf(bundleKey);
  if (!isBundle && key?.kind !== 'digest') return delivery;
  const { deliveryId, notice } = delivery;
  const asked = { deliveryId, limit: MAX_LISTED - 1, failures: FAILURES };
  return { ...delivery, notice: bundleNotice(notice, key, await findCarried(store, asked)) };
}

/** The notice of a message for several notices: the first one, reported as a failure if any of them is. */
export function bundleNotice(
  notice: AlertNotice,
  key: BundleKey | null,
  { count, hasFailure, first }: CarriedNotices,
): AlertNotice {
  const { timeZone = 'UTC' } = notice;
  const listed = [notice, ...(first as readonly AlertNotice[])];
  const lines = listed.map((one) => {
    const headline = shortenedToBytes(headlineOf(one), MAX_LINE_BYTES);
    if (key?.kind !== 'digest') return headline;
    return `${headline}, ${zonedTime(one.startedAtMs, timeZone)}`;
  });
  const alertType = hasFailure ? 'ALERT_FAILURE' : notice.alertType;
  return { ...notice, alertType, bundle: { key, count: count + 1, lines } };
}
