import { createHash } from 'node:crypto';
import type { Measure } from '../../model/result/analytics.ts';
import type { Sql } from '../database/store.ts';
import { jsonText } from '../database/values.ts';

export interface RunMetrics {
  readonly checkId: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly sequenceId: string;
  readonly runLocation: string;
  /** Degraded counts as passed. */
  readonly passed: boolean;
  readonly degraded: boolean;
  readonly statusCode: number | null;
  readonly retries: number;
  /** Milliseconds; packetLoss in percent. Missing measures are omitted or null. */
  readonly measures: Readonly<Partial<Record<Measure, number | null>>>;
}

/** `tcp` of HTTP checks and `connection` of TCP checks measure the same. */
export const MEASURE_COLUMNS: Readonly<Record<Measure, string>> = {
  responseTime: 'response_time',
  wait: 'wait',
  dns: 'dns',
  tcp: 'tcp',
  connection: 'tcp',
  firstByte: 'first_byte',
  download: 'download',
  data: 'data',
  packetLoss: 'packet_loss',
  latencyMin: 'latency_min',
  latencyMax: 'latency_max',
  latencyAvg: 'latency_avg',
  latencyStdDev: 'latency_std_dev',
};

const VALUES = [...new Set(Object.values(MEASURE_COLUMNS))];
const COLUMNS = `check_id, slot, run_key, run_location, passed, degraded, status_code, retries, ${VALUES}`;
const TYPES = `check_id text, slot timestamptz, run_key bigint, run_location text, passed boolean, degraded boolean,
  status_code smallint, retries smallint, ${VALUES.map((name) => `${name} float8`)}`;

/** Does not change the metrics of runs that have some already. */
export async function insertRunMetrics(
  sql: Sql,
  { accountId, runs }: { readonly accountId: string; readonly runs: readonly RunMetrics[] },
): Promise<void> {
  await sql.query(
    `insert into result_metrics (account_id, ${COLUMNS})
     select $1, ${COLUMNS} from json_to_recordset($2::json) as given (${TYPES})
     on conflict do nothing`,
    [accountId, jsonText(runs.map(rowOf))],
  );
}

function rowOf(run: RunMetrics): Readonly<Record<string, unknown>> {
  const row: Record<string, unknown> = {
    check_id: run.checkId,
    slot: new Date(run.slotMs),
    run_key: runKeyOf(run.sequenceId),
    run_location: run.runLocation,
    passed: run.passed,
    degraded: run.degraded,
    status_code: run.statusCode,
    retries: run.retries,
  };
  for (const [measure, value] of Object.entries(run.measures)) {
    row[MEASURE_COLUMNS[measure as Measure]] = value;
  }
  return row;
}

/** The same as in migration 0003. Text, since it exceeds 2^53. */
function runKeyOf(sequenceId: string): string {
  return createHash('sha256').update(sequenceId).digest().readBigInt64BE(0).toString();
}
