import type { AgentMetrics } from '../../../src/agent/metrics/metrics.ts';

/** What a scrape of these metrics reads. */
export async function metricsText(metrics: Pick<AgentMetrics, 'exposition'>): Promise<string> {
  return Buffer.concat(await metrics.exposition()).toString();
}
