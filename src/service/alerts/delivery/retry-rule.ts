import { cutText } from '../../../runtime/text/cut-text.ts';
import type { SendOutcome } from './outcome.ts';
import { shownAnswer } from './shown-answer.ts';
import type { AttemptOutcome } from './sql.ts';

/** src/service/README.md, "Notices": five times again, 20 s apart. */
const MAX_ATTEMPTS = 6;
const RETRY_AFTER_MS = 20_000;
const MAX_ERROR_BYTES = 2000;

/**
 * What becomes of a delivery after an attempt. A receiver that asks for a longer wait (Retry-After)
 * gets it, up to what outgoing-http.ts allows.
 *
 * @param attempt counts from 1
 * @param wasCut it was broken off because the service stops: another one sends it at once
 */
export function outcomeOfAttempt(
  sent: SendOutcome,
  {
    attempt,
    wasCut,
    atMs,
  }: { readonly attempt: number; readonly wasCut: boolean; readonly atMs: number },
): AttemptOutcome {
  const answer = shownAnswer(sent.answer);
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
