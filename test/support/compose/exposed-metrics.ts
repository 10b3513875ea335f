import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import { AGENT_METRICS } from '../../../src/agent/metrics/metrics-table.ts';
import { createServiceMetrics, NO_COUNTS } from '../../../src/service/http/metrics.ts';
import type { Selector } from './promql.ts';

/** A series of the agent, the service or Prometheus itself. */
export interface Exposed {
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary';
  readonly labels: readonly string[];
}

/** The labels that Prometheus adds to every series. */
const TARGET_LABELS = ['job', 'instance'];
const PARTS: readonly (readonly [string, readonly string[]])[] = [
  ['_bucket', ['le']],
  ['_sum', []],
  ['_count', []],
];
const OVER_COUNTERS = new Set(['rate', 'irate', 'increase', 'resets']);

/** Every series by its name, including parts of histograms and Prometheus' own `up`. */
export function exposedMetrics(): ReadonlyMap<string, Exposed> {
  const service = createServiceMetrics({
    version: '1',
    inFlight: () => 0,
    counts: () => NO_COUNTS,
  }).registry;
  const process = new Registry();
  collectDefaultMetrics({ register: process });
  const all = new Map<string, Exposed>([['up', { type: 'gauge', labels: TARGET_LABELS }]]);
  const rows = [...AGENT_METRICS, ...rowsOf(service), ...rowsOf(process)];
  for (const { name, type, labels: own } of rows) {
    const labels = [...own, ...TARGET_LABELS];
    if (type === 'histogram') {
      for (const [part, more] of PARTS) {
        all.set(`${name}${part}`, { type, labels: [...labels, ...more] });
      }
    } else {
      all.set(name, { type, labels });
    }
  }
  return all;
}

function rowsOf(registry: Registry): readonly (Exposed & { readonly name: string })[] {
  return registry.getMetricsAsArray().map((listed) => {
    // The type of the list omits the common constructor arguments.
    const metric = listed as unknown as Metric & { type: Exposed['type']; labelNames: string[] };
    return { name: listed.name, type: metric.type, labels: metric.labelNames };
  });
}

/** Faults in the use of a series; empty if it is correct. */
export function misuseOf(
  { metric, labels, hasRange, within, grouping }: Selector,
  exposed: ReadonlyMap<string, Exposed>,
): readonly string[] {
  const known = exposed.get(metric);
  if (known === undefined) return [`${metric} is exposed by nobody`];
  const unknown = [...labels, ...grouping].filter((label) => !known.labels.includes(label));
  const isCounter = known.type === 'counter' || known.type === 'histogram';
  const rates = within.filter((name) => OVER_COUNTERS.has(name));
  return [
    ...unknown.map((label) => `${metric} has no label ${label}`),
    ...(isCounter && rates.length === 0 ? [`the total of ${metric} alone says nothing`] : []),
    ...(!isCounter && rates.length > 0 ? [`${metric} is no counter for ${rates[0]}`] : []),
    ...(rates.length > 0 && !hasRange ? [`${metric} in ${rates[0]} has no range`] : []),
    ...(within.includes('histogram_quantile') && !metric.endsWith('_bucket')
      ? [`${metric} is no histogram's bucket`]
      : []),
    ...(metric.endsWith('_bucket') &&
    !(within.includes('histogram_quantile') && grouping.includes('le'))
      ? [`${metric} is used outside of histogram_quantile by le`]
      : []),
  ];
}
