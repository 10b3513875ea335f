import { cutText } from '../../../runtime/text/cut-text.ts';
import type { AttemptOutcome } from '../../outbox/shared.sql.ts';
import type { SendOutcome } from '../../outgoing/send-outcome.ts';

/** Enough to see why a receiver refused, too little to read data from a server that a channel should not reach. */
const MAX_RESPONSE_CHARS = 200;

/** The first characters of a response, as the delivery log stores and shows it. */
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
 * The outcome of an attempt to store. Retries later if the receiver requests it (Retry-After), up to the limit of
 * outgoing-http.ts.
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
