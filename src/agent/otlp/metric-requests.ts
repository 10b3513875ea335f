import type { CheckMetric } from '../metrics/check-gauges.ts';
import {
  attributesOf,
  type Metric,
  metricsRequest,
  type NumberDataPoint,
  type Sender,
  unixNano,
} from './otlp-json.ts';

/** Data points of a request: about a quarter of a megabyte of JSON, made in a few milliseconds. */
const MAX_POINTS = 500;

export interface ExportRequest {
  readonly body: object;
  /** Data points or spans in it. */
  readonly count: number;
}

/**
 * Yields requests with all data points. Omits values that are not finite, which JSON cannot
 * represent: receivers would refuse the whole request.
 */
export function* metricRequests(
  metrics: Iterable<CheckMetric>,
  { sender, wallMs }: { readonly sender: Sender; readonly wallMs: number },
): Generator<ExportRequest> {
  const timeUnixNano = unixNano(wallMs);
  let batch: Metric[] = [];
  let count = 0;
  for (const { row, points } of metrics) {
    let dataPoints: NumberDataPoint[] = [];
    for (const { labels, value } of points) {
      if (!Number.isFinite(value)) continue;
      if (dataPoints.length === 0) batch.push(metricOf(row, dataPoints));
      dataPoints.push({ attributes: attributesOf(labels), timeUnixNano, asDouble: value });
      count += 1;
      if (count < MAX_POINTS) continue;
      yield { body: metricsRequest(sender, batch), count };
      batch = [];
      dataPoints = [];
      count = 0;
    }
  }
  if (count > 0) yield { body: metricsRequest(sender, batch), count };
}

function metricOf(row: CheckMetric['row'], dataPoints: readonly NumberDataPoint[]): Metric {
  return {
    name: row.name,
    description: row.meaning,
    ...(row.name.endsWith('_seconds') ? { unit: 's' } : {}),
    gauge: { dataPoints },
  };
}
