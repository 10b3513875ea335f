import type { Assertion } from '../../model/assertion.ts';
import type { Clock } from '../../runtime/clock.ts';
import { BoundedCache } from './bounded-cache.ts';
import { PatternThread, type ThreadReply } from './pattern-thread.ts';

export interface PoolOptions {
  readonly clock: Clock;
  readonly workerUrl: URL;
  readonly limitMs: number;
}

export interface PoolStep {
  readonly assertion: Assertion;
  readonly kind: 'text' | 'json-text';
  readonly expression: string | null;
  readonly text: string;
}

/** `cancelled`: the signal aborted, or the pool was closed. `crowded`: known to be slow, and too many such are waiting. */
export type PoolReply = ThreadReply | { readonly kind: 'cancelled' } | { readonly kind: 'crowded' };

interface Task {
  readonly step: PoolStep;
  readonly key: string;
  readonly queuedMs: number;
  readonly settle: (reply: PoolReply) => void;
  /** It has its reply, or nobody waits for one any more. */
  settled: boolean;
}

interface Lane {
  readonly name: 'quick' | 'slow';
  readonly thread: PatternThread;
  readonly limitMs: number;
  readonly queue: Task[];
  active: boolean;
}

/** What the quick lane gives an expression before it has to move over. */
const TRIAL_SHARE = 0.2;
const MAX_CROWDED_MS = 2000;
const MAX_KNOWN_SLOW = 1000;
/** Reading a larger document takes so long by itself that it goes to the slow lane at once. */
const MAX_QUICK_CHARS = 1024 * 1024;

/**
 * Two workers, so that expressions which blow up hold up only each other. Each expression gets a
 * short trial in the quick lane; what does not finish there moves to the slow lane, where it has
 * its full limit, and goes there at once the next time. In the slow lane those that were never
 * over the full limit come first, and those that were may be turned away when it is crowded.
 */
export class PatternPool {
  readonly #options: PoolOptions;
  readonly #quick: Lane;
  readonly #slow: Lane;
  /** How often in a row an expression of the slow lane was over the full limit. */
  readonly #strikes = new BoundedCache<number>(MAX_KNOWN_SLOW);
  #closed: boolean = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const lane = (name: Lane['name'], limitMs: number): Lane => {
      return { name, thread: new PatternThread(options), limitMs, queue: [], active: false };
    };
    this.#quick = lane('quick', Math.max(1, Math.round(options.limitMs * TRIAL_SHARE)));
    this.#slow = lane('slow', options.limitMs);
  }

  /**
   * Evaluates assertions, each within the limit, which counts from when a worker starts on it.
   * When the signal aborts, whatever has no reply yet is cancelled at once.
   */
  async judgeAll(
    steps: readonly PoolStep[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<PoolStep, PoolReply>> {
    const replies = new Map<PoolStep, PoolReply>();
    if (signal.aborted || this.#closed) return replies;
    await new Promise<void>((resolve) => {
      const tasks = steps.map((step) =>
        this.#taskOf(step, (reply) => {
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

  /** Ends the workers; whatever still waits is cancelled. */
  async close(): Promise<void> {
    this.#closed = true;
    const waiting = [this.#quick, this.#slow].flatMap(({ queue }) => queue.splice(0));
    for (const task of waiting) task.settle({ kind: 'cancelled' });
    await Promise.all([this.#quick.thread.close(), this.#slow.thread.close()]);
  }

  #taskOf(step: PoolStep, onReply: (reply: PoolReply) => void): Task {
    const task: Task = {
      step,
      key: keyOf(step),
      queuedMs: this.#options.clock.monotonicMs(),
      settled: false,
      settle: (reply) => {
        if (task.settled) return;
        task.settled = true;
        this.#drop(task);
        onReply(reply);
      },
    };
    return task;
  }

  #laneFor({ step, key }: Task): Lane {
    const isSlow = step.text.length > MAX_QUICK_CHARS || this.#strikes.get(key) !== undefined;
    return isSlow ? this.#slow : this.#quick;
  }

  #add(lane: Lane, task: Task): void {
    lane.queue.push(task);
    if (!lane.active) void this.#work(lane);
  }

  #drop(task: Task): void {
    for (const { queue } of [this.#quick, this.#slow]) {
      const at = queue.indexOf(task);
      if (at !== -1) queue.splice(at, 1);
    }
  }

  async #work(lane: Lane): Promise<void> {
    lane.active = true;
    for (let task = this.#next(lane); task !== null; task = this.#next(lane)) {
      const reply = await lane.thread.run({ ...task.step, limitMs: lane.limitMs });
      if (lane === this.#slow) this.#remember(task, reply);
      if (task.settled) continue;
      if (this.#closed) task.settle({ kind: 'cancelled' });
      else if (lane === this.#quick && reply.kind === 'too-slow') this.#moveOver(task);
      else task.settle(reply);
    }
    lane.active = false;
    lane.thread.rest();
  }

  #moveOver(task: Task): void {
    this.#strikes.set(task.key, this.#strikes.get(task.key) ?? 0);
    this.#add(this.#slow, task);
  }

  #remember(task: Task, reply: ThreadReply): void {
    if (reply.kind === 'too-slow') this.#strikes.set(task.key, this.#strikesOf(task) + 1);
    // It may have been the other document: it gets a trial again.
    else this.#strikes.delete(task.key);
  }

  /** The task with the fewest strikes, the oldest of them; in the quick lane that is the first. */
  #next(lane: Lane): Task | null {
    for (;;) {
      let best: Task | null = null;
      for (const task of lane.queue) {
        if (best === null || this.#strikesOf(task) < this.#strikesOf(best)) best = task;
      }
      if (best === null) return null;
      lane.queue.splice(lane.queue.indexOf(best), 1);
      const waitedMs = this.#options.clock.monotonicMs() - best.queuedMs;
      if (this.#strikesOf(best) === 0 || waitedMs <= MAX_CROWDED_MS) return best;
      best.settle({ kind: 'crowded' });
    }
  }

  #strikesOf(task: Task): number {
    return this.#strikes.get(task.key) ?? 0;
  }
}

/**
 * What is remembered as slow: the expression, or where there is none the comparison itself, and
 * the size of what it was slow on, or one check's large body would tell on all others' small ones.
 */
function keyOf({ kind, expression, text, assertion }: PoolStep): string {
  const size = Math.ceil(Math.log2(text.length + 1));
  return `${kind} ${size}\n${expression ?? `${assertion.comparison}\n${assertion.target}`}`;
}
