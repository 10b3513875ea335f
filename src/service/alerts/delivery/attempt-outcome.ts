import type { ChannelTarget } from '../../../model/alerting/alert-channel.ts';
import { cutText } from '../../../runtime/text/cut-text.ts';
import type { AlertNotice } from '../notice.ts';
import type { AttemptOutcome } from './claims.sql.ts';

/** One notice to one channel, with the channel's secrets. */
export interface OpenDelivery<Target extends ChannelTarget = ChannelTarget> {
  /** The same in every attempt, for receivers to recognise repeats. */
  readonly deliveryId: string;
  readonly target: Target;
  readonly notice: AlertNotice;
}

/** The outcome of one attempt. A failure is a value. */
export type SendOutcome =
  | {
      readonly ok: true;
      /** The status of HTTP or SMTP. */
      readonly status: number;
      /** A problem that did not prevent the delivery; null for none. */
      readonly remark: string | null;
      /** The start of the receiver's answer. */
      readonly answer: string | null;
    }
  | {
      readonly ok: false;
      /** null if there was no answer. */
      readonly status: number | null;
      /** One sentence. */
      readonly error: string;
      readonly answer: string | null;
      /** Whether a retry cannot help. */
      readonly isFinal: boolean;
      /** The shortest wait that the receiver asks for; null for none. */
      readonly retryAfterMs: number | null;
    };

/** Sends to one type of channel. Never rejects; resolves at the latest when the signal aborts. */
export type Send<Target extends ChannelTarget> = (
  delivery: OpenDelivery<Target>,
  signal: AbortSignal,
) => Promise<SendOutcome>;

/** A failure without an answer. */
export function notSent(error: string, { isFinal = false } = {}): SendOutcome {
  return { ok: false, status: null, error, answer: null, isFinal, retryAfterMs: null };
}

/** Enough to see why a receiver refused, and too little to read a service by its answers. */
const MAX_RESPONSE_CHARS = 200;

/** The first characters of an answer, as the log stores and shows it. */
export function shownResponse(answer: string | null): string | null {
  if (answer === null || answer.length <= MAX_RESPONSE_CHARS) return answer;
  // A character has at most two units of UTF-16.
  const start = [...answer.slice(0, 2 * MAX_RESPONSE_CHARS)];
  return start.slice(0, MAX_RESPONSE_CHARS).join('');
}

/** src/service/README.md, "Notifications: email, webhook, Slack, SMS": five retries, 20 s apart. */
const MAX_ATTEMPTS = 6;
const RETRY_AFTER_MS = 20_000;
const MAX_ERROR_BYTES = 2000;

/**
 * What to store of an attempt. Waits for longer where the receiver asks for it (Retry-After), up to
 * the limit of outgoing-http.ts.
 *
 * @param attempt counts from 1
 * @param wasCut the service stopped during the attempt: another process retries at once
 */
export function outcomeOfAttempt(
  sent: SendOutcome,
  {
    attempt,
    wasCut,
    atMs,
  }: { readonly attempt: number; readonly wasCut: boolean; readonly atMs: number },
): AttemptOutcome {
  const answer = shownResponse(sent.answer);
  const { status } = sent;
  if (sent.ok) return { state: 'sent', dueAtMs: null, status, error: sent.remark, answer };
  const error = cutText(sent.error, MAX_ERROR_BYTES);
  if (wasCut) {
    const text = 'the service stopped while it was being sent';
    return { state: 'waiting', dueAtMs: atMs, status: null, error: text, answer: null };
  }
  if (sent.isFinal || attempt >= MAX_ATTEMPTS) {
    return { state: 'failed', dueAtMs: null, status, error, answer };
  }
  const dueAtMs = atMs + Math.max(RETRY_AFTER_MS, sent.retryAfterMs ?? 0);
  return { state: 'waiting', dueAtMs, status, error, answer };
}
