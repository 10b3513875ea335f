import type { Clock } from '../runtime/clock.ts';
import { yieldToEventLoop } from '../runtime/event-loop.ts';
import { sleep } from '../runtime/wait.ts';

/** Maximum time from the first start to the last. */
const MAX_SPREAD_MS = 200;
/** Maximum pause between two starts, each of which takes less time. */
const MAX_GAP_MS = 5;

/**
 * Starts all items one after the other, evenly spread: if they started at once, the work of each
 * would lengthen the times of the others. Yields to the event loop between two starts, even if it
 * is late. An aborted signal ends the pauses. Settles like Promise.all, after all have started.
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
    // It may reject before Promise.all listens.
    started.catch(() => {});
    runs.push(started);
  }
  await Promise.all(runs);
}
