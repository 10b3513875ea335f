import type { Clock } from './clock.ts';

const waiting: (() => void)[] = [];

/**
 * Lets sockets and timers run. One waiting caller resumes per iteration of the event loop, so an iteration
 * takes as long as one piece of work, even if many callers do long work at once.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeOne);
  });
}

/** The duration of the work between two yields. */
const YIELD_AFTER_MS = 5;

/** Call after each piece of work: yields to the event loop when it is time. */
export type YieldWhenDue = () => Promise<void>;

export function createYielder(clock: Pick<Clock, 'monotonicMs'>): YieldWhenDue {
  let begunMs = clock.monotonicMs();
  return async () => {
    if (clock.monotonicMs() - begunMs < YIELD_AFTER_MS) return;
    await yieldToEventLoop();
    begunMs = clock.monotonicMs();
  };
}

function resumeOne(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(resumeOne);
}
