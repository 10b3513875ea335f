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
      /** The minimum delay that the receiver requests; null for none. */
      readonly retryAfterMs: number | null;
    };

/** A failure without an answer. */
export function notSent(error: string, { isFinal = false } = {}): SendOutcome {
  return { ok: false, status: null, error, answer: null, isFinal, retryAfterMs: null };
}

/**
 * @param remark a problem that did not prevent the attempt; null for none. Appended to existing remarks
 */
export function withRemark(outcome: SendOutcome, remark: string | null): SendOutcome {
  if (remark === null) return outcome;
  if (!outcome.ok) return { ...outcome, error: `${outcome.error}; ${remark}` };
  return {
    ...outcome,
    remark: outcome.remark === null ? remark : `${outcome.remark}; ${remark}`,
  };
}

/** Limits the total time of one attempt: name lookup, connection, request and answer. */
export const SEND_LIMIT_MS = 20_000;
