import {
  type RunState,
  type StateHistory,
  sinceOf,
  stateOfRun,
  withRun,
} from '../../model/result/check-state.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { metricText } from '../../runtime/metrics/exposition.ts';
import type { RenderedMetric } from '../../runtime/metrics/metrics-text.ts';
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
} from './judged-run.ts';
import { METRIC_TABLE, type MetricRow } from './metrics-table.ts';

/** The state of each check by its last judged run. */
export interface CheckGauges {
  /** Removes the series of checks that are gone or have other labels now. */
  setChecks(checks: readonly GaugedCheck[]): void;
  /** Takes a FINAL result. */
  judged(result: CheckResult): void;
  /** What the labels of the current checks leave out. */
  readonly leftOut: LeftOut;
  readonly metrics: readonly RenderedMetric[];
}

/** The numbers of `vedette_check_state`. */
const STATE_NUMBERS: Readonly<Record<RunState, number>> = { passing: 0, degraded: 1, failing: 2 };

/** What the metrics show of a check that was judged. */
interface CheckSeries {
  readonly location: string;
  /** In the text format. Made once: there are many series, and labels that contain any text. */
  readonly labels: string;
  readonly identity: string;
  readonly history: StateHistory;
  readonly run: JudgedRun;
  readonly certificate: CertificateTimes | null;
}

type LinesOf = (series: CheckSeries) => readonly string[] | string | null;

/** Series exist only for checks of the current set: a late result does not restore a removed one. */
export function createCheckGauges(chosenTags: readonly string[]): CheckGauges {
  let known: ReadonlyMap<string, LabelledCheck> = new Map();
  let leftOut = NOTHING_LEFT_OUT;
  const judged = new Map<string, CheckSeries>();

  const metric = (row: MetricRow, linesOf: LinesOf): RenderedMetric => ({
    render: () =>
      metricText(
        row,
        [...judged.values()].flatMap((series) => linesOf(series) ?? []),
      ),
  });
  /** A metric with one series for each check; null for none. */
  const value = (row: MetricRow, read: (series: CheckSeries) => number | null): RenderedMetric =>
    metric(row, (series) => {
      const number = read(series);
      return number === null ? null : `${row.name}{${series.labels}} ${number}`;
    });
  const { state, phaseDuration, errorInfo, certificateDays } = METRIC_TABLE;

  return {
    setChecks(checks) {
      const { labelled, leftOut: now } = labelChecks(checks, chosenTags);
      leftOut = now;
      const next = new Map(labelled.map((check) => [check.id, check]));
      for (const [id, check] of known) {
        if (!hasSameLabels(next.get(id), check)) judged.delete(id);
      }
      known = next;
    },
    judged(result) {
      const check = known.get(result.checkId);
      const runState = stateOfRun(runResultOf(result));
      if (check === undefined || runState === null) return;
      const before = judged.get(check.id);
      const { runLocation: location, checkRunId: slotMs } = result;
      const certificate = certificateTimesOf(result);
      judged.set(check.id, {
        location,
        labels: before?.location === location ? before.labels : labelsOf(check, location),
        identity: before?.identity ?? identityLabelsOf(check),
        history: historyWith(before?.history ?? null, { state: runState, slotMs }),
        run: judgedRunOf(result),
        certificate: certificate === undefined ? (before?.certificate ?? null) : certificate,
      });
    },
    get leftOut() {
      return leftOut;
    },
    metrics: [
      value(METRIC_TABLE.up, ({ run }) => (run.isUp ? 1 : 0)),
      value(state, ({ history }) => STATE_NUMBERS[history.state]),
      value(METRIC_TABLE.stateSince, ({ history }) => sinceOf(history) / 1000),
      value(METRIC_TABLE.responseTime, ({ run }) => run.responseSeconds),
      metric(phaseDuration, ({ labels, run }) =>
        run.phases.map(
          ([phase, seconds]) => `${phaseDuration.name}{${labels},phase="${phase}"} ${seconds}`,
        ),
      ),
      value(METRIC_TABLE.statusCode, ({ run }) => run.statusCode),
      metric(errorInfo, ({ labels, run: { errorCode } }) =>
        errorCode === null ? null : `${errorInfo.name}{${labels},code="${errorCode}"} 1`,
      ),
      value(METRIC_TABLE.checkAttempts, ({ run }) => run.attempts),
      value(
        METRIC_TABLE.certificateExpiry,
        ({ certificate }) => certificate?.expirySeconds ?? null,
      ),
      metric(certificateDays, ({ identity, certificate }) =>
        certificate === null
          ? null
          : `${certificateDays.name}{${identity}} ${certificate.daysRemaining}`,
      ),
      value(METRIC_TABLE.lastRun, ({ run }) => run.stoppedSeconds),
      value(METRIC_TABLE.packetLoss, ({ run }) => run.packetLoss),
    ],
  };
}

/** A late run that may interrupt the current state changes nothing: only all earlier slots could tell. */
function historyWith(
  history: StateHistory | null,
  run: { readonly state: RunState; readonly slotMs: number },
): StateHistory {
  return history === null ? { ...run, before: null } : (withRun(history, run) ?? history);
}
