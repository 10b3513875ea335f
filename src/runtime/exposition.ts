import type { Registry } from 'prom-client';
import { systemClock } from './clock.ts';

/** A scrape lets the event loop go on after so long. */
const RENDER_BUDGET_MS = 4;

/** Gives the exposition of a registry (Prometheus text format 0.0.4). Calls at once share one. */
export function sharedExposition(
  registry: Pick<Registry, 'getMetricsAsArray' | 'getSingleMetricAsString'>,
): () => Promise<string> {
  let rendering: Promise<string> | null = null;
  return () => {
    rendering ??= render(registry).finally(() => {
      rendering = null;
    });
    return rendering;
  };
}

/**
 * Metric by metric, with a turn of the event loop where they have taken their time: with 10,000
 * checks, all at once would hold the loop for longer than the runs meanwhile could bear. Not after
 * each of them: where the loop is busy, a turn takes long, and nobody waits for so many.
 */
async function render(
  registry: Pick<Registry, 'getMetricsAsArray' | 'getSingleMetricAsString'>,
): Promise<string> {
  const parts: string[] = [];
  let turnEndsMs = systemClock.monotonicMs() + RENDER_BUDGET_MS;
  for (const { name } of registry.getMetricsAsArray()) {
    parts.push(await registry.getSingleMetricAsString(name));
    if (systemClock.monotonicMs() < turnEndsMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    turnEndsMs = systemClock.monotonicMs() + RENDER_BUDGET_MS;
  }
  return `${parts.join('\n\n')}\n`;
}
