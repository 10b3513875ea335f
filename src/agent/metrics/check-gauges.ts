import {
  type RunState,
  type StateHistory,
  sinceOf,
  stateOfRun,
  withRun,
} from '../../model/result/check-state.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { labelsText, metricHead } from '../../runtime/metrics/exposition.ts';
import type { RenderedMetrics } from '../../runtime/metrics/metrics-text.ts';
import {
  type GaugedCheck,
  hasSameLabels,
  identityLabelsOf,
  type LabelledCheck,
  type LeftOut,
  labelChecks,
  labelsOf,
  NOTHING_LEFT_OUT,
} from './check-labels.ts';
import {
  type CertificateTimes,
  certificateTimesOf,
  type JudgedRun,
  judgedRunOf,
  phaseSecondsOf,
} from './judged-run.ts';
import { METRIC_TABLE, type MetricRow } from './metrics-table.ts';

/** The state of each check by its last judged run. */
export interface CheckGauges extends RenderedMetrics {
  /** Removes the series of checks that are gone or have other labels now. */
  setChecks(checks: readonly GaugedCheck[]): void;
  /** Takes a FINAL result. */
  judged(result: CheckResult): void;
  /** The values that the labels of the current checks lack. */
  readonly leftOut: LeftOut;
  /** The same metrics without deprecated ones, as values. A value is read when it is yielded. */
  values(): Iterable<CheckMetric>;
}

/** A metric of checks with its series. */
export interface CheckMetric {
  readonly row: MetricRow;
  readonly points: Iterable<CheckPoint>;
}

interface CheckPoint {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The numbers of `vedette_check_state`. */
const STATE_NUMBERS: Readonly<Record<RunState, number>> = { passing: 0, degraded: 1, failing: 2 };
/** Checks that a scrape renders between two readings of the clock: about 2 ms of work. */
const BATCH = 250;

/** A check of the current set. Changed in place, because every run updates it. */
interface KnownCheck {
  readonly check: LabelledCheck;
  /** null until a run judged the check. */
  series: CheckSeries | null;
}

/** The series of a check that was judged. */
interface CheckSeries {
  readonly check: LabelledCheck;
  readonly location: string;
  /**
   * The labels in the text format. Made at the first scrape, not by the run, and cached, since they
   * may be long.
   */
  labels: string | null;
  /** The labels of deprecated metrics. */
  identity: string | null;
  history: StateHistory;
  run: JudgedRun;
  certificate: CertificateTimes | null;
}

/** A value of a check with a label of its own, whose text needs no escapes. */
interface GaugeValue {
  readonly value: number;
  readonly label: readonly [name: string, text: string];
}

/** A metric of checks, and its values for a check; null if it has none. */
interface CheckGauge {
  readonly row: MetricRow;
  readonly valuesOf: (series: CheckSeries) => readonly GaugeValue[] | number | null;
}

const { certificateDays } = METRIC_TABLE;
const gauge = (row: MetricRow, valuesOf: CheckGauge['valuesOf']): CheckGauge => ({ row, valuesOf });

const GAUGES: readonly CheckGauge[] = [
  gauge(METRIC_TABLE.up, ({ run }) => (run.isUp ? 1 : 0)),
  gauge(METRIC_TABLE.state, ({ history }) => STATE_NUMBERS[history.state]),
  gauge(METRIC_TABLE.stateSince, ({ history }) => sinceOf(history) / 1000),
  gauge(METRIC_TABLE.responseTime, ({ run }) => run.responseSeconds),
  gauge(METRIC_TABLE.phaseDuration, ({ run }) =>
    phaseSecondsOf(run).map(([phase, value]): GaugeValue => ({ label: ['phase', phase], value })),
  ),
  gauge(METRIC_TABLE.statusCode, ({ run }) => run.statusCode),
  gauge(METRIC_TABLE.errorInfo, ({ run: { errorCode } }) =>
    errorCode === null ? null : [{ label: ['code', errorCode], value: 1 }],
  ),
  gauge(METRIC_TABLE.checkAttempts, ({ run }) => run.attempts),
  gauge(METRIC_TABLE.certificateExpiry, ({ certificate }) => certificate?.expirySeconds ?? null),
  gauge(certificateDays, ({ certificate }) => certificate?.daysRemaining ?? null),
  gauge(METRIC_TABLE.lastRun, ({ run }) => run.stoppedSeconds),
  gauge(METRIC_TABLE.packetLoss, ({ run }) => run.packetLoss),
];

/**
 * Series exist only for checks of the current set: a late result does not restore a removed one.
 */
export function createCheckGauges(chosenTags: readonly string[]): CheckGauges {
  let known: ReadonlyMap<string, KnownCheck> = new Map();
  let leftOut = NOTHING_LEFT_OUT;

  return {
    setChecks(checks) {
      const { labelled, leftOut: now } = labelChecks(checks, chosenTags);
      leftOut = now;
      known = new Map(
        labelled.map((check) => {
          const before = known.get(check.id);
          const isSame = before !== undefined && hasSameLabels(before.check, check);
          return [check.id, isSame ? before : { check, series: null }];
        }),
      );
    },
    judged(result) {
      const state = stateOfRun(runResultOf(result));
      if (state === null) return;
      const one = known.get(result.checkId);
      if (one !== undefined) one.series = seriesAfter(one, result, state);
    },
    get leftOut() {
      return leftOut;
    },
    async render(yieldWhenDue) {
      const pieces = GAUGES.map(({ row }, n): Uint8Array[] => [
        Buffer.from(`${n === 0 ? '' : '\n'}${metricHead(row)}\n`),
      ]);
      const all = judgedOf(known);
      for (let from = 0; from < all.length; from += BATCH) {
        const batch = all.slice(from, from + BATCH);
        // All metrics of a check at once, so that they are of the same run.
        for (const [n, one] of GAUGES.entries()) {
          const lines = linesOf(one, batch);
          if (lines !== '') pieces[n]?.push(Buffer.from(lines));
        }
        await yieldWhenDue();
      }
      return pieces.flat();
    },
    *values() {
      for (const one of GAUGES) {
        if (one.row !== certificateDays) yield { row: one.row, points: pointsOf(one, known) };
      }
    },
  };
}

/** Changes the series in place if its labels stay the same. */
function seriesAfter(
  { check, series }: KnownCheck,
  result: CheckResult,
  state: RunState,
): CheckSeries {
  const { runLocation: location, checkRunId: slotMs } = result;
  const found = certificateTimesOf(result);
  const run = judgedRunOf(result);
  const history = historyWith(series?.history ?? null, { state, slotMs });
  const certificate = found === undefined ? (series?.certificate ?? null) : found;
  if (series === null || series.location !== location) {
    return { check, location, labels: null, identity: null, history, run, certificate };
  }
  series.history = history;
  series.run = run;
  series.certificate = certificate;
  return series;
}

function judgedOf(known: ReadonlyMap<string, KnownCheck>): readonly CheckSeries[] {
  const found: CheckSeries[] = [];
  for (const { series } of known.values()) if (series !== null) found.push(series);
  return found;
}

function* pointsOf(
  { valuesOf }: CheckGauge,
  known: ReadonlyMap<string, KnownCheck>,
): Generator<CheckPoint> {
  for (const series of judgedOf(known)) {
    const values = valuesOf(series);
    if (values === null) continue;
    const labels = labelsOf(series.check, series.location);
    if (typeof values === 'number') {
      yield { labels, value: values };
      continue;
    }
    for (const { label, value } of values) {
      yield { labels: { ...labels, [label[0]]: label[1] }, value };
    }
  }
}

/** A line for each series, with its line feed. */
function linesOf({ row, valuesOf }: CheckGauge, batch: readonly CheckSeries[]): string {
  const start = `${row.name}{`;
  let lines = '';
  for (const series of batch) {
    const values = valuesOf(series);
    if (values === null) continue;
    const labels = row === certificateDays ? identityTextOf(series) : labelsTextOf(series);
    if (typeof values === 'number') {
      lines += `${start}${labels}} ${values}\n`;
      continue;
    }
    for (const { label, value } of values) {
      lines += `${start}${labels},${label[0]}="${label[1]}"} ${value}\n`;
    }
  }
  return lines;
}

function labelsTextOf(series: CheckSeries): string {
  series.labels ??= labelsText(labelsOf(series.check, series.location));
  return series.labels;
}

function identityTextOf(series: CheckSeries): string {
  series.identity ??= identityLabelsOf(series.check);
  return series.identity;
}

/**
 * Ignores a late result that may interrupt the current state: only all earlier slots could show
 * that.
 */
function historyWith(
  history: StateHistory | null,
  run: { readonly state: RunState; readonly slotMs: number },
): StateHistory {
  return history === null ? { ...run, before: null } : (withRun(history, run) ?? history);
}
