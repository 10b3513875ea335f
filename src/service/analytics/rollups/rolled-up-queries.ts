import type { Aggregation, Metric } from '../../../model/result/analytics.ts';
import { SPANS } from './plan-segments.ts';

/** What a point covers: one run, the whole window, or an interval of minutes. */
export type PointSpan = 'run' | 'window' | { readonly minutes: number };

/** The aggregations that can be computed from roll-ups. */
const ROLLED_AGGREGATIONS = ['avg', 'max', 'min', 'sum'] as const satisfies readonly Aggregation[];
export type RolledAggregation = (typeof ROLLED_AGGREGATIONS)[number];

const SHORTEST_MINUTES = Math.min(...SPANS);

export function isRolled(aggregation: Aggregation): aggregation is RolledAggregation {
  const rolled: readonly Aggregation[] = ROLLED_AGGREGATIONS;
  return rolled.includes(aggregation);
}

/**
 * Whether a query is answered from roll-ups instead of runs: its points consist of whole roll-ups, and roll-ups
 * contain all of its metrics. Depends only on the query, not on the stored data.
 */
export function isOfRollUps({
  point,
  metrics,
}: {
  readonly point: PointSpan;
  readonly metrics: readonly Metric[];
}): boolean {
  const hasWholeRollUps =
    point === 'window' || (point !== 'run' && point.minutes % SHORTEST_MINUTES === 0);
  return (
    hasWholeRollUps &&
    metrics.every(
      ({ of, aggregation }) => of === 'availability' || of === 'retries' || isRolled(aggregation),
    )
  );
}
