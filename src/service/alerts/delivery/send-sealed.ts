import type { ChannelTarget, MessageTemplates } from '../../../model/alerting/alert-channel.ts';
import { messageOf } from '../../../runtime/errors.ts';
import type { SecretBox } from '../../../runtime/secret-box.ts';
import { notSent, type SendOutcome } from '../../outgoing/send-outcome.ts';
import { decryptTarget } from '../channels/channel-secrets.ts';
import type { SealedTarget } from '../channels/sql.ts';
import type { AlertNotice } from '../notice.ts';
import { incidentKeyOf } from '../senders/incident-key.ts';
import type { NoticeSender } from './notice-sender.ts';

export interface SealedDelivery extends SealedTarget {
  readonly deliveryId: string;
  readonly accountId: string;
  readonly channelId: number;
  readonly notice: AlertNotice;
  readonly templates: MessageTemplates;
}

export interface SealedSending {
  readonly sender: Pick<NoticeSender, 'send'>;
  readonly secrets: SecretBox | null;
}

/**
 * Decrypts the target of a channel and sends to it. If the secrets cannot be decrypted, the attempt fails and is
 * retried: the operator may restore the key before the last attempt.
 */
export async function sendSealed(
  { sender, secrets }: SealedSending,
  { deliveryId, accountId, channelId, notice, templates, ...sealed }: SealedDelivery,
  signal: AbortSignal,
): Promise<SendOutcome> {
  let target: ChannelTarget;
  try {
    target = decryptTarget(secrets, { accountId, id: channelId }, sealed);
  } catch (error) {
    return notSent(`the secrets of the channel cannot be read: ${messageOf(error)}`);
  }
  const key = incidentKeyOf(accountId, notice);
  return sender.send({ deliveryId, key, target, notice, templates }, signal);
}
