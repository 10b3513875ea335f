import {
  type RunState,
  type StateHistory,
  sinceOf,
  stateOfRun,
  withRun,
} from '../../model/result/check-state.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { runResultOf } from '../../model/result/run-result.ts';
import { labelsText, metricText } from '../../runtime/metrics/exposition.ts';
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
  /** The same without deprecated ones, as values. Each is read when it is its turn. */
  values(): Iterable<CheckMetric>;
}

/** A metric of checks with its series. */
export interface CheckMetric {
  readonly row: MetricRow;
  readonly points: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly value: number;
  }[];
}

/** The numbers of `vedette_check_state`. */
const STATE_NUMBERS: Readonly<Record<RunState, number>> = { passing: 0, degraded: 1, failing: 2 };

/** What the metrics show of a check that was judged. */
interface CheckSeries {
  readonly location: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The labels in the text format. Made once: there are many series, and labels that contain any text. */
  readonly labelsText: string;
  readonly identityText: string;
  readonly history: StateHistory;
  readonly run: JudgedRun;
  readonly certificate: CertificateTimes | null;
}

/** A value of a check, perhaps with a label of its own, whose text needs no escapes. */
interface GaugeValue {
  readonly value: number;
  readonly label?: readonly [name: string, text: string];
}

/** A metric of checks, and what it shows of each; null for nothing. */
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
    run.phases.map(([phase, value]): GaugeValue => ({ label: ['phase', phase], value })),
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

/** Series exist only for checks of the current set: a late result does not restore a removed one. */
export function createCheckGauges(chosenTags: readonly string[]): CheckGauges {
  let known: ReadonlyMap<string, LabelledCheck> = new Map();
  let leftOut = NOTHING_LEFT_OUT;
  const judged = new Map<string, CheckSeries>();

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
        ...(before?.location === location ? textsOf(before) : newTexts(check, location)),
        location,
        history: historyWith(before?.history ?? null, { state: runState, slotMs }),
        run: judgedRunOf(result),
        certificate: certificate === undefined ? (before?.certificate ?? null) : certificate,
      });
    },
    get leftOut() {
      return leftOut;
    },
    metrics: GAUGES.map((one) => ({
      render: () =>
        metricText(
          one.row,
          [...judged.values()].flatMap((series) => linesOf(one, series)),
        ),
    })),
    *values() {
      for (const one of GAUGES) {
        if (one.row === certificateDays) continue;
        const points = [...judged.values()].flatMap((series) =>
          valuesIn(one, series).map(({ label, value }) => {
            const own = label === undefined ? {} : { [label[0]]: label[1] };
            return { labels: { ...series.labels, ...own }, value };
          }),
        );
        yield { row: one.row, points };
      }
    },
  };
}

type SeriesTexts = Pick<CheckSeries, 'labels' | 'labelsText' | 'identityText'>;

function textsOf({ labels, labelsText: text, identityText }: CheckSeries): SeriesTexts {
  return { labels, labelsText: text, identityText };
}

function newTexts(check: LabelledCheck, location: string): SeriesTexts {
  const labels = labelsOf(check, location);
  return { labels, labelsText: labelsText(labels), identityText: identityLabelsOf(check) };
}

function valuesIn({ valuesOf }: CheckGauge, series: CheckSeries): readonly GaugeValue[] {
  const values = valuesOf(series);
  if (values === null) return [];
  return typeof values === 'number' ? [{ value: values }] : values;
}

function linesOf(one: CheckGauge, series: CheckSeries): readonly string[] {
  const { row } = one;
  const labels = row === certificateDays ? series.identityText : series.labelsText;
  return valuesIn(one, series).map(({ label, value }) => {
    const own = label === undefined ? '' : `,${label[0]}="${label[1]}"`;
    return `${row.name}{${labels}${own}} ${value}`;
  });
}

/** A late run that may interrupt the current state changes nothing: only all earlier slots could tell. */
function historyWith(
  history: StateHistory | null,
  run: { readonly state: RunState; readonly slotMs: number },
): StateHistory {
  return history === null ? { ...run, before: null } : (withRun(history, run) ?? history);
}
