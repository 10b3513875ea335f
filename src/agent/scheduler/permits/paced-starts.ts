import type { Clock } from '../../../runtime/clock.ts';
import { yieldToEventLoop } from '../../../runtime/event-loop.ts';
import { sleep } from '../../../runtime/wait.ts';

/** From the first start to the last: whoever waits for all of them waits so much longer at most. */
const MAX_SPREAD_MS = 200;
/** What a start does at once takes less: a longer pause is of no use. */
const MAX_GAP_MS = 5;

/**
 * Runs all of them, started one after the other and evenly spread: all at once, each would have its
 * times made longer by the work that the others are. Between two starts the event loop sees to what
 * has come meanwhile, also where it is late. An aborted signal ends the pauses. Settles as
 * Promise.all does, once all have started.
 */
export async function runPaced<Item>(
  items: readonly Item[],
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const gapMs = Math.min(MAX_GAP_MS, MAX_SPREAD_MS / Math.max(1, items.length - 1));
  const firstMs = clock.monotonicMs();
  const runs: Promise<void>[] = [];
  for (const [index, item] of items.entries()) {
    if (index > 0 && !signal.aborted) {
      await yieldToEventLoop();
      const leftMs = firstMs + index * gapMs - clock.monotonicMs();
      if (leftMs > 0) await sleep(clock, leftMs, signal);
    }
    const started = run(item);
    // Nobody listens yet, should it fail before the last one has started.
    started.catch(() => {});
    runs.push(started);
  }
  await Promise.all(runs);
}
