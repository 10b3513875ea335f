import { collectDefaultMetrics, type Registry } from 'prom-client';

/** How often the lag of the event loop is sampled. */
const LAG_SAMPLING_MS = 20;

/**
 * Gauges of prom-client that are named like counters, and the metric to sum up instead. The next release
 * removes them.
 */
const MISNAMED: Readonly<Record<string, string>> = {
  nodejs_active_handles_total: 'nodejs_active_handles',
  nodejs_active_requests_total: 'nodejs_active_requests',
  nodejs_active_resources_total: 'nodejs_active_resources',
};

/** CPU, memory, files and event loop of this process. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLING_MS });
  for (const [name, instead] of Object.entries(MISNAMED)) {
    // The type of the metric omits its help.
    const metric = registry.getSingleMetric(name) as { help?: string } | undefined;
    if (metric === undefined) continue;
    metric.help = `Deprecated: use sum by (instance) (${instead}). ${metric.help}`;
  }
}
