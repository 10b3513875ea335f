import { createHash } from 'node:crypto';
import type { Measure } from '../../model/result/analytics.ts';
import type { Sql } from '../database/port.ts';
import { jsonText } from '../database/values.ts';

/** What analytics keep of a run. */
export interface RunMetrics {
  readonly checkId: string;
  /** Epoch milliseconds. */
  readonly slotMs: number;
  readonly sequenceId: string;
  readonly runLocation: string;
  /** Degraded counts as passed. */
  readonly passed: boolean;
  readonly statusCode: number | null;
  readonly retries: number;
  /** Milliseconds, but for packetLoss, which is percent. What the run has not is left out or null. */
  readonly measures: Readonly<Partial<Record<Measure, number | null>>>;
}

/** A TCP check's connect is of the same kind as that of an HTTP check. */
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
const COLUMNS = `check_id, slot, run_key, run_location, passed, status_code, retries, ${VALUES}`;
const TYPES = `check_id text, slot timestamptz, run_key bigint, run_location text, passed boolean,
  status_code smallint, retries smallint, ${VALUES.map((name) => `${name} float8`)}`;

/** Keeps the metrics of runs of the account; those of a run that has them already stay as they are. */
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
    status_code: run.statusCode,
    retries: run.retries,
  };
  for (const [measure, value] of Object.entries(run.measures)) {
    row[MEASURE_COLUMNS[measure as Measure]] = value;
  }
  return row;
}

/** The same as in migration 0003. Text, as it is beyond what a number of JavaScript holds. */
function runKeyOf(sequenceId: string): string {
  return createHash('sha256').update(sequenceId).digest().readBigInt64BE(0).toString();
}
