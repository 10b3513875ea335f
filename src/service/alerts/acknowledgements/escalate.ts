import { escalationStepSchema } from '../../../model/alerting/alert-settings.ts';
import { wantsNotice } from '../../../model/alerting/notice-preferences.ts';
import { stableId } from '../../../model/ids.ts';
import type { Sql } from '../../database/store.ts';
import { type Bundled, withBundles } from '../bundling/bundles.ts';
import { noticeOfAlert } from '../delivery/notice-of-alert.ts';
import { newDeliveryOf, type PendingDelivery } from '../delivery/pending-delivery.ts';
import { insertDeliveries, type NewDelivery } from '../delivery/sql.ts';
import type { Judgement } from '../judgement-builder.ts';
import type { AlertNotice } from '../notice.ts';
import type { AlertRecord } from '../states.sql.ts';
import { listChannelsWithDelivery, lockChannels } from './sql.ts';

/**
 * Sends alerts that nobody acknowledged to the channels of the account's escalation step that want them and were not
 * notified. Runs in the transaction that judges the checks and locks them, so each alert is escalated once, whichever
 * replica does it.
 *
 * @returns the channels by check
 */
export async function escalate(
  tx: Sql,
  {
    accountId,
    judgements,
    atMs,
  }: {
    readonly accountId: string;
    readonly judgements: readonly Judgement[];
    readonly atMs: number;
  },
): Promise<ReadonlyMap<string, readonly number[]>> {
  const due = judgements.flatMap(({ subject, escalation }) => {
    const step = escalationStepSchema.safeParse(subject.escalationStep).data;
    return escalation === null || step === undefined ? [] : [{ subject, escalation, step }];
  });
  const [first] = due;
  if (first === undefined) return new Map();
  // All are of one account.
  const channels = await lockChannels(tx, { accountId, ids: first.step.alertChannelIds });
  const alertIds = due.map(({ escalation }) => escalation.alertId);
  const notified = await listChannelsWithDelivery(tx, { accountId, alertIds });
  const notifiedPairs = new Set(
    notified.map(({ alertId, channelId }) => `${alertId} ${channelId}`),
  );
  const reached = new Map<string, readonly number[]>();
  const pending = due.flatMap(({ subject, escalation, step }) => {
    const { checkId } = subject;
    const alert = noticeOfAlert(subject, escalation, atMs);
    const notice: AlertNotice = { ...alert, escalatedAfterMinutes: step.minutes };
    const recipients = channels
      .filter((channel) => wantsNotice(channel, notice))
      .filter(({ channelId }) => !notifiedPairs.has(`${escalation.alertId} ${channelId}`))
      .map((channel) => ({ ...channel, checkId }));
    reached.set(
      checkId,
      recipients.map(({ channelId }) => channelId),
    );
    return recipients.map((recipient) => ({ notice, recipient }));
  });
  const bundled = await withBundles(tx, accountId, pending);
  const deliveries = bundled.map((each) => escalationOf(accountId, each));
  await insertDeliveries(tx, { accountId, deliveries, atMs });
  return reached;
}

/** The record, with these channels among those that get all further notices of the problem. */
export function withEscalation(record: AlertRecord, channelIds: readonly number[]): AlertRecord {
  if (channelIds.length === 0) return record;
  return { ...record, escalatedTo: [...new Set([...record.escalatedTo, ...channelIds])] };
}

function escalationOf(accountId: string, each: Bundled<PendingDelivery>): NewDelivery {
  const { channelId } = each.recipient;
  const id = stableId('delivery', accountId, channelId, each.notice.alertId, 'escalation');
  return { ...newDeliveryOf(accountId, each), id };
}
