import { Backoff, equalJitter } from '../../../runtime/backoff.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { mismatchAttributesSchema } from '../../../wire/v1/error-answer.ts';
import type { ServiceFault, ServiceFaultKind } from '../../upload/service-faults.ts';

/** What a poll can fail of: all but the agent's own stopping. */
type PollFaultKind = Exclude<ServiceFaultKind, 'stopped'> | 'ended';

export interface PollFault extends Omit<ServiceFault, 'kind'> {
  readonly kind: PollFaultKind;
}

/** What the poller does about a poll that failed. */
export interface PollReaction {
  /** Until the next poll, milliseconds; null for the back-off, which grows from fault to fault. */
  readonly delayMs: number | null;
  /** Whether the page that was asked for can still be had; else all begins anew. */
  readonly retainsPage: boolean;
  /** The level at which it is logged, once until it is over or another kind follows. */
  readonly level: 'warn' | 'error';
}

/**
 * - `offline`, `busy`, `failed`: time heals them.
 * - `unauthorized`: the key may be rotated under the agent, in the service or in API_KEY_FILE.
 * - `mismatch`: one of the two has to be upgraded, which takes people.
 * - `refused`: what was asked is wrong in the service's eyes, so the agent asks for all anew.
 * - `ended`: an operator ended this agent, and may allow it again. It runs nothing meanwhile.
 */
export const POLL_REACTIONS: Readonly<Record<PollFaultKind, PollReaction>> = {
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

/** The polls that failed in a row, and what was logged about them. */
export class PollFaults {
  readonly #log: Logger;
  readonly #backoff: Backoff;
  /** The kind that was logged last; null since the last good answer. */
  #logged: PollFaultKind | null = null;

  constructor(log: Logger, backoffMs: BackoffMs) {
    this.#log = log;
    this.#backoff = new Backoff({ minMs: backoffMs.min, maxMs: backoffMs.max });
  }

  /** A poll was answered. */
  over(): void {
    // At the problem's level: a reader who saw the problem must also see its end.
    if (this.#logged !== null) this.#log.warn('the service answers polls again');
    this.#logged = null;
    this.#backoff.reset();
  }

  /** @returns milliseconds until the next poll, with jitter */
  delayAfter(fault: PollFault): number {
    const { delayMs, level } = POLL_REACTIONS[fault.kind];
    if (this.#logged !== fault.kind) {
      const mismatch = mismatchAttributesSchema.safeParse(fault.attributes);
      const details = { kind: fault.kind, status: fault.status, ...mismatch.data };
      const effect =
        fault.kind === 'ended'
          ? 'this agent runs no checks, and asks for some every few minutes'
          : 'the service cannot be polled for checks, so the previous checks continue';
      this.#log[level](details, `${effect}: ${fault.message}`);
    }
    this.#logged = fault.kind;

    const retryAfterMs = Math.min(fault.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
    if (delayMs !== null) return equalJitter(delayMs, retryAfterMs);
    return this.#backoff.next(retryAfterMs);
  }
}

/** An operator ended this agent. */
export function isEnded({ status, attributes }: ServiceFault): boolean {
  return status === 409 && attributes.reason === 'ended';
}

/** Another process with the same agent id has replaced this one: it has a copy of the DATA_DIR. */
export function isReplaced({ status, attributes }: ServiceFault): boolean {
  return status === 409 && attributes.reason === 'replaced';
}
