import type { RunnableCheckType } from '../enums.ts';
import { DAY_MS } from '../time-units.ts';

export const METRIC_UNITS = ['milliseconds', 'percentage', 'count'] as const;
export type MetricUnit = (typeof METRIC_UNITS)[number];

/**
 * The suffixes of src/service/README.md, "Analytics", with their labels. `median` and `p50` are the
 * same.
 */
export const AGGREGATIONS = {
  avg: 'average',
  max: 'maximum',
  median: 'median',
  min: 'minimum',
  p50: '50th percentile',
  p90: '90th percentile',
  p95: '95th percentile',
  p99: '99th percentile',
  stddev: 'standard deviation',
  sum: 'sum',
} as const;
export type Aggregation = keyof typeof AGGREGATIONS;

interface MeasureFacts {
  readonly unit: MetricUnit;
  readonly label: string;
}

const ms = (label: string): MeasureFacts => ({ unit: 'milliseconds', label });
const percent = (label: string): MeasureFacts => ({ unit: 'percentage', label });

const RESPONSE_TIME = { responseTime: ms('Response time') };
const HTTP_MEASURES = {
  ...RESPONSE_TIME,
  wait: ms('Wait'),
  dns: ms('DNS'),
  tcp: ms('TCP'),
  firstByte: ms('First byte'),
  download: ms('Download'),
};

/**
 * The measures of each run of a check: src/service/README.md, "Analytics", and for TCP the phases
 * of its results.
 */
const MEASURES = {
  API: HTTP_MEASURES,
  URL: HTTP_MEASURES,
  TCP: {
    ...RESPONSE_TIME,
    dns: ms('DNS'),
    connection: ms('Connection'),
    data: ms('Data'),
  },
  DNS: RESPONSE_TIME,
  ICMP: {
    packetLoss: percent('Packet loss'),
    latencyMin: ms('Minimum latency'),
    latencyMax: ms('Maximum latency'),
    latencyAvg: ms('Average latency'),
    latencyStdDev: ms('Standard deviation of latency'),
  },
} as const satisfies Readonly<Record<RunnableCheckType, Readonly<Record<string, MeasureFacts>>>>;

type KeysOf<T> = T extends unknown ? keyof T : never;
export type Measure = KeysOf<(typeof MEASURES)[RunnableCheckType]>;

const HTTP_PHASES: readonly Measure[] = ['wait', 'dns', 'tcp', 'firstByte', 'download'];

/** The measures of a check that its response time consists of, in their order. */
export const PHASES: Readonly<Record<RunnableCheckType, readonly Measure[]>> = {
  API: HTTP_PHASES,
  URL: HTTP_PHASES,
  TCP: ['dns', 'connection', 'data'],
  DNS: [],
  ICMP: [],
};

/** A metric of runs: one of their measures, the availability, or the number of retries. */
export interface Metric extends MeasureFacts {
  readonly name: string;
  readonly of: Measure | 'availability' | 'retries';
  /** How the values of several runs are combined. */
  readonly aggregation: Aggregation;
  /** Whether the name has no suffix. */
  readonly isPlain: boolean;
}

/** Metrics of every type, without suffixed forms. */
const OF_EVERY_TYPE: readonly Metric[] = [
  {
    ...percent('Availability'),
    name: 'availability',
    of: 'availability',
    aggregation: 'avg',
    isPlain: true,
  },
  {
    unit: 'count',
    label: 'Retries',
    name: 'retries',
    of: 'retries',
    aggregation: 'sum',
    isPlain: true,
  },
];

function metricsOf(checkType: RunnableCheckType): ReadonlyMap<string, Metric> {
  const measures = Object.entries(MEASURES[checkType]) as [Measure, MeasureFacts][];
  const plain = measures.map(
    ([of, facts]): Metric => ({ ...facts, name: of, of, aggregation: 'avg', isPlain: true }),
  );
  const suffixed = measures.flatMap(([of, { unit, label }]) =>
    (Object.entries(AGGREGATIONS) as [Aggregation, string][]).map(
      ([aggregation, words]): Metric => ({
        name: `${of}_${aggregation}`,
        of,
        aggregation,
        unit,
        label: `${label} (${words})`,
        isPlain: false,
      }),
    ),
  );
  return new Map([...plain, ...OF_EVERY_TYPE, ...suffixed].map((metric) => [metric.name, metric]));
}

/** Every metric of the checks of a type by its name, the plain ones first. */
export const ANALYTICS_METRICS: Readonly<Record<RunnableCheckType, ReadonlyMap<string, Metric>>> = {
  API: metricsOf('API'),
  URL: metricsOf('URL'),
  TCP: metricsOf('TCP'),
  DNS: metricsOf('DNS'),
  ICMP: metricsOf('ICMP'),
};

/** The path of each type's analytics after `/v1/analytics/`. */
export const ANALYTICS_PATHS: Readonly<Record<RunnableCheckType, string>> = {
  API: 'api-checks',
  URL: 'url',
  TCP: 'tcp',
  DNS: 'dns',
  ICMP: 'icmp',
};

/** Named windows: src/service/README.md, "Analytics". */
export const QUICK_RANGES = [
  'last24Hours',
  'last7Days',
  'last30Days',
  'thisWeek',
  'thisMonth',
  'lastWeek',
  'lastMonth',
] as const;
export type QuickRange = (typeof QUICK_RANGES)[number];

export const ANALYTICS_GROUPINGS = ['runLocation', 'statusCode'] as const;
export type AnalyticsGrouping = (typeof ANALYTICS_GROUPINGS)[number];

/** Degraded counts as success. */
export const RUN_STATUSES = ['success', 'failure'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Minutes. */
export const AGGREGATION_INTERVAL = { min: 1, max: 43_200 } as const;

/** 1970-01-05 00:00 UTC, the first Monday after the epoch. */
export const FIRST_MONDAY_MS = 4 * DAY_MS;

/**
 * The window that a name stands for at `nowMs`, in epoch milliseconds; `toMs` is exclusive. All in
 * UTC; weeks start on Monday. `last…` with a number ends now, `this…` begins with the week or month
 * and ends now, lastWeek and lastMonth are the complete previous ones.
 */
export function quickRangeAt(
  range: QuickRange,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } {
  const weekMs = nowMs - positiveRest(nowMs - FIRST_MONDAY_MS, 7 * DAY_MS);
  const now = new Date(nowMs);
  const monthMs = (back: number): number =>
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1);
  switch (range) {
    case 'last24Hours':
      return { fromMs: nowMs - DAY_MS, toMs: nowMs };
    case 'last7Days':
      return { fromMs: nowMs - 7 * DAY_MS, toMs: nowMs };
    case 'last30Days':
      return { fromMs: nowMs - 30 * DAY_MS, toMs: nowMs };
    case 'thisWeek':
      return { fromMs: weekMs, toMs: nowMs };
    case 'thisMonth':
      return { fromMs: monthMs(0), toMs: nowMs };
    case 'lastWeek':
      return { fromMs: weekMs - 7 * DAY_MS, toMs: weekMs };
    case 'lastMonth':
      return { fromMs: monthMs(1), toMs: monthMs(0) };
  }
}

function positiveRest(value: number, divisor: number): number {
  return ((value % divisor) + divisor) % divisor;
}
