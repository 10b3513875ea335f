import type { Clock } from '../../runtime/clock.ts';
import { MAX_WORKER_WAIT_MS } from './limits.ts';
import {
  type ScriptHost,
  type ScriptJob,
  type ScriptOutcome,
  ScriptThread,
} from './script-thread.ts';

export interface ScriptPoolParts {
  readonly clock: Clock;
  readonly workerUrl: URL;
  /** Maximum number of scripts that run at once, 1 or more (SCRIPT_WORKERS). */
  readonly workers: number;
  /** Called for each script that got no worker in time. */
  readonly onNoWorker?: () => void;
}

/** `no-worker`: no worker became free in time, which says nothing about the script. */
export type PooledOutcome = ScriptOutcome | { readonly kind: 'no-worker' };

export interface ScriptPool {
  /** Waits for a worker, first come, first served. The script's limit counts from its start. */
  run(job: ScriptJob, host: ScriptHost): Promise<PooledOutcome>;
  /** Ends all workers. No script may be active. */
  close(): Promise<void>;
}

type Waiter = (thread: ScriptThread | null) => void;

/** Workers start with the first script: most agents have none. */
export function createScriptPool(parts: ScriptPoolParts): ScriptPool {
  const { clock, workerUrl, workers, onNoWorker } = parts;
  const threads: ScriptThread[] = [];
  const free: ScriptThread[] = [];
  const waiting = new Set<Waiter>();

  const acquire = async (signal: AbortSignal): Promise<ScriptThread | null> => {
    const idle = free.pop();
    if (idle !== undefined) return idle;
    if (threads.length < workers) {
      const started = new ScriptThread({ clock, workerUrl });
      threads.push(started);
      return started;
    }
    return await new Promise((resolve) => {
      const end: Waiter = (thread) => {
        waiting.delete(end);
        cancel();
        signal.removeEventListener('abort', onAbort);
        resolve(thread);
      };
      const onAbort = (): void => end(null);
      const cancel = clock.after(MAX_WORKER_WAIT_MS, () => end(null));
      waiting.add(end);
      signal.addEventListener('abort', onAbort);
    });
  };

  const release = (thread: ScriptThread): void => {
    const [next] = waiting;
    if (next === undefined) free.push(thread);
    else next(thread);
  };

  return {
    async run(job, host) {
      if (job.signal.aborted) return { kind: 'cancelled' };
      const thread = await acquire(job.signal);
      if (thread === null) {
        if (job.signal.aborted) return { kind: 'cancelled' };
        onNoWorker?.();
        return { kind: 'no-worker' };
      }
      try {
        return await thread.run(job, host);
      } finally {
        release(thread);
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}
