import type { Registry } from 'prom-client';
import { systemClock } from './clock.ts';

/** A scrape yields to the event loop after this long. */
const RENDER_BUDGET_MS = 4;

/** Renders a registry (Prometheus text format 0.0.4). Concurrent calls share one rendering. */
export function sharedMetricsText(
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
 * Renders metric by metric and yields to the event loop when the budget is used up: with 10,000 checks,
 * rendering at once would block it and distort the times of runs. Not after each metric: a yield takes
 * long on a busy loop.
 */
async function render(
  registry: Pick<Registry, 'getMetricsAsArray' | 'getSingleMetricAsString'>,
): Promise<string> {
  const parts: string[] = [];
  let yieldAtMs = systemClock.monotonicMs() + RENDER_BUDGET_MS;
  for (const { name } of registry.getMetricsAsArray()) {
    parts.push(await registry.getSingleMetricAsString(name));
    if (systemClock.monotonicMs() < yieldAtMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    yieldAtMs = systemClock.monotonicMs() + RENDER_BUDGET_MS;
  }
  return `${parts.join('\n\n')}\n`;
}
