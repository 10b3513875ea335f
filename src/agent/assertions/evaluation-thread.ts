import { Worker } from 'node:worker_threads';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import { hadCpuTime, threadCpuMs } from '../../runtime/process/thread-cpu-time.ts';
import type { Outcome } from './evaluate-assertion.ts';
import type { WorkerReady, WorkerReply, WorkerStart, WorkerStep } from './evaluation-protocol.ts';

/** A step without its number and cached document, which EvaluationThread adds. */
export interface ThreadStep extends Omit<WorkerStep, 'step' | 'text'> {
  readonly text: string;
}

/**
 * - `evaluated`: the assertion's outcome
 * - `too-slow`: stopped at the limit; `hadItsTime`: it had the limit in CPU time, null if unknown
 * - `too-large`: needed more memory than the worker has
 * - `broken`: the worker could not start or died for another reason, a fault of the agent
 */
export type ThreadReply =
  | { readonly kind: 'evaluated'; readonly outcome: Outcome }
  | { readonly kind: 'too-slow'; readonly hadItsTime: boolean | null }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'broken'; readonly problem: string };

export interface ThreadOptions {
  readonly clock: Clock;
  readonly workerUrl: URL;
  /** See WorkerStart. */
  readonly schedstat: string;
}

/** Well above the needs of the largest allowed document and of 100 ms of work. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 1024, stackSizeMb: 16 };

/**
 * Interval of the checks by the main thread, in limits: the worker's own timeout usually fires
 * first, unless the worker gets no CPU.
 */
const WATCH_LIMITS = 2;
/** Starting and parsing the largest document take a few seconds on a slow machine. */
const MAX_STEP_MS = 60_000;
/** An idle worker with a longer document is ended to free its memory. */
const MAX_IDLE_CHARS = 4 * 1024 * 1024;

interface Busy {
  readonly step: number;
  readonly settle: (reply: ThreadReply) => void;
}

/**
 * One worker and its current step:
 *
 * | mode   | worker | busy | transitions                                                |
 * |--------|--------|------|------------------------------------------------------------|
 * | absent | no     | no   | a step arrives: busy                                       |
 * | busy   | yes    | yes  | it replies: idle; it dies or hangs: absent                 |
 * | idle   | yes    | no   | a step arrives: busy; large document or worker ends: absent |
 */
export class EvaluationThread {
  readonly #options: ThreadOptions;
  readonly #running = new Int32Array(new SharedArrayBuffer(8));
  readonly #ending = new Set<Promise<unknown>>();
  #worker: Worker | null = null;
  #document: string | null = null;
  #busy: Busy | null = null;
  #step = 0;
  /** The kernel's file of the worker: undefined before the worker runs, null if there is none. */
  #schedstat: string | null | undefined;
  /** CPU time of the current worker at the last reading. */
  #workerCpuMs = 0;
  /** CPU time of the workers that have ended. */
  #endedCpuMs = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** One step at a time: the caller awaits the reply before the next call. */
  async run({ text, ...step }: ThreadStep): Promise<ThreadReply> {
    const worker = this.#worker ?? this.#start();
    if (typeof worker === 'string') return { kind: 'broken', problem: worker };
    this.#step += 1;
    const isKnown = this.#document === text;
    this.#document = text;
    const message: WorkerStep = { ...step, step: this.#step, text: isKnown ? null : text };
    worker.ref();
    const reply = await new Promise<ThreadReply>((resolve) => {
      const stopWatching = this.#watch(step);
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

  /** Milliseconds for which its workers have had a CPU; NaN if the kernel does not report it. */
  cpuMs(): number {
    if (this.#schedstat === null) return Number.NaN;
    if (this.#schedstat !== undefined) {
      const readMs = threadCpuMs(this.#schedstat);
      // The thread may have ended.
      if (!Number.isNaN(readMs)) this.#workerCpuMs = readMs;
    }
    return this.#endedCpuMs + this.#workerCpuMs;
  }

  /** Call it when no step is waiting: frees the memory of a large document. */
  rest(): void {
    if ((this.#document?.length ?? 0) > MAX_IDLE_CHARS) this.#end();
  }

  async close(): Promise<void> {
    this.#end();
    this.#busy?.settle({ kind: 'broken', problem: 'the agent is stopping' });
    await Promise.all(this.#ending);
  }

  /** The worker, or why it cannot start. */
  #start(): Worker | string {
    Atomics.store(this.#running, 0, 0);
    const { workerUrl, schedstat } = this.#options;
    const worker = newWorker(workerUrl, { running: this.#running, schedstat });
    if (typeof worker === 'string') return worker;
    worker.on('message', (message: WorkerReady | WorkerReply) => {
      if ('step' in message) this.#answered(worker, message);
      else if (worker === this.#worker) this.#schedstat = message.schedstat;
    });
    worker.on('error', (error) => this.#died(worker, error));
    worker.on('exit', (code) => this.#died(worker, new Error(`it ended with code ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #answered(worker: Worker, { step, outcome, hadItsTime }: WorkerReply): void {
    if (worker !== this.#worker || this.#busy?.step !== step) return;
    this.#busy.settle(
      outcome === null ? { kind: 'too-slow', hadItsTime } : { kind: 'evaluated', outcome },
    );
  }

  #died(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    this.#forget();
    const isMemory = systemCodeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY';
    this.#busy?.settle(
      isMemory ? { kind: 'too-large' } : { kind: 'broken', problem: messageOf(error) },
    );
  }

  /**
   * Ends a worker whose run of an expression is the same at two consecutive checks, unless it was
   * short of CPU between them and may still get its time.
   */
  #watch({ limitMs, maxMs }: Pick<WorkerStep, 'limitMs' | 'maxMs'>): () => void {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    let firstCpuMs: number | null = null;
    let seen = { atMs: startMs, cpuMs: 0, run: 0 };
    const check = (): void => {
      const now = { atMs: clock.monotonicMs(), cpuMs: this.cpuMs() };
      firstCpuMs ??= now.cpuMs;
      const run = Atomics.load(this.#running, 0);
      if (run === 0 || run !== seen.run) {
        seen = { ...now, run };
      } else {
        const hadItsTime = hadCpuTime(now.cpuMs - seen.cpuMs, limitMs);
        const isOver = now.atMs - seen.atMs >= maxMs * WATCH_LIMITS;
        if (hadItsTime !== false || isOver) {
          this.#endTooSlow(hadItsTime);
          return;
        }
      }
      if (now.atMs - startMs > MAX_STEP_MS) {
        this.#endTooSlow(hadCpuTime(now.cpuMs - firstCpuMs, MAX_STEP_MS));
        return;
      }
      const mostMs = Math.max(limitMs, Atomics.load(this.#running, 1));
      cancel = clock.after(mostMs * WATCH_LIMITS, check);
    };
    let cancel = clock.after(limitMs * WATCH_LIMITS, check);
    return () => cancel();
  }

  #endTooSlow(hadItsTime: boolean | null): void {
    this.#end();
    this.#busy?.settle({ kind: 'too-slow', hadItsTime });
  }

  #end(): void {
    const worker = this.#worker;
    if (worker === null) return;
    this.cpuMs();
    this.#forget();
    // terminate() waits for a native call in the worker to end; only close() awaits it.
    const ending = worker.terminate().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #forget(): void {
    this.#worker = null;
    this.#document = null;
    this.#schedstat = undefined;
    this.#endedCpuMs += this.#workerCpuMs;
    this.#workerCpuMs = 0;
  }
}

function newWorker(url: URL, start: WorkerStart): Worker | string {
  try {
    return new Worker(url, {
      name: 'vedette-patterns',
      workerData: start,
      // Users' expressions must not see the agent's environment.
      env: {},
      execArgv: [],
      resourceLimits: RESOURCE_LIMITS,
    });
  } catch (thrown) {
    return messageOf(thrown);
  }
}
