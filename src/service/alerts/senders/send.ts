import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import type { SendOutcome } from '../../outgoing/send-outcome.ts';
import type { AlertNotice } from '../notice.ts';

/** One notice to one channel, with the channel's secrets. */
export interface OpenDelivery<Target extends ChannelTarget = ChannelTarget> {
  /** The same in every attempt, for receivers to recognise repeats. */
  readonly deliveryId: string;
  /** By which an incident service knows the problem: see `incidentKeyOf`. */
  readonly key: string;
  readonly target: Target;
  readonly notice: AlertNotice;
}

/** Sends to one type of channel. Never rejects; resolves at the latest when the signal aborts. */
export type Send<Target extends ChannelTarget> = (
  delivery: OpenDelivery<Target>,
  signal: AbortSignal,
) => Promise<SendOutcome>;
