import type { Clock } from './clock.ts';

const waiting: (() => void)[] = [];

/**
 * Lets sockets and timers go on. Of all who wait, one goes on in each turn of the event loop: however
 * many do long work at once, a turn takes as long as one piece of it.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeOne);
  });
}

/** Work that one may do before others go on. */
const YIELD_AFTER_MS = 5;

/** Called after each piece of some work: lets others go on where it is time for that. */
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
