import type { ChannelTarget, MessageTemplates } from '../../../model/alerting/alert-channel.ts';
import type { SendOutcome } from '../../outgoing/send-outcome.ts';
import type { AlertNotice } from '../notice.ts';
import type { MessageFacts } from './message-facts.ts';

/** One notice to one channel, with the channel's secrets. */
export interface OpenDelivery<Target extends ChannelTarget = ChannelTarget> {
  /** The same in every attempt, for receivers to recognise repeats. */
  readonly deliveryId: string;
  /** By which an incident service knows the problem: see `incidentKeyOf`. */
  readonly key: string;
  readonly target: Target;
  readonly notice: AlertNotice;
  /** Left out for the defaults. */
  readonly templates?: MessageTemplates;
}

/** With what the message says, by the templates of the channel. */
export interface RenderedDelivery<Target extends ChannelTarget> extends OpenDelivery<Target> {
  readonly facts: MessageFacts;
}

/** Sends to one type of channel. Never rejects; resolves at the latest when the signal aborts. */
export type Send<Target extends ChannelTarget> = (
  delivery: RenderedDelivery<Target>,
  signal: AbortSignal,
) => Promise<SendOutcome>;
