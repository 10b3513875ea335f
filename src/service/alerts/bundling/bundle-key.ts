import type { ChannelBundling } from '../../../model/alerting/channel-bundling.ts';
import type { AlertNotice, BundleKey } from '../notice.ts';
import { incidentActionOf } from '../senders/incident-key.ts';

/** The stored key of digests. */
export const DIGEST_KEY = '["digest"]';

/** The text that is stored for a key. Equal keys have equal texts. */
export function storedKeyOf(key: BundleKey): string {
  return key.kind === 'digest' ? DIGEST_KEY : JSON.stringify([key.kind, key.by, key.value]);
}

/** @returns null for a text that `storedKeyOf` did not make */
export function bundleKeyOf(stored: string | null): BundleKey | null {
  if (stored === null) return null;
  if (stored === DIGEST_KEY) return { kind: 'digest' };
  try {
    const [kind, by, value] = JSON.parse(stored);
    return { kind, by, value };
  } catch {
    return null;
  }
}

/** The key by which a channel groups a notice; null if the notice is a message by itself. */
export function groupKeyOf(
  notice: AlertNotice,
  groupBy: ChannelBundling['groupBy'],
): BundleKey | null {
  // Channels are notified of the expiry of a certificate once, days before.
  if (groupBy === null || notice.alertType === 'ALERT_SSL') return null;
  const value = sharedValue(notice, groupBy);
  if (value === null) return null;
  const kind =
    incidentActionOf(notice) === 'resolve'
      ? 'recoveries'
      : notice.reminder > 0
        ? 'reminders'
        : 'problems';
  return { kind, by: groupBy, value };
}

function sharedValue(
  { check, runLocation }: AlertNotice,
  groupBy: NonNullable<ChannelBundling['groupBy']>,
): string | null {
  if (groupBy === 'LOCATION') return runLocation;
  if (groupBy === 'GROUP') return check.groupName;
  return check.tags[0] ?? null;
}
