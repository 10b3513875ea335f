import { Backoff, equalJitter } from '../../../runtime/backoff.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { mismatchAttributesSchema } from '../../../wire/v1/error-response.ts';
import type { ServiceFailure, ServiceFailureKind } from '../../service-client/service-failure.ts';

/** How a poll can fail, except by a stop of the agent. */
type PollFailureKind = Exclude<ServiceFailureKind, 'stopped'> | 'ended';

export interface PollFailure extends Omit<ServiceFailure, 'kind'> {
  readonly kind: PollFailureKind;
}

/** How the poller handles a failed poll. */
export interface PollReaction {
  /** Milliseconds until the next poll; null for the backoff, which grows with each failure. */
  readonly delayMs: number | null;
  /** Whether the requested page is still available; otherwise all checks are requested again. */
  readonly retainsPage: boolean;
  /** The level of its log line, which is repeated only after another kind or an answer. */
  readonly level: 'warn' | 'error';
}

/**
 * - `offline`, `busy`, `failed`: temporary.
 * - `unauthorized`: the key may be rotated, in the service or in API_KEY_FILE.
 * - `mismatch`: an operator has to upgrade the agent or the service.
 * - `refused`: the service rejects the request, so the agent requests all checks again.
 * - `ended`: an operator ended this agent, and may allow it again. It runs nothing meanwhile.
 */
export const POLL_REACTIONS: Readonly<Record<PollFailureKind, PollReaction>> = {
  offline: { delayMs: null, retainsPage: true, level: 'warn' },
  busy: { delayMs: null, retainsPage: true, level: 'warn' },
  failed: { delayMs: null, retainsPage: false, level: 'warn' },
  unauthorized: { delayMs: 60_000, retainsPage: false, level: 'error' },
  mismatch: { delayMs: 300_000, retainsPage: false, level: 'error' },
  refused: { delayMs: null, retainsPage: false, level: 'error' },
  // Often enough that its last contact with the service raises no alert.
  ended: { delayMs: 60_000, retainsPage: false, level: 'error' },
};

/** Upper bound for the service's Retry-After. */
const MAX_RETRY_AFTER_MS = 300_000;

export interface BackoffMs {
  readonly min: number;
  readonly max: number;
}

/** Consecutive failed polls, and the last log line about them. */
export class PollFailures {
  readonly #log: Logger;
  readonly #backoff: Backoff;
  /** The last logged kind; null since the last answer. */
  #logged: PollFailureKind | null = null;

  constructor(log: Logger, backoffMs: BackoffMs) {
    this.#log = log;
    this.#backoff = new Backoff({ minMs: backoffMs.min, maxMs: backoffMs.max });
  }

  /** Called when a poll was answered. */
  over(): void {
    // At the level of the problem: whoever saw it must also see its end.
    if (this.#logged !== null) this.#log.warn('the service answers polls again');
    this.#logged = null;
    this.#backoff.reset();
  }

  /** @returns milliseconds until the next poll, with jitter */
  delayAfter(failure: PollFailure): number {
    const { delayMs, level } = POLL_REACTIONS[failure.kind];
    if (this.#logged !== failure.kind) {
      const mismatch = mismatchAttributesSchema.safeParse(failure.attributes);
      const details = { kind: failure.kind, status: failure.status, ...mismatch.data };
      const effect =
        failure.kind === 'ended'
          ? 'this agent has no checks; polling again every few minutes'
          : 'cannot poll the service; continuing with the previous checks';
      this.#log[level](details, `${effect}: ${failure.message}`);
    }
    this.#logged = failure.kind;

    const retryAfterMs = Math.min(failure.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
    if (delayMs !== null) return equalJitter(delayMs, retryAfterMs);
    return this.#backoff.next(retryAfterMs);
  }
}

/** An operator ended this agent. */
export function isEnded({ status, attributes }: ServiceFailure): boolean {
  return status === 409 && attributes.reason === 'ended';
}

/** Another process with the same agent id has replaced this one: it has a copy of the DATA_DIR. */
export function isReplaced({ status, attributes }: ServiceFailure): boolean {
  return status === 409 && attributes.reason === 'replaced';
}
