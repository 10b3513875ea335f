import type { Registry } from 'prom-client';
import { systemClock } from '../clock.ts';
import { createYielder, type YieldWhenDue } from '../event-loop.ts';

type Rendered = Pick<Registry, 'getMetricsAsArray' | 'getSingleMetricAsString'>;

/** Metrics with too many series for a registry. */
export interface RenderedMetrics {
  /**
   * Their text in pieces, an empty line between two metrics, a line feed at the end.
   *
   * @param yieldWhenDue to be called after each piece of work of at most a few milliseconds
   */
  render(yieldWhenDue: YieldWhenDue): Promise<readonly Uint8Array[]>;
}

/** Renders a registry (Prometheus text format 0.0.4). Concurrent calls share one rendering. */
export function sharedMetricsText(registry: Rendered): () => Promise<string> {
  return shared(() => textOf(registry, createYielder(systemClock)));
}

/**
 * The same with further metrics after those of the registry, in pieces of UTF-8: with 15,000 checks they
 * are 20 MB, and one string or buffer of that size would block the event loop.
 */
export function sharedExposition(
  registry: Rendered,
  further: RenderedMetrics,
): () => Promise<readonly Uint8Array[]> {
  return shared(async () => {
    const yieldWhenDue = createYielder(systemClock);
    const text = await textOf(registry, yieldWhenDue);
    return [Buffer.from(`${text}\n`), ...(await further.render(yieldWhenDue))];
  });
}

function shared<T>(render: () => Promise<T>): () => Promise<T> {
  let rendering: Promise<T> | null = null;
  return () => {
    rendering ??= render().finally(() => {
      rendering = null;
    });
    return rendering;
  };
}

/** Yields only when it is due, not after each metric: a yield takes long on a busy event loop. */
async function textOf(registry: Rendered, yieldWhenDue: YieldWhenDue): Promise<string> {
  const parts: string[] = [];
  for (const { name } of registry.getMetricsAsArray()) {
    parts.push(await registry.getSingleMetricAsString(name));
    await yieldWhenDue();
  }
  return `${parts.join('\n\n')}\n`;
}
