import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { sleep } from '../../runtime/wait.ts';
import type { ServiceClient } from '../service-client/service-client.ts';
import type { ServiceFailure, ServiceFailureKind } from '../service-client/service-failure.ts';

/**
 * The reaction to a failure:
 * - `back-off`: retries with exponential backoff, not before a Retry-After
 * - `wait`: retries after `waitMs`; an operator must solve the problem
 * - `wait-for-key`: like `wait`, and retries at once when the key has changed
 * - `divide`: sends smaller requests, to find the record that is refused
 * - `stop`: sends nothing more
 */
type Reaction =
  | { readonly act: 'back-off'; readonly healsByItself: true }
  | {
      readonly act: 'wait' | 'wait-for-key';
      readonly waitMs: number;
      readonly healsByItself: false;
    }
  | { readonly act: 'divide'; readonly healsByItself: true }
  | { readonly act: 'stop'; readonly healsByItself: false };

export const REACTIONS: Readonly<Record<ServiceFailureKind, Reaction>> = {
  offline: { act: 'back-off', healsByItself: true },
  busy: { act: 'back-off', healsByItself: true },
  failed: { act: 'back-off', healsByItself: true },
  refused: { act: 'divide', healsByItself: true },
  unauthorized: { act: 'wait-for-key', waitMs: 60_000, healsByItself: false },
  mismatch: { act: 'wait', waitMs: 300_000, healsByItself: false },
  stopped: { act: 'stop', healsByItself: false },
};

export interface RetryPolicyOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: Pick<ServiceClient, 'key'>;
  /** What cannot be sent, for the log: `results`. */
  readonly what: string;
  /** A number from 0 to under 1, for jitter. */
  readonly random: () => number;
}

const BACKOFF = { minMs: 1_000, maxMs: 60_000 } as const;
const KEY_CHECK_MS = 1_000;
const LOG_PERIOD_MS = 600_000;

/** Waits after a failure as its kind requires. Logs when sending fails, and when it works again. */
export class RetryPolicy {
  readonly #options: RetryPolicyOptions;
  readonly #backoff: Backoff;
  readonly #throttled: ThrottledLog;
  #lastKind: ServiceFailureKind | null = null;
  #failures = 0;

  constructor(options: RetryPolicyOptions) {
    const { clock, log, random } = options;
    this.#options = options;
    this.#backoff = new Backoff({ ...BACKOFF, random });
    this.#throttled = new ThrottledLog(clock, log, { periodMs: LOG_PERIOD_MS });
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** Resolves when it is time for another try, or the signal aborts. */
  async wait(failure: ServiceFailure, signal: AbortSignal): Promise<void> {
    const reaction = REACTIONS[failure.kind];
    if (reaction.act === 'stop' || signal.aborted) return;
    this.#failures += 1;
    this.#logFailure(failure);
    const { clock } = this.#options;
    if (reaction.act === 'wait-for-key') await this.#waitForKey(reaction.waitMs, signal);
    else if (reaction.act === 'wait') await sleep(clock, reaction.waitMs, signal);
    else await sleep(clock, this.#backoff.next(failure.retryAfterMs ?? 0), signal);
  }

  /** The next waits are short again. */
  restart(): void {
    this.#failures = 0;
    this.#backoff.reset();
  }

  succeeded(): void {
    this.restart();
    const { log, what } = this.#options;
    if (this.#throttled.clear()) log.info(`${what} reach the service again`);
  }

  async #waitForKey(waitMs: number, signal: AbortSignal): Promise<void> {
    const { clock, client } = this.#options;
    const { key } = client;
    for (let waitedMs = 0; waitedMs < waitMs && client.key === key; waitedMs += KEY_CHECK_MS) {
      if (!(await sleep(clock, KEY_CHECK_MS, signal))) return;
    }
  }

  #logFailure({ kind, message }: ServiceFailure): void {
    // The last line has to name the current problem.
    if (kind !== this.#lastKind) this.#throttled.clear();
    this.#lastKind = kind;
    const level = REACTIONS[kind].healsByItself ? 'warn' : 'error';
    this.#throttled[level](kind, { fault: kind }, `${this.#options.what} wait: ${message}`);
  }
}
