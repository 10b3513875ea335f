import { Backoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import { messageOf } from './errors.ts';
import type { Logger } from './logger.ts';
import { sleep } from './wait.ts';
import type { WakeSignal } from './wake-signal.ts';

export interface RunEveryOptions {
  readonly everyMs: number;
  /** The longest wait after failures. */
  readonly maxMs: number;
  /** The start of the log line of a failure; its message follows. */
  readonly failure: string;
  /** A failure is logged if its kind differs from that of the previous run. */
  readonly kindOf: (error: unknown) => string;
  readonly log: Logger;
  /** Ends a wait early. */
  readonly wake?: WakeSignal;
  /** From 0 to under 1. */
  readonly random?: () => number;
}

/**
 * Runs `work` about every `everyMs` until the signal aborts, and at once again when it resolves to
 * true. Backs off while it fails.
 */
export async function runEvery(
  clock: Clock,
  options: RunEveryOptions,
  // biome-ignore lint/suspicious/noConfusingVoidType: most work returns nothing
  work: () => Promise<boolean | void>,
  signal: AbortSignal,
): Promise<void> {
  const { everyMs, maxMs, failure, kindOf, log, wake, random = Math.random } = options;
  const backoff = new Backoff({ minMs: everyMs * 2, maxMs, random });
  let lastKind: string | null = null;
  while (!signal.aborted) {
    let delayMs: number;
    try {
      const isMore = await work();
      backoff.reset();
      lastKind = null;
      if (isMore === true) continue;
      // Replicas that started together do not all run at the same moment.
      delayMs = everyMs * (0.75 + random() / 2);
    } catch (error) {
      const kind = kindOf(error);
      if (kind !== lastKind && !signal.aborted) log.warn(`${failure}: ${messageOf(error)}`);
      lastKind = kind;
      delayMs = backoff.next();
    }
    if (wake === undefined) await sleep(clock, delayMs, signal);
    else await wake.wait(clock, delayMs, signal);
  }
}
