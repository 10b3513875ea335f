import { wantsNotice } from '../../../model/alerting/alert-channel.ts';
import { escalationStepSchema } from '../../../model/alerting/alert-settings.ts';
import { stableId } from '../../../model/ids.ts';
import type { Sql } from '../../database/store.ts';
import { noticeOfAlert } from '../delivery/notice-of-alert.ts';
import { insertDeliveries, type NewDelivery } from '../delivery/sql.ts';
import type { GivenAlert, Judgement } from '../judge.ts';
import type { AlertNotice } from '../notice.ts';
import type { AlertRecord } from '../states.sql.ts';
import { listToldChannels, lockChannels } from './sql.ts';

/**
 * Sends the alerts that nobody acknowledged to the channels of the account's escalation step which want them
 * and were not told: in the transaction that judges the checks, under their locks. Therefore it happens once,
 * whichever replica does it.
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
  const told = await listToldChannels(tx, { accountId, alertIds });
  const lanes = new Set(told.map(({ alertId, channelId }) => `${alertId} ${channelId}`));
  const reached = new Map<string, readonly number[]>();
  const deliveries = due.flatMap(({ subject, escalation, step: { minutes } }) => {
    const alert = noticeOfAlert(subject, escalation, atMs);
    const notice = { ...alert, escalatedAfterMinutes: minutes };
    const channelIds = channels
      .filter((channel) => wantsNotice(channel, notice))
      .map(({ channelId }) => channelId)
      .filter((channelId) => !lanes.has(`${escalation.alertId} ${channelId}`));
    reached.set(subject.checkId, channelIds);
    return channelIds.map((channelId) => deliveryOf(accountId, channelId, escalation, notice));
  });
  await insertDeliveries(tx, { accountId, deliveries, atMs });
  return reached;
}

/** The record with more channels that get the notices of the problem. */
export function withEscalation(record: AlertRecord, channelIds: readonly number[]): AlertRecord {
  if (channelIds.length === 0) return record;
  return { ...record, escalatedTo: [...new Set([...record.escalatedTo, ...channelIds])] };
}

function deliveryOf(
  accountId: string,
  channelId: number,
  { alertId, alertType, reminder }: GivenAlert,
  notice: AlertNotice,
): NewDelivery {
  const id = stableId('delivery', accountId, channelId, alertId, 'escalation');
  return { id, channelId, checkId: notice.check.id, alertId, alertType, reminder, notice };
}
