import type { AgentMetrics } from '../../../src/agent/metrics/metrics.ts';

/** The text that a scrape of these metrics returns. */
export async function metricsText(metrics: Pick<AgentMetrics, 'exposition'>): Promise<string> {
  return Buffer.concat(await metrics.exposition()).toString();
}
