import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import type { AlertNotice } from '../notice.ts';

/** One notice on its way to one channel. */
export interface SealedDelivery<Target extends ChannelTarget = ChannelTarget> {
  /** The same each time it is sent, so that receivers know it again. */
  readonly deliveryId: string;
  readonly target: Target;
  readonly notice: AlertNotice;
}

/** What came of sending it once. A failure is a value. */
export type SendOutcome =
  | {
      readonly ok: true;
      /** Of HTTP or SMTP. */
      readonly status: number;
      /** What is to be known of it although it was sent; null for nothing. */
      readonly remark: string | null;
      /** What the other side said, cut. */
      readonly answer: string | null;
    }
  | {
      readonly ok: false;
      /** null where there was no answer. */
      readonly status: number | null;
      /** One sentence. */
      readonly error: string;
      readonly answer: string | null;
      /** Whether sending it again cannot help. */
      readonly isFinal: boolean;
      /** What the other side asks to wait for at least; null where it does not. */
      readonly retryAfterMs: number | null;
    };

/** Sends to one kind of channel. Resolves whatever happens, at the latest when the signal aborts. */
export type Send<Target extends ChannelTarget> = (
  parcel: SealedDelivery<Target>,
  signal: AbortSignal,
) => Promise<SendOutcome>;

/** A failure without an answer. */
export function notSent(error: string, { isFinal = false } = {}): SendOutcome {
  return { ok: false, status: null, error, answer: null, isFinal, retryAfterMs: null };
}
