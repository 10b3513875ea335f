import type { EventEmitter } from 'node:events';
import type { CancelTimer, Clock } from './clock.ts';
import type { Logger } from './logger.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
type Signal = (typeof SIGNALS)[number];

/**
 * Ctrl-C under `npm start` arrives twice at once: from the terminal, which signals the whole
 * process group, and from npm, which forwards it. Two this close count as one.
 */
const ONE_KEYPRESS_MS = 200;

export interface StopOptions {
  /** Emits the signals: `process`, or a test's emitter. */
  readonly emitter: EventEmitter;
  readonly clock: Clock;
  /** The milliseconds from the first request to stop until `now`; with 0 both come at once. */
  readonly graceMs: number;
  readonly log: Logger;
}

/**
 * When to stop, for everything that runs (src/agent/README.md, "Operating the agent").
 *
 * | mode | entered by | `stopping` | `now` |
 * |---|---|---|---|
 * | running | – | no | no |
 * | stopping | first SIGTERM or SIGINT, or `request` | aborted | no |
 * | now | second signal, or the grace is over | aborted | aborted |
 *
 * `dispose` removes the listeners and the timer in any mode. Call it at the end, or the timer of the
 * grace keeps the process alive.
 */
export class StopSignals {
  readonly #options: StopOptions;
  readonly #stopping = new AbortController();
  readonly #now = new AbortController();
  readonly #listeners: readonly (readonly [Signal, () => void])[];
  #cancelGrace: CancelTimer | null = null;
  #lastInterruptMs = Number.NEGATIVE_INFINITY;

  constructor(options: StopOptions) {
    this.#options = options;
    this.#listeners = SIGNALS.map((signal) => [signal, () => this.#received(signal)] as const);
    for (const [signal, listener] of this.#listeners) options.emitter.on(signal, listener);
  }

  /** Start nothing new; let active work finish. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** End active work at once. */
  get now(): AbortSignal {
    return this.#now.signal;
  }

  /** Stops like a first signal. Further calls do nothing. `cause` completes "stopping: …". */
  request(cause: string): void {
    if (this.stopping.aborted) return;
    const { clock, graceMs, log } = this.#options;
    log.info({ graceSeconds: graceMs / 1000 }, `stopping: ${cause}`);
    this.#stopping.abort();
    if (graceMs <= 0) this.#now.abort();
    else this.#cancelGrace = clock.after(graceMs, () => this.#end('the grace period ended'));
  }

  dispose(): void {
    for (const [signal, listener] of this.#listeners) this.#options.emitter.off(signal, listener);
    this.#cancelGrace?.();
    this.#cancelGrace = null;
  }

  #received(signal: Signal): void {
    if (signal === 'SIGINT' && this.#isSameKeypress()) return;
    if (this.stopping.aborted) this.#end(`${signal} came again`);
    else this.request(`${signal} received`);
  }

  #isSameKeypress(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    const sinceMs = nowMs - this.#lastInterruptMs;
    this.#lastInterruptMs = nowMs;
    return sinceMs < ONE_KEYPRESS_MS;
  }

  #end(cause: string): void {
    if (this.now.aborted) return;
    this.#cancelGrace?.();
    this.#cancelGrace = null;
    this.#options.log.warn(`stopping at once: ${cause}`);
    this.#now.abort();
  }
}
