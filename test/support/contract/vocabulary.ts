/** The shared enumerations of the specification, 2.1. */
export const CHECK_TYPES = [
  'AGENTIC',
  'API',
  'BROWSER',
  'HEARTBEAT',
  'ICMP',
  'MULTI_STEP',
  'TCP',
  'PLAYWRIGHT',
  'URL',
  'DNS',
];

export const LOCATIONS = [
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
  'ca-central-1',
  'sa-east-1',
  'eu-west-1',
  'eu-central-1',
  'eu-west-2',
  'eu-west-3',
  'eu-north-1',
  'eu-south-1',
  'me-south-1',
  'ap-southeast-1',
  'ap-northeast-1',
  'ap-east-1',
  'ap-southeast-2',
  'ap-southeast-3',
  'ap-northeast-2',
  'ap-northeast-3',
  'ap-south-1',
  'af-south-1',
];

export const RUNTIME_IDS = [
  '2026.04',
  '2025.04',
  '2024.09',
  '2024.02',
  '2023.09',
  '2023.02',
  '2022.10',
];

/** In minutes. */
export const CHECK_FREQUENCIES = [0, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

export const ALERT_TYPES = [
  'NO_ALERT',
  'ALERT_FAILURE',
  'ALERT_FAILURE_REMAIN',
  'ALERT_FAILURE_DEGRADED',
  'ALERT_RECOVERY',
  'ALERT_DEGRADED',
  'ALERT_DEGRADED_REMAIN',
  'ALERT_DEGRADED_FAILURE',
  'ALERT_DEGRADED_RECOVERY',
  'ALERT_SSL',
];

/** 2.4 */
export const RESULT_TYPES = ['FINAL', 'ATTEMPT', 'ALL'];

/** 4.2 */
export const QUICK_RANGES = [
  'last24Hours',
  'last7Days',
  'last30Days',
  'thisWeek',
  'thisMonth',
  'lastWeek',
  'lastMonth',
];

/** Part 2.7: the suffixes of aggregated metrics. */
export const SUFFIXES = [
  '_avg',
  '_max',
  '_median',
  '_min',
  '_p50',
  '_p90',
  '_p95',
  '_p99',
  '_stddev',
  '_sum',
];

export interface MetricNames {
  readonly plain: readonly string[];
  readonly suffixed: readonly string[];
}

const API_DURATIONS = ['responseTime', 'wait', 'dns', 'tcp', 'firstByte', 'download'];
const ICMP_MEASURES = ['packetLoss', 'latencyMin', 'latencyMax', 'latencyAvg', 'latencyStdDev'];

/** 2.7 */
export const API_METRICS = metricsOf(API_DURATIONS);
export const ICMP_METRICS = metricsOf(ICMP_MEASURES);

function metricsOf(measures: readonly string[]): MetricNames {
  return {
    plain: [...measures, 'availability', 'retries'],
    suffixed: measures.flatMap((measure) => SUFFIXES.map((suffix) => `${measure}${suffix}`)),
  };
}
