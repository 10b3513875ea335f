import type { Registry } from 'prom-client';
import { systemClock } from '../clock.ts';

/** A scrape yields to the event loop after this long. */
const RENDER_BUDGET_MS = 4;

/** A metric that no registry has. */
export interface RenderedMetric {
  /** The metric with its series, as metricText (exposition.ts) makes it. */
  render(): string;
}

/**
 * Renders a registry (Prometheus text format 0.0.4), and further metrics after it. Concurrent calls share
 * one rendering.
 */
export function sharedMetricsText(
  registry: Pick<Registry, 'getMetricsAsArray' | 'getSingleMetricAsString'>,
  further: readonly RenderedMetric[] = [],
): () => Promise<string> {
  let rendering: Promise<string> | null = null;
  return () => {
    rendering ??= render(registry, further).finally(() => {
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
  further: readonly RenderedMetric[],
): Promise<string> {
  const parts: string[] = [];
  const registered = registry.getMetricsAsArray().map(
    ({ name }) =>
      () =>
        registry.getSingleMetricAsString(name),
  );
  const others = further.map((metric) => () => metric.render());
  let yieldAtMs = systemClock.monotonicMs() + RENDER_BUDGET_MS;
  for (const renderNext of [...registered, ...others]) {
    parts.push(await renderNext());
    if (systemClock.monotonicMs() < yieldAtMs) continue;
    await new Promise<void>((resolve) => setImmediate(resolve));
    yieldAtMs = systemClock.monotonicMs() + RENDER_BUDGET_MS;
  }
  return `${parts.join('\n\n')}\n`;
}
