import type { Assertion } from '../../model/check/assertions/assertion.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LruCache } from '../../runtime/lru-cache.ts';
import { hadCpuTime } from '../../runtime/process/thread-cpu-time.ts';
import { EvaluationThread, type ThreadReply } from './evaluation-thread.ts';

export interface PoolOptions {
  readonly clock: Clock;
  readonly workerUrl: URL;
  readonly limitMs: number;
  /** See WorkerStart. */
  readonly schedstat: string;
}

export interface PoolStep {
  readonly assertion: Assertion;
  readonly kind: 'text' | 'matched-text' | 'json-text';
  readonly expression: string | null;
  readonly text: string;
}

/**
 * - `cancelled`: the signal aborted, or the pool was closed
 * - `crowded`: it waited too long; `hadItsTime`: whether the worker had CPU time for all of the
 *   longest wait, null if unknown
 */
export type PoolReply =
  | ThreadReply
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'crowded'; readonly hadItsTime: boolean | null };

/** The evaluation of the expressions of one response. */
interface Evaluation {
  /** Milliseconds of the workers that they have used so far. */
  usedMs: number;
}

interface Task {
  readonly step: PoolStep;
  readonly evaluation: Evaluation;
  readonly key: string;
  readonly queuedMs: number;
  /** CPU time of its lane's worker, less what the workers have used since it was queued. */
  cpuMarkMs: number;
  readonly settle: (reply: PoolReply) => void;
  /** It has a reply, or its caller stopped waiting. */
  settled: boolean;
}

interface Lane {
  readonly name: 'quick' | 'slow';
  readonly thread: EvaluationThread;
  readonly limitMs: number;
  /** See WorkerStep. */
  readonly maxMs: number;
  /** Oldest first. */
  readonly queue: Set<Task>;
  active: boolean;
}

/** Time limit of a user's regular expression or JSONPath (src/model/README.md, "Assertions"). */
export const PATTERN_LIMIT_MS = 100;
/** Time limit in the quick lane, as a share of the full limit. */
const TRIAL_SHARE = 0.2;
/** Maximum duration in the slow lane, in full limits, if the agent gets little CPU. */
const MAX_STRETCH = 20;
/** Maximum wait of an expression that exceeded the full limit the last time. */
const MAX_KNOWN_WAIT_MS = 2000;
/** Maximum wait of others of a response that used its share: a waiting run occupies a permit. */
const MAX_WAIT_MS = 10_000;
/** A response's share of the workers' time, in full limits. */
const SHARE_LIMITS = 2;
const MAX_KNOWN_SLOW = 1000;
/** Parsing a larger document takes so long that it goes to the slow lane directly. */
const MAX_QUICK_CHARS = 1024 * 1024;

/**
 * Two workers, so that slow expressions delay only each other. Each expression first gets a short
 * trial in the quick lane. If it does not finish, it moves to the slow lane, where it has the full
 * limit, and goes there directly the next time.
 *
 * The slow lane prefers expressions that never exceeded the full limit and, among these, those of
 * the response that has used the workers least: even if many expressions are slow at once, any
 * other waits for at most one of each response. Rejects an expression that waits too long.
 */
export class EvaluationPool {
  readonly #options: PoolOptions;
  readonly #quick: Lane;
  readonly #slow: Lane;
  /** How often in a row an expression exceeded the full limit in the slow lane. */
  readonly #strikes = new LruCache<number>(MAX_KNOWN_SLOW);
  #closed: boolean = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const lane = (name: Lane['name'], limitMs: number, maxMs: number): Lane => {
      const thread = new EvaluationThread(options);
      return { name, thread, limitMs, maxMs, queue: new Set(), active: false };
    };
    const trialMs = Math.max(1, Math.round(options.limitMs * TRIAL_SHARE));
    this.#quick = lane('quick', trialMs, trialMs);
    this.#slow = lane('slow', options.limitMs, MAX_STRETCH * options.limitMs);
  }

  /**
   * Evaluates assertions, each within the limit, which counts from when a worker starts it. If the
   * signal aborts, cancels those without a reply.
   */
  async evaluateAll(
    steps: readonly PoolStep[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<PoolStep, PoolReply>> {
    const replies = new Map<PoolStep, PoolReply>();
    if (signal.aborted || this.#closed) return replies;
    await new Promise<void>((resolve) => {
      const evaluation: Evaluation = { usedMs: 0 };
      const tasks = steps.map((step) =>
        this.#taskOf(step, evaluation, (reply) => {
          replies.set(step, reply);
          if (replies.size === steps.length) finish();
        }),
      );
      const onAbort = (): void => {
        for (const task of tasks) task.settle({ kind: 'cancelled' });
      };
      const finish = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      for (const task of tasks) this.#add(this.#laneFor(task), task);
    });
    return replies;
  }

  /** Ends the workers and cancels what is waiting. */
  async close(): Promise<void> {
    this.#closed = true;
    const waiting = [this.#quick, this.#slow].flatMap(({ queue }) => [...queue]);
    for (const task of waiting) task.settle({ kind: 'cancelled' });
    await Promise.all([this.#quick.thread.close(), this.#slow.thread.close()]);
  }

  #taskOf(step: PoolStep, evaluation: Evaluation, onReply: (reply: PoolReply) => void): Task {
    const task: Task = {
      step,
      evaluation,
      key: keyOf(step),
      queuedMs: this.#options.clock.monotonicMs(),
      cpuMarkMs: 0,
      settled: false,
      settle: (reply) => {
        if (task.settled) return;
        task.settled = true;
        this.#quick.queue.delete(task);
        this.#slow.queue.delete(task);
        onReply(reply);
      },
    };
    return task;
  }

  #laneFor({ step, key }: Task): Lane {
    const isSlow = isLarge(step) || this.#strikes.get(key) !== undefined;
    return isSlow ? this.#slow : this.#quick;
  }

  /** @param usedMs CPU time that a worker has used since the task was queued */
  #add(lane: Lane, task: Task, usedMs = 0): void {
    task.cpuMarkMs = lane.thread.cpuMs() - usedMs;
    lane.queue.add(task);
    if (!lane.active) void this.#work(lane);
  }

  async #work(lane: Lane): Promise<void> {
    lane.active = true;
    for (let task = this.#next(lane); task !== null; task = this.#next(lane)) {
      const startMs = this.#options.clock.monotonicMs();
      const { limitMs, maxMs } = lane;
      const reply = await lane.thread.run({ ...task.step, limitMs, maxMs });
      task.evaluation.usedMs += this.#options.clock.monotonicMs() - startMs;
      if (lane === this.#slow) this.#remember(task, reply);
      if (task.settled) continue;
      if (this.#closed) task.settle({ kind: 'cancelled' });
      else if (lane === this.#quick && reply.kind === 'too-slow') this.#moveToSlowLane(task);
      else task.settle(reply);
    }
    lane.active = false;
    lane.thread.rest();
  }

  #moveToSlowLane(task: Task): void {
    this.#strikes.set(task.key, this.#strikesOf(task));
    this.#add(this.#slow, task, this.#quick.thread.cpuMs() - task.cpuMarkMs);
  }

  #remember(task: Task, reply: ThreadReply): void {
    // The document may have been the reason: with the next one, the expression gets a trial again.
    if (reply.kind !== 'too-slow') this.#strikes.delete(task.key);
    // Too little CPU time shows nothing about the expression.
    else if (reply.hadItsTime !== false) this.#strikes.set(task.key, this.#strikesOf(task) + 1);
  }

  /** The next task; of equal ones the oldest. Rejects those that waited too long. */
  #next(lane: Lane): Task | null {
    const nowMs = this.#options.clock.monotonicMs();
    let best: Task | null = null;
    let cpuMs: number | null = null;
    for (const task of lane.queue) {
      const maxWaitMs = this.#maxWaitMs(task);
      if (nowMs - task.queuedMs > maxWaitMs) {
        cpuMs ??= lane.thread.cpuMs();
        const hadItsTime = hadCpuTime(cpuMs - task.cpuMarkMs, maxWaitMs);
        task.settle({ kind: 'crowded', hadItsTime });
      } else if (best === null || this.#goesBefore(task, best)) {
        best = task;
      }
    }
    if (best !== null) lane.queue.delete(best);
    return best;
  }

  #goesBefore(task: Task, other: Task): boolean {
    const strikes = this.#strikesOf(task) - this.#strikesOf(other);
    return strikes < 0 || (strikes === 0 && task.evaluation.usedMs < other.evaluation.usedMs);
  }

  #maxWaitMs(task: Task): number {
    if (this.#strikesOf(task) > 0) return MAX_KNOWN_WAIT_MS;
    const usedItsShare = task.evaluation.usedMs >= this.#options.limitMs * SHARE_LIMITS;
    return usedItsShare && !isLarge(task.step) ? MAX_WAIT_MS : Number.POSITIVE_INFINITY;
  }

  #strikesOf(task: Task): number {
    return this.#strikes.get(task.key) ?? 0;
  }
}

function isLarge({ text }: PoolStep): boolean {
  return text.length > MAX_QUICK_CHARS;
}

/**
 * Identifies slow work: the expression, or the comparison if there is none, and the size of the
 * text, so that a slow large body does not count against the small bodies of other checks.
 */
function keyOf({ kind, expression, text, assertion }: PoolStep): string {
  const size = Math.ceil(Math.log2(text.length + 1));
  const { source, comparison, target } = assertion;
  const work = source === 'JSON_SCHEMA' ? `${source}\n${expression ?? ''}\n${target}` : expression;
  return `${kind} ${size}\n${work ?? `${comparison}\n${target}`}`;
}
