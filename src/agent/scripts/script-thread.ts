import { Worker } from 'node:worker_threads';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import { MAX_FETCHES, MAX_LOG_LINES } from './limits.ts';
import type {
  FetchReply,
  FromWorker,
  ScriptEnd,
  ScriptInput,
  ScriptLogLevel,
  StartMessage,
  ToWorker,
} from './script-protocol.ts';

export interface ScriptJob {
  readonly source: string;
  readonly fileName: string;
  readonly input: ScriptInput;
  /** Milliseconds from the start of the script. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Called when its time begins. */
  readonly onStart?: () => void;
}

/** The actions of a script outside of its sandbox. */
export interface ScriptHost {
  log(level: ScriptLogLevel, text: string): void;
  /** Resolves when the values are masked; if it rejects, the script ends as `broken`. */
  learn(values: readonly string[]): Promise<void>;
  /** The signal aborts when the script ends. If it rejects, the script ends as `broken`. */
  fetch(request: unknown, signal: AbortSignal): Promise<FetchReply>;
}

/**
 * - `timed-out`: ended at its limit
 * - `cancelled`: the signal aborted
 * - `broken`: the worker could not start, or died for a reason other than the script, or the host
 *   failed
 */
export type ScriptOutcome =
  | ScriptEnd
  | { readonly kind: 'timed-out' }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'broken'; readonly problem: string };

/** A worker is replaced after this many scripts: its WebAssembly modules are freed late. */
const MAX_SCRIPTS = 100;

/** Shorter lines of the job log are not cut. */
const MIN_CUT_CHARS = 1_000;

/** For texts to and from scripts; the sandbox limits the memory of the scripts themselves. */
const RESOURCE_LIMITS = {
  maxOldGenerationSizeMb: 256,
  maxYoungGenerationSizeMb: 32,
  stackSizeMb: 4,
};

/**
 * One worker and its current script. Ends a worker whose script did not end by itself; the next
 * script starts another one.
 */
export class ScriptThread {
  readonly #clock: Clock;
  readonly #workerUrl: URL;
  readonly #ending = new Set<Promise<unknown>>();
  #worker: Worker | null = null;
  /** The number of scripts that the worker has run. */
  #scripts = 0;
  #starting: Promise<string | null> | null = null;
  #current: {
    readonly received: (message: FromWorker) => void;
    readonly died: (error: unknown) => void;
  } | null = null;

  constructor({ clock, workerUrl }: { readonly clock: Clock; readonly workerUrl: URL }) {
    this.#clock = clock;
    this.#workerUrl = workerUrl;
  }

  /** One script at a time: the caller awaits the outcome before the next call. Never rejects. */
  async run(job: ScriptJob, host: ScriptHost): Promise<ScriptOutcome> {
    // The time in which the worker starts is the agent's, not the script's.
    const problem = await this.#ready();
    const worker = this.#worker;
    if (problem !== null || worker === null) {
      return { kind: 'broken', problem: problem ?? 'the agent is stopping' };
    }
    if (job.signal.aborted) return { kind: 'cancelled' };
    worker.ref();
    const outcome = await this.#runOn(worker, job, host);
    this.#scripts += 1;
    const hasEnded = outcome.kind === 'passed' || (outcome.kind === 'failed' && !outcome.isBroken);
    if (hasEnded && this.#scripts < MAX_SCRIPTS) worker.unref();
    else this.#end();
    return outcome;
  }

  async close(): Promise<void> {
    this.#end();
    await Promise.all(this.#ending);
  }

  #runOn(worker: Worker, job: ScriptJob, host: ScriptHost): Promise<ScriptOutcome> {
    const { source, fileName, input, limitMs, signal } = job;
    job.onStart?.();
    return new Promise((resolve) => {
      const fetching = new AbortController();
      const requests: Promise<void>[] = [];
      let fetches = 0;
      let lines = 0;
      const secrets: string[] = [];
      let hostProblem: string | null = null;
      const onHostFault = (thrown: unknown): void => {
        hostProblem ??= messageOf(thrown);
        settle({ kind: 'broken', problem: hostProblem });
      };
      // In order: a secret must be known before a line with it is cut, and no line is logged after
      // one that cannot be masked.
      let last: Promise<void> = Promise.resolve();
      const inOrder = (step: () => void | Promise<void>): void => {
        last = last.then(() => (hostProblem === null ? step() : undefined)).catch(onHostFault);
      };
      const learn = async (): Promise<void> => {
        if (secrets.length > 0) await host.learn(secrets.splice(0));
      };
      let isOver = false;
      const settle = (outcome: ScriptOutcome): void => {
        if (isOver) return;
        isOver = true;
        cancelTimer();
        signal.removeEventListener('abort', onAbort);
        this.#current = null;
        fetching.abort();
        // Nothing of the script runs after it.
        void last
          .then(() => Promise.all(requests))
          .then(learn)
          .catch(onHostFault)
          .then(() =>
            resolve(hostProblem === null ? outcome : { kind: 'broken', problem: hostProblem }),
          );
      };
      const onAbort = (): void => settle({ kind: 'cancelled' });
      // One more event-loop iteration: after a pause, an end that has arrived counts before the
      // timer.
      const cancelTimer = this.#clock.after(limitMs, () => {
        setImmediate(() => settle({ kind: 'timed-out' }));
      });
      signal.addEventListener('abort', onAbort);

      const fetched = async (id: number, request: unknown): Promise<void> => {
        if (isOver) return;
        const reply = await host.fetch(request, fetching.signal);
        if (!isOver) worker.postMessage({ kind: 'fetched', id, reply } satisfies ToWorker);
      };
      const received = (message: FromWorker): void => {
        if (isOver) return;
        switch (message.kind) {
          case 'ready':
            return;
          case 'log': {
            lines += 1;
            if (lines > MAX_LOG_LINES) return;
            const { level, text } = message;
            // The result masks whole lines, so a secret must be known before only if a line is cut.
            if (text.length > MIN_CUT_CHARS) inOrder(learn);
            inOrder(() => host.log(level, text));
            return;
          }
          case 'secret':
            secrets.push(message.value);
            return;
          case 'fetch':
            fetches += 1;
            if (fetches > MAX_FETCHES) return;
            inOrder(learn);
            requests.push(last.then(() => fetched(message.id, message.request)).catch(onHostFault));
            return;
          case 'ended':
            settle(message.end);
        }
      };
      this.#current = { received, died: (error) => settle(outcomeOfDeath(error)) };
      worker.postMessage({ kind: 'start', source, fileName, input } satisfies StartMessage);
    });
  }

  /** Starts a worker unless there is one. Returns why it cannot start, or null. */
  async #ready(): Promise<string | null> {
    if (this.#worker === null) this.#starting = this.#start();
    return (await this.#starting) ?? null;
  }

  #start(): Promise<string | null> {
    const worker = newWorker(this.#workerUrl);
    if (typeof worker === 'string') return Promise.resolve(worker);
    this.#worker = worker;
    this.#scripts = 0;
    // Output of a WebAssembly module that aborts must not get into the agent's own output.
    worker.stdout.resume();
    worker.stderr.resume();
    return new Promise((resolve) => {
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'ready') resolve(null);
        if (worker === this.#worker) this.#current?.received(message);
      });
      const died = (error: unknown): void => {
        resolve(messageOf(error));
        if (worker !== this.#worker) return;
        this.#worker = null;
        this.#current?.died(error);
      };
      worker.on('error', died);
      worker.on('exit', (code) => died(new Error(`it ended with code ${code}`)));
    });
  }

  #end(): void {
    const worker = this.#worker;
    if (worker === null) return;
    this.#worker = null;
    this.#current?.died(new Error('the agent is stopping'));
    // It takes until a native call in the worker has ended; only close() awaits it.
    const ending = worker.terminate().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

function outcomeOfDeath(error: unknown): ScriptOutcome {
  if (systemCodeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY') {
    return { kind: 'broken', problem: messageOf(error) };
  }
  const message = 'out of memory';
  return { kind: 'failed', code: 'SCRIPT_MEMORY', message, line: null, isBroken: true };
}

function newWorker(url: URL): Worker | string {
  try {
    return new Worker(url, {
      name: 'vedette-scripts',
      // Code that escapes from the sandbox must not find the agent's environment.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: RESOURCE_LIMITS,
    });
  } catch (thrown) {
    return messageOf(thrown);
  }
}
