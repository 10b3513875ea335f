import { MINUTE_MS, SECOND_MS } from '../../../../model/time-units.ts';
import { cutText } from '../../../../runtime/text/cut-text.ts';
import type { AttemptOutcome } from '../../../outbox/shared.sql.ts';
import type { SendOutcome } from '../../../outgoing/send-outcome.ts';

/** Results of messages, as counted in metrics. */
export const MESSAGE_RESULTS = ['sent', 'failed', 'bounced', 'withdrawn'] as const;
export type MessageResult = (typeof MESSAGE_RESULTS)[number];

/**
 * Why a message did not arrive:
 * - bounce: the address refused it permanently, and is suspended
 * - gone: the webhook wants no further messages (410)
 * - receiver: the receiver answered with an error, or could not be reached
 * - service: the service, its mail server or its network failed, which says nothing about the receiver
 */
export type FailureCause = 'bounce' | 'gone' | 'receiver' | 'service';

/** Outcome of an attempt. */
export interface Attempt {
  readonly sent: SendOutcome;
  /** null if the message arrived. */
  readonly cause: FailureCause | null;
}

export function failedByService(sent: SendOutcome): Attempt {
  return { sent, cause: 'service' };
}

/** After each failure. Mail servers that delay unknown senders accept the mail minutes later. */
const RETRY_AFTER_MS = [
  20 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  60 * MINUTE_MS,
  180 * MINUTE_MS,
];
const MAX_ERROR_BYTES = 500;

/**
 * What to store of an attempt.
 *
 * @param attempt counts from 1
 * @param wasCut the service stopped during the attempt: another process retries at once
 */
export function outcomeOfMessage(
  { sent, cause }: Attempt,
  {
    attempt,
    wasCut,
    atMs,
  }: { readonly attempt: number; readonly wasCut: boolean; readonly atMs: number },
): AttemptOutcome {
  const { status } = sent;
  if (sent.ok) return { state: 'sent', dueAtMs: null, status, error: null };
  if (wasCut) {
    const error = 'the service stopped while it was being sent';
    return { state: 'waiting', dueAtMs: atMs, status: null, error };
  }
  const error = cutText(sent.error, MAX_ERROR_BYTES);
  const afterMs = RETRY_AFTER_MS[attempt - 1];
  const isFinal = sent.isFinal || cause === 'bounce' || cause === 'gone';
  if (isFinal || afterMs === undefined) {
    return { state: 'failed', dueAtMs: null, status, error };
  }
  const dueAtMs = atMs + Math.max(afterMs, sent.retryAfterMs ?? 0);
  return { state: 'waiting', dueAtMs, status, error };
}
