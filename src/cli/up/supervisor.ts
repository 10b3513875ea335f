import { Backoff } from '../../runtime/backoff.ts';
import type { CancelTimer, Clock } from '../../runtime/clock.ts';
import type { Child, ChildEnd } from './child.ts';
import type { ListeningMessage } from './parent-watch.ts';

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 30_000;
/** A process that ran this long was healthy: its next end resets the backoff. */
const WELL_MS = 60_000;

export interface SupervisorOptions {
  /** Starts the process; on the port that it had before, where it had one. */
  readonly start: (port: number | null) => Child;
  readonly clock: Clock;
  /** Called for each unexpected end, with the delay before the restart. */
  readonly onRestart: (end: ChildEnd, delayMs: number) => void;
}

/**
 * Keeps one process running.
 *
 * | mode | entered by | when the process ends |
 * |---|---|---|
 * | starting | – | `failed` resolves; there is no restart |
 * | kept | `keepRunning` | it is restarted after a delay: 1 s, 2 s, … 30 s |
 * | ending | `end`, `kill` | nothing follows |
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  #mode: 'starting' | 'kept' | 'ending' = 'starting';
  /** Null while there is none. */
  #child: Child | null;
  #port: number | null = null;
  readonly #backoff = new Backoff({
    minMs: FIRST_DELAY_MS,
    maxMs: LONGEST_DELAY_MS,
    jitter: false,
  });
  #startedMs: number;
  #cancelRestart: CancelTimer = () => {};
  readonly #failed: Promise<ChildEnd>;
  #fail: (end: ChildEnd) => void = () => {};
  /** Resolves with the first process's message; stays pending if it exits before it listens. */
  readonly listening: Promise<ListeningMessage>;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
    this.#startedMs = options.clock.monotonicMs();
    const first = this.#watched(options.start(null));
    this.#child = first;
    this.listening = first.listening;
  }

  /** How the process ended before `keepRunning`; stays pending otherwise. */
  get failed(): Promise<ChildEnd> {
    return this.#failed;
  }

  /** From now on the process is restarted when it ends. */
  keepRunning(): void {
    if (this.#mode === 'starting') this.#mode = 'kept';
  }

  /** Asks the process to stop, and waits until it has ended. */
  async end(): Promise<void> {
    this.#mode = 'ending';
    this.#cancelRestart();
    const child = this.#child;
    child?.stop();
    await child?.ended;
  }

  /** Kills the process. */
  kill(): void {
    this.#mode = 'ending';
    this.#cancelRestart();
    this.#child?.kill();
  }

  #watched(child: Child): Child {
    void child.listening.then(({ listening }) => {
      this.#port = listening;
    });
    void child.ended.then((end) => this.#ended(end));
    return child;
  }

  #ended(end: ChildEnd): void {
    this.#child = null;
    if (this.#mode === 'starting') this.#fail(end);
    if (this.#mode !== 'kept') return;
    const { clock, onRestart } = this.#options;
    if (clock.monotonicMs() - this.#startedMs >= WELL_MS) this.#backoff.reset();
    const delayMs = this.#backoff.next();
    onRestart(end, delayMs);
    this.#cancelRestart = clock.after(delayMs, () => this.#restart());
  }

  #restart(): void {
    const { clock, start } = this.#options;
    this.#startedMs = clock.monotonicMs();
    this.#child = this.#watched(start(this.#port));
  }
}
