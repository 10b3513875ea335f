import type { ChannelTarget, MessageTemplates } from '../../../model/alerting/alert-channel.ts';
import type { SendOutcome } from '../../outgoing/send-outcome.ts';
import type { AlertNotice } from '../notice.ts';
import type { MessageFacts } from './message-facts.ts';

/** One notice to one channel, with the channel's secrets. */
export interface OpenDelivery<Target extends ChannelTarget = ChannelTarget> {
  /** The same in every attempt, so that receivers recognise repeats. */
  readonly deliveryId: string;
  /** The key by which an incident service recognises the problem: see `incidentKeyOf`. */
  readonly key: string;
  readonly target: Target;
  readonly notice: AlertNotice;
  /** Left out for the defaults. */
  readonly templates?: MessageTemplates;
}

/** With the content of the message, made with the templates of the channel. */
export interface RenderedDelivery<Target extends ChannelTarget> extends OpenDelivery<Target> {
  readonly facts: MessageFacts;
}

/** Sends to one type of channel. Never rejects; resolves at the latest when the signal aborts. */
export type Send<Target extends ChannelTarget> = (
  delivery: RenderedDelivery<Target>,
  signal: AbortSignal,
) => Promise<SendOutcome>;
