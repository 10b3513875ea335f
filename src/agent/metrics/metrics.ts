import { Counter, type CounterConfiguration, Gauge, Histogram, Registry } from 'prom-client';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../model/enums.ts';
import { MISSED_REASONS, type MissedSlots } from '../../model/result/missed-slots.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { RUN_RESULTS, type RunResult, runResultOf } from '../../model/result/run-result.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { sharedExposition } from '../../runtime/metrics/metrics-text.ts';
import { collectProcessMetrics } from '../../runtime/metrics/process-metrics.ts';
import { CLOSED_STATES, type ClosedState } from '../../runtime/net/connection-bound.ts';
import type { BackendStatus } from '../backend/backend-status.ts';
import {
  EXPORT_DROP_REASONS,
  EXPORT_SIGNALS,
  type ExportDropReason,
  type ExportSignal,
} from '../otlp/export-drops.ts';
import { LINE_KINDS, type LineKind } from '../output/line-queue.ts';
import { BODY_USES, type BodyUse } from '../probes/http/body/body-memory.ts';
import { SHEDDABLE, type Sheddable } from '../run/starvation/load-shedding.ts';
import {
  SPOOL_DROP_REASONS,
  SPOOL_KINDS,
  type SpoolDropReason,
  type SpoolKind,
} from '../spool/spool.ts';
import { type CheckMetric, createCheckGauges } from './check-gauges.ts';
import type { GaugedCheck } from './check-labels.ts';
import { METRIC_TABLE, type MetricRow } from './metrics-table.ts';
import { RecentMaximum } from './recent-maximum.ts';

export { AGENT_METRICS } from './metrics-table.ts';

/** The load at a scrape; a Scheduler has these fields. */
interface Load {
  readonly running: number;
  readonly waiting: number;
  readonly maxWaiting: number;
  readonly queued: number;
}

/** The check file at a scrape; a CheckSource has this field. */
interface CheckFileState {
  /** null if unknown: the metric then has no series. */
  readonly checkFileUsable: boolean | null;
}

export interface AgentMetrics {
  /** A run began `lateMs` after its slot. */
  startLate(lateMs: number): void;
  /** Takes every result, ATTEMPT and FINAL. */
  finished(result: CheckResult): void;
  missed(missed: MissedSlots): void;
  /** A slot was skipped because of a maintenance window. */
  paused(): void;
  /** Evidence of a failed run was made, or not, because two others were in progress (`busy`). */
  evidence(outcome: 'made' | 'busy'): void;
  starved(): void;
  /** Work was skipped because the agent was short of CPU. */
  shed(what: Sheddable): void;
  /** A body for which there was no memory. */
  bodyWithoutRoom(use: BodyUse): void;
  dropped(kind: LineKind, count: number): void;
  /** The spool lost records before the service had them. */
  spoolDropped(kind: SpoolKind, count: number, reason: SpoolDropReason): void;
  /** The service accepted records. */
  uploaded(count: number): void;
  /** The service permanently rejected records. */
  rejected(kind: SpoolKind, count: number): void;
  /** Spans or data points that no receiver got. */
  exportDropped(signal: ExportSignal, count: number, reason: ExportDropReason): void;
  /** A connection to the health port was closed by its bounds. */
  connectionClosed(state: ClosedState): void;
  setChecks(checks: readonly GaugedCheck[]): void;
  /** Reads these at each scrape. */
  bind(load: Load, checkFile: CheckFileState, backend: () => BackendStatus): void;
  /** Slots missed and lines lost since the start. */
  readonly totals: { readonly missedSlots: number; readonly droppedLines: number };
  /** Maximum lateness of runs begun in the last five minutes, whole milliseconds; null if none. */
  maxLatenessMs(): number | null;
  /** The metrics of checks, without deprecated ones. A value is read when it is yielded. */
  checkMetrics(): Iterable<CheckMetric>;
  /**
   * All metrics (Prometheus text format 0.0.4), in pieces. Concurrent calls share one rendering.
   */
  exposition(): Promise<readonly Uint8Array[]>;
  readonly contentType: string;
}

/** Seconds; from a timer's resolution to far beyond the lateness of an agent without load. */
const LATENESS_BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];
const RECENT_MS = 300_000;

/** Creates the metrics in a registry of their own: one process may have two agents. */
export function createMetrics({
  version,
  clock = systemClock,
  chosenTags = [],
}: {
  readonly version: string;
  readonly clock?: Clock;
  /** METRIC_TAGS: the tags that metrics of checks have in their label `tags`. */
  readonly chosenTags?: readonly string[];
}): AgentMetrics {
  const registry = new Registry();
  const options = ({ name, meaning, labels }: MetricRow) => ({
    name,
    help: meaning,
    labelNames: [...labels],
    registers: [registry],
  });
  const lateness = new Histogram({
    ...options(METRIC_TABLE.startLateness),
    buckets: LATENESS_BUCKETS,
  });
  // Set at a scrape: finding a series by its labels takes longer than counting.
  const counted = { attempts: 0, retries: 0, runs: startingRuns() };
  readCounter(options(METRIC_TABLE.attempts), (counter) => counter.inc(counted.attempts));
  readCounter(options(METRIC_TABLE.retries), (counter) => counter.inc(counted.retries));
  readCounter(options(METRIC_TABLE.runs), (counter) => {
    for (const type of RUNNABLE_CHECK_TYPES) {
      for (const result of RUN_RESULTS) counter.inc({ type, result }, counted.runs[type][result]);
    }
  });
  const missedSlots = new Counter(options(METRIC_TABLE.missedSlots));
  const pausedSlots = new Counter(options(METRIC_TABLE.pausedSlots));
  const evidence = new Counter(options(METRIC_TABLE.evidence));
  const starvedAttempts = new Counter(options(METRIC_TABLE.starvedAttempts));
  const shed = new Counter(options(METRIC_TABLE.shed));
  const bodiesWithoutRoom = new Counter(options(METRIC_TABLE.bodiesWithoutRoom));
  const droppedResults = new Counter(options(METRIC_TABLE.droppedResults));
  const uploaded = new Counter(options(METRIC_TABLE.uploaded));
  const rejected = new Counter(options(METRIC_TABLE.rejected));
  const spoolDropped = new Counter(options(METRIC_TABLE.spoolDropped));
  const exportDropped = new Counter(options(METRIC_TABLE.exportDropped));
  const connectionsClosed = new Counter(options(METRIC_TABLE.healthConnectionsClosed));
  const checkCount = new Gauge(options(METRIC_TABLE.checks));
  new Gauge(options(METRIC_TABLE.buildInfo)).set({ version }, 1);
  let load: Load = { running: 0, waiting: 0, maxWaiting: 0, queued: 0 };
  let checkFile: CheckFileState = { checkFileUsable: null };
  readGauge(registry, METRIC_TABLE.running, () => load.running);
  readGauge(registry, METRIC_TABLE.waiting, () => load.waiting);
  readGauge(registry, METRIC_TABLE.waitingLimit, () => load.maxWaiting);
  readGauge(registry, METRIC_TABLE.queued, () => load.queued);
  readGauge(registry, METRIC_TABLE.checkFileUsable, () => {
    const { checkFileUsable } = checkFile;
    return checkFileUsable === null ? null : Number(checkFileUsable);
  });
  let backend = (): BackendStatus => ({ spool: null, lastContactMs: null, clockAheadMs: null });
  readGauge(registry, METRIC_TABLE.spoolRecords, () => backend().spool?.records ?? null);
  readGauge(registry, METRIC_TABLE.spoolBytes, () => backend().spool?.bytes ?? null);
  readGauge(registry, METRIC_TABLE.spoolOldestAge, () => {
    const { spool } = backend();
    return spool === null ? null : (spool.oldestAgeMs ?? 0) / 1000;
  });
  readGauge(registry, METRIC_TABLE.lastContact, () => {
    const { lastContactMs } = backend();
    return lastContactMs === null ? null : lastContactMs / 1000;
  });
  readGauge(registry, METRIC_TABLE.clockAhead, () => {
    const { clockAheadMs } = backend();
    return clockAheadMs === null ? null : clockAheadMs / 1000;
  });
  const gauges = createCheckGauges(chosenTags);
  new Gauge({
    ...options(METRIC_TABLE.labelsLeftOut),
    collect() {
      for (const [label, count] of Object.entries(gauges.leftOut)) this.set({ label }, count);
    },
  });
  collectProcessMetrics(registry);

  // Each counter starts at 0: one that appears at 1 shows no increase.
  for (const reason of Object.keys(MISSED_REASONS)) missedSlots.inc({ reason }, 0);
  for (const outcome of ['made', 'busy']) evidence.inc({ outcome }, 0);
  for (const what of SHEDDABLE) shed.inc({ what }, 0);
  for (const use of BODY_USES) bodiesWithoutRoom.inc({ use }, 0);
  for (const signal of EXPORT_SIGNALS) {
    for (const reason of EXPORT_DROP_REASONS) exportDropped.inc({ signal, reason }, 0);
  }
  for (const state of CLOSED_STATES) connectionsClosed.inc({ state }, 0);
  for (const kind of LINE_KINDS) droppedResults.inc({ kind }, 0);
  for (const kind of SPOOL_KINDS) {
    rejected.inc({ kind }, 0);
    for (const reason of SPOOL_DROP_REASONS) spoolDropped.inc({ kind, reason }, 0);
  }

  const recentLateness = new RecentMaximum(RECENT_MS);
  const totals = { missedSlots: 0, droppedLines: 0 };
  return {
    totals,
    contentType: registry.contentType,
    startLate(lateMs) {
      const late = Math.max(0, lateMs);
      lateness.observe(late / 1000);
      recentLateness.add(Math.round(late), clock.monotonicMs());
    },
    maxLatenessMs: () => recentLateness.at(clock.monotonicMs()),
    finished(result) {
      counted.attempts += 1;
      if (result.resultType !== 'FINAL') return;
      counted.runs[result.checkType][runResultOf(result)] += 1;
      counted.retries += result.attempts;
      gauges.judged(result);
    },
    missed({ reason, count }) {
      missedSlots.inc({ reason }, count);
      totals.missedSlots += count;
    },
    paused: () => pausedSlots.inc(),
    evidence: (outcome) => evidence.inc({ outcome }),
    starved: () => starvedAttempts.inc(),
    shed: (what) => shed.inc({ what }),
    bodyWithoutRoom: (use) => bodiesWithoutRoom.inc({ use }),
    dropped(kind, count) {
      droppedResults.inc({ kind }, count);
      totals.droppedLines += count;
    },
    spoolDropped: (kind, count, reason) => spoolDropped.inc({ kind, reason }, count),
    uploaded: (count) => uploaded.inc(count),
    rejected: (kind, count) => rejected.inc({ kind }, count),
    exportDropped: (signal, count, reason) => exportDropped.inc({ signal, reason }, count),
    connectionClosed: (state) => connectionsClosed.inc({ state }),
    setChecks(checks) {
      checkCount.set(checks.length);
      gauges.setChecks(checks);
    },
    bind(loadFrom, checkFileFrom, backendFrom) {
      load = loadFrom;
      checkFile = checkFileFrom;
      backend = backendFrom;
    },
    checkMetrics: () => gauges.values(),
    exposition: sharedExposition(registry, gauges),
  };
}

type RunCounts = Record<RunnableCheckType, Record<RunResult, number>>;

function startingRuns(): RunCounts {
  const none = (): [RunResult, number][] => RUN_RESULTS.map((result) => [result, 0]);
  // Both lists are complete, which the entries' type does not show.
  return Object.fromEntries(
    RUNNABLE_CHECK_TYPES.map((type) => [type, Object.fromEntries(none())]),
  ) as RunCounts;
}

/** A counter whose value is set at each scrape. */
function readCounter(
  options: CounterConfiguration<string>,
  setValue: (counter: Counter) => void,
): void {
  new Counter({
    ...options,
    collect() {
      this.reset();
      setValue(this);
    },
  });
}

/** A gauge that is read at each scrape; null shows no value. */
function readGauge(
  registry: Registry,
  { name, meaning }: MetricRow,
  read: () => number | null,
): void {
  new Gauge({
    name,
    help: meaning,
    registers: [registry],
    collect() {
      const value = read();
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}
