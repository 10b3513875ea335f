import { Worker } from 'node:worker_threads';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Outcome } from './judge.ts';
import type { WorkerReply, WorkerStart, WorkerStep } from './worker-protocol.ts';

/** What the main thread asks for; the thread itself sees to numbering and to the document. */
export interface ThreadStep extends Omit<WorkerStep, 'step' | 'text'> {
  readonly text: string;
}

/**
 * - `judged`: the assertion's outcome
 * - `too-slow`: stopped at the limit
 * - `too-large`: it needed more memory than the worker has
 * - `broken`: the worker could not start or died of something else, a fault of our own
 */
export type ThreadReply =
  | { readonly kind: 'judged'; readonly outcome: Outcome }
  | { readonly kind: 'too-slow' }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken'; readonly problem: string };

export interface ThreadOptions {
  readonly clock: Clock;
  readonly workerUrl: URL;
}

/** Well over what a document of the largest size allowed takes together with 100 ms of work. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024, stackSizeMb: 16 };

/** The worker's own timeout stops nearly everything; twice its limit later it does not answer. */
const WATCH_LIMITS = 2;
/** Starting and reading the largest document take a few seconds on a slow machine. */
const MAX_STEP_MS = 60_000;
/** A worker that used more than this is ended when idle, to free its memory. */
const MAX_IDLE_CHARS = 4 * 1024 * 1024;

interface Busy {
  readonly step: number;
  readonly settle: (reply: ThreadReply) => void;
}

/**
 * One worker and the step it is at. Modes:
 *
 * | mode    | worker | busy | leaves when                                                   |
 * |---------|--------|------|---------------------------------------------------------------|
 * | absent  | no     | no   | a step comes: busy                                            |
 * | busy    | yes    | yes  | it answers: idle; it dies or hangs: absent                    |
 * | idle    | yes    | no   | a step comes: busy; it has a large document or ends: absent |
 */
export class PatternThread {
  readonly #options: ThreadOptions;
  readonly #running = new Int32Array(new SharedArrayBuffer(4));
  readonly #ending = new Set<Promise<unknown>>();
  #worker: Worker | null = null;
  #held: string | null = null;
  #busy: Busy | null = null;
  #step = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** One step at a time: the caller waits for the reply before the next. */
  async run({ text, ...step }: ThreadStep): Promise<ThreadReply> {
    const worker = this.#worker ?? this.#start();
    if (typeof worker === 'string') return { kind: 'broken', problem: worker };
    this.#step += 1;
    const isHeld = this.#held === text;
    this.#held = text;
    const message: WorkerStep = { ...step, step: this.#step, text: isHeld ? null : text };
    worker.ref();
    const reply = await new Promise<ThreadReply>((resolve) => {
      const stopWatching = this.#watch(this.#step, step.limitMs);
      const settle = (reply: ThreadReply): void => {
        stopWatching();
        this.#busy = null;
        resolve(reply);
      };
      this.#busy = { step: this.#step, settle };
      worker.postMessage(message);
    });
    // An idle worker must not keep the process alive.
    this.#worker?.unref();
    return reply;
  }

  /** Nothing more is to come for now. */
  rest(): void {
    if ((this.#held?.length ?? 0) > MAX_IDLE_CHARS) this.#end();
  }

  async close(): Promise<void> {
    this.#end();
    this.#busy?.settle({ kind: 'broken', problem: 'the agent is stopping' });
    await Promise.all(this.#ending);
  }

  /** The worker, or why there can be none. */
  #start(): Worker | string {
    Atomics.store(this.#running, 0, 0);
    const worker = newWorker(this.#options.workerUrl, { running: this.#running });
    if (typeof worker === 'string') return worker;
    worker.on('message', (reply: WorkerReply) => this.#answered(worker, reply));
    worker.on('error', (error) => this.#died(worker, error));
    worker.on('exit', (code) => this.#died(worker, new Error(`it ended with code ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #answered(worker: Worker, { step, outcome }: WorkerReply): void {
    if (worker !== this.#worker || this.#busy?.step !== step) return;
    this.#busy.settle(outcome === null ? { kind: 'too-slow' } : { kind: 'judged', outcome });
  }

  #died(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    this.#forget();
    const isMemory = systemCodeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
    this.#busy?.settle(
      isMemory ? { kind: 'too-large' } : { kind: 'broken', problem: messageOf(error) },
    );
  }

  /** Ends a worker that is still at the same expression when it is looked at twice. */
  #watch(step: number, limitMs: number): () => void {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    let wasRunning = false;
    const look = (): void => {
      const isRunning = Atomics.load(this.#running, 0) === step;
      if ((isRunning && wasRunning) || clock.monotonicMs() - startMs > MAX_STEP_MS) {
        this.#end();
        this.#busy?.settle({ kind: 'too-slow' });
        return;
      }
      wasRunning = isRunning;
      cancel = clock.after(limitMs * WATCH_LIMITS, look);
    };
    let cancel = clock.after(limitMs * WATCH_LIMITS, look);
    return () => cancel();
  }

  #end(): void {
    const worker = this.#worker;
    if (worker === null) return;
    this.#forget();
    // A native call inside the worker ends first; only close() has to wait for that.
    const ending = worker.terminate().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #forget(): void {
    this.#worker = null;
    this.#held = null;
  }
}

function newWorker(url: URL, start: WorkerStart): Worker | string {
  try {
    return new Worker(url, {
      name: 'vedette-patterns',
      workerData: start,
      // A body's expressions have no business with the agent's environment.
      env: {},
      execArgv: [],
      resourceLimits: RESOURCE_LIMITS,
    });
  } catch (thrown) {
    return messageOf(thrown);
  }
}
