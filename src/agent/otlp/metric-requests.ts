import type { CheckMetric } from '../health/check-gauges.ts';
import {
  attributesOf,
  type Metric,
  metricsRequest,
  type NumberDataPoint,
  type Sender,
  unixNano,
} from './otlp-json.ts';

/** Data points of a request: about a quarter of a megabyte of JSON, so that making it takes a few milliseconds. */
const MAX_POINTS = 500;

export interface ExportRequest {
  readonly body: object;
  /** Data points or spans in it. */
  readonly count: number;
}

/**
 * The requests with all data points, each made when it is its turn. Values that are no numbers, which JSON does
 * not know, are left out: receivers would refuse the whole request.
 */
export function* metricRequests(
  metrics: Iterable<CheckMetric>,
  { sender, wallMs }: { readonly sender: Sender; readonly wallMs: number },
): Generator<ExportRequest> {
  const timeUnixNano = unixNano(wallMs);
  let batch: Metric[] = [];
  let count = 0;
  for (const { row, points: given } of metrics) {
    const points = given.filter(({ value }) => Number.isFinite(value));
    for (let from = 0; from < points.length; ) {
      const part = points.slice(from, from + MAX_POINTS - count);
      const dataPoints = part.map(
        ({ labels, value }): NumberDataPoint => ({
          attributes: attributesOf(labels),
          timeUnixNano,
          asDouble: value,
        }),
      );
      batch.push({
        name: row.name,
        description: row.meaning,
        ...(row.name.endsWith('_seconds') ? { unit: 's' } : {}),
        gauge: { dataPoints },
      });
      from += part.length;
      count += part.length;
      if (count < MAX_POINTS) continue;
      yield { body: metricsRequest(sender, batch), count };
      batch = [];
      count = 0;
    }
  }
  if (count > 0) yield { body: metricsRequest(sender, batch), count };
}
