import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ThrottledLog } from '../../runtime/throttled-log.ts';
import { sleep } from '../../runtime/wait.ts';
import { type BackoffRange, REACTIONS } from './fault-reactions.ts';
import type { ServiceClient } from './service-client.ts';
import type { ServiceFault, ServiceFaultKind } from './service-faults.ts';

export interface ServiceBackoffOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly client: Pick<ServiceClient, 'key'>;
  /** What cannot be sent, for the log: `results`. */
  readonly what: string;
  readonly backoff: BackoffRange;
  /** From 0 to under 1. */
  readonly random: () => number;
}

const KEY_CHECK_MS = 1_000;
const LOG_PERIOD_MS = 600_000;

/** Waits after a fault as its kind has it, and logs when the service is lost and found. */
export class ServiceBackoff {
  readonly #options: ServiceBackoffOptions;
  readonly #backoff: Backoff;
  readonly #throttled: ThrottledLog;
  #faults = 0;
  #lastKind: ServiceFaultKind | null = null;

  constructor(options: ServiceBackoffOptions) {
    this.#options = options;
    this.#backoff = new Backoff({ ...options.backoff, random: options.random });
    this.#throttled = new ThrottledLog(options.clock, options.log, { periodMs: LOG_PERIOD_MS });
  }

  /** Faults since the last success. */
  get faults(): number {
    return this.#faults;
  }

  /** Resolves when it is time for another try, or the signal aborts. */
  async wait(fault: ServiceFault, signal: AbortSignal): Promise<void> {
    const reaction = REACTIONS[fault.kind];
    if (reaction.act === 'stop' || signal.aborted) return;
    this.#faults += 1;
    this.#logFault(fault);
    const { clock } = this.#options;
    if (reaction.act === 'wait-for-key') await this.#waitForKey(reaction.waitMs, signal);
    else if (reaction.act === 'wait') await sleep(clock, reaction.waitMs, signal);
    else await sleep(clock, this.#backoff.next(fault.retryAfterMs ?? 0), signal);
  }

  /** The next waits are short again. */
  restart(): void {
    this.#faults = 0;
    this.#backoff.reset();
  }

  succeeded(): void {
    this.restart();
    if (!this.#throttled.clear()) return;
    const { log, what } = this.#options;
    log.info(`${what} reach the service again`);
  }

  async #waitForKey(waitMs: number, signal: AbortSignal): Promise<void> {
    const { clock, client } = this.#options;
    const { key } = client;
    for (let waitedMs = 0; waitedMs < waitMs && client.key === key; waitedMs += KEY_CHECK_MS) {
      if (!(await sleep(clock, KEY_CHECK_MS, signal))) return;
    }
  }

  #logFault({ kind, message }: ServiceFault): void {
    // The last line has to name the problem that there is now.
    if (kind !== this.#lastKind) this.#throttled.clear();
    this.#lastKind = kind;
    const level = REACTIONS[kind].healsByItself ? 'warn' : 'error';
    this.#throttled[level](kind, { fault: kind }, `${this.#options.what} wait: ${message}`);
  }
}
