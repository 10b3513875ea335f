import { useMemo } from 'preact/hooks';
import { ErrorState } from '../../parts/error-state.tsx';
import { counted, responseTime } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { Chart, type ChartSeries, type Threshold } from './chart.tsx';
import { type Check, type CheckType, checkPath, type MissedSlot, PHASE_LABELS } from './model.ts';
import { Panel } from './panel.tsx';
import { type Series, useMissedSlots, useReport } from './queries.ts';

const RANGES = {
  '24h': { label: '24 h', hours: 24, intervalMinutes: 15 },
  '7d': { label: '7 days', hours: 168, intervalMinutes: 60 },
  '30d': { label: '30 days', hours: 720, intervalMinutes: 360 },
  '90d': { label: '90 days', hours: 2_160, intervalMinutes: 1_440 },
} as const;
type Range = keyof typeof RANGES;

/** The phases that analytics know, in order. TLS is what the others leave of the response time. */
const PHASES: Readonly<Record<CheckType, readonly string[]>> = {
  URL: ['wait', 'dns', 'tcp', 'tls', 'firstByte', 'download'],
  API: ['wait', 'dns', 'tcp', 'tls', 'firstByte', 'download'],
  TCP: ['dns', 'connection', 'tls', 'data'],
  DNS: ['query'],
  ICMP: [],
};
const COLOURS: Readonly<Record<string, string>> = {
  wait: '--unknown-cell',
  dns: '--dns',
  query: '--dns',
  tcp: '--tcp',
  connection: '--tcp',
  tls: '--tls',
  firstByte: '--wait',
  data: '--wait',
  download: '--body',
};
const LOCATION_COLOURS = ['--tcp', '--wait', '--body', '--dns', '--tls', '--unknown'];
const MINUTE_MS = 60_000;
/** 1970-01-05, from which the API counts intervals. */
const FIRST_MONDAY_MS = 345_600_000;
const NO_SERIES: readonly Series[] = [];

/** The response time over time, by phase or by location. */
export function ResponseTimes({ check }: { readonly check: Check }) {
  const state = useUrlState();
  const asked = state.get('range') ?? '24h';
  const range: Range = asked in RANGES ? (asked as Range) : '24h';
  const isIcmp = check.checkType === 'ICMP';
  const byLocation = state.get('by') === 'location';
  const { hours, intervalMinutes } = RANGES[range];
  const total = isIcmp ? 'latencyAvg' : 'responseTime';
  const phases = PHASES[check.checkType];
  const metrics = byLocation
    ? [`${total}_avg`]
    : isIcmp
      ? ['latencyMin_avg', 'latencyAvg_avg', 'latencyMax_avg', 'packetLoss_avg']
      : [
          ...phases
            .filter((name) => name !== 'tls' && name !== 'query')
            .map((name) => `${name}_avg`),
          'responseTime_avg',
        ];
  const times = useReport(check.id, check.checkType, {
    metrics,
    hours,
    intervalMinutes,
    byLocation,
    onlyPassed: !isIcmp,
  });
  const outcomes = useReport(check.id, check.checkType, {
    metrics: ['availability'],
    hours,
    intervalMinutes,
  });
  const missedQuery = useMissedSlots(check.id, hours);
  const missed = missedQuery.data.value;
  const error = times.error.value ?? outcomes.error.value;
  const found = times.data.value;
  const failedPoints = outcomes.data.value;
  const chart = useMemo(() => {
    const series = found ?? NO_SERIES;
    const grid = gridOf(series, hours, intervalMinutes);
    return {
      grid,
      shown: byLocation
        ? locationSeries(series, `${total}_avg`, grid)
        : isIcmp
          ? latencySeries(series, grid)
          : phaseSeries(series, phases, grid),
      loss: isIcmp && !byLocation ? lossSeries(series, grid) : null,
    };
  }, [found, byLocation, range]);
  const failed = useMemo(
    () =>
      (failedPoints?.[0]?.points ?? [])
        .filter(({ values }) => (values.availability ?? 100) < 100)
        .map(({ atMs }) => atMs + (intervalMinutes * MINUTE_MS) / 2),
    [failedPoints],
  );
  const spans = useMemo(() => (missed ?? []).map((one) => spanOf(one, check)), [missed]);
  const thresholds = useMemo(() => thresholdsOf(check), [check]);
  const lossThresholds = useMemo(() => lossThresholdsOf(check), [check]);
  const linkTo = (changes: Readonly<Record<string, string>>): string => {
    const query = new URLSearchParams(state.query);
    query.delete('account');
    for (const [name, value] of Object.entries(changes)) query.set(name, value);
    return `${checkPath(check.id)}?${query}`;
  };
  const missedCount = (missed ?? []).reduce((sum, one) => sum + one.count, 0);
  const isEmpty =
    found !== null && chart.shown.every(({ values }) => values.every((value) => value === null));

  return (
    <Panel
      title={isIcmp ? 'Latency and packet loss' : 'Response time'}
      aside={
        <div class="check-choices">
          <nav aria-label="Shown by">
            <Choice to={linkTo({ by: 'phase' })} isCurrent={!byLocation}>
              {isIcmp ? 'All' : 'By phase'}
            </Choice>
            <Choice to={linkTo({ by: 'location' })} isCurrent={byLocation}>
              By location
            </Choice>
          </nav>
          <nav aria-label="Time range">
            {(Object.keys(RANGES) as Range[]).map((each) => (
              <Choice key={each} to={linkTo({ range: each })} isCurrent={each === range}>
                {RANGES[each].label}
              </Choice>
            ))}
          </nav>
        </div>
      }
    >
      {error !== null && <ErrorState error={error} retry={times.reload} />}
      {found === null && error === null && (
        <Skeleton lines={1} height={252} label="Loading the response times" />
      )}
      {isEmpty && (
        <p class="muted check-chart-empty">No run of these {RANGES[range].label} has a time.</p>
      )}
      {found !== null && !isEmpty && (
        <>
          <Legend series={chart.shown} />
          <Chart
            label={chartLabel(chart.shown, RANGES[range].label)}
            times={chart.grid}
            series={chart.shown}
            isStacked={!byLocation && !isIcmp}
            unit="ms"
            thresholds={thresholds}
            missed={spans}
            failed={failed}
          />
          {chart.loss !== null && (
            <>
              <Legend series={chart.loss} isPercent />
              <Chart
                label={`Packet loss of the last ${RANGES[range].label}`}
                times={chart.grid}
                series={chart.loss}
                isStacked={false}
                unit="%"
                thresholds={lossThresholds}
                missed={spans}
                failed={failed}
              />
            </>
          )}
        </>
      )}
      <p class="check-note muted">
        {!isIcmp && 'Averages of the runs that passed. '}
        {failed.length > 0 &&
          `Crosses mark the ${counted(failed.length, 'interval')} with failed runs. `}
        {missedCount > 0 &&
          `Hatched: ${counted(missedCount, 'slot')} not run, which are no failures (${reasonsOf(missed ?? [])}).`}
      </p>
    </Panel>
  );
}

function Choice({
  to,
  isCurrent,
  children,
}: {
  readonly to: string;
  readonly isCurrent: boolean;
  readonly children: string;
}) {
  return (
    <Link to={to} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </Link>
  );
}

function Legend({
  series,
  isPercent = false,
}: {
  readonly series: readonly ChartSeries[];
  readonly isPercent?: boolean;
}) {
  return (
    <ul class="check-legend">
      {series.map(({ label, colour, values }) => {
        const average = averageOf(values);
        return (
          <li key={label}>
            <i style={{ background: `var(${colour})` }} aria-hidden="true" />
            {label}{' '}
            <span class="muted">
              {average === null
                ? '–'
                : isPercent
                  ? `${Number(average.toFixed(1))} %`
                  : responseTime(average)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function averageOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function chartLabel(series: readonly ChartSeries[], range: string): string {
  const parts = series.map(({ label, values }) => `${label} ${responseTime(averageOf(values))}`);
  return `Averages of the last ${range}: ${parts.join(', ')}`;
}

/** The beginnings of all intervals, also of those without runs. */
function gridOf(
  series: readonly Series[],
  hours: number,
  intervalMinutes: number,
): readonly number[] {
  const stepMs = intervalMinutes * MINUTE_MS;
  const toMs = Date.now();
  const fromMs = toMs - hours * 60 * MINUTE_MS;
  const firstMs = FIRST_MONDAY_MS + Math.floor((fromMs - FIRST_MONDAY_MS) / stepMs) * stepMs;
  const all = new Set(series.flatMap(({ points }) => points.map(({ atMs }) => atMs)));
  for (let atMs = firstMs; atMs < toMs; atMs += stepMs) all.add(atMs);
  return [...all].sort((one, other) => one - other);
}

/** The values of a metric at the times of the grid. */
function onGrid(
  { points }: Series,
  grid: readonly number[],
  read: (values: Readonly<Record<string, number | null>>) => number | null,
): readonly (number | null)[] {
  const known = new Map(points.map(({ atMs, values }) => [atMs, read(values)]));
  return grid.map((atMs) => known.get(atMs) ?? null);
}

function phaseSeries(
  series: readonly Series[],
  phases: readonly string[],
  grid: readonly number[],
): readonly ChartSeries[] {
  const all = series[0] ?? { location: null, points: [] };
  const measured = phases.filter((name) => name !== 'tls' && name !== 'query');
  const rest = (values: Readonly<Record<string, number | null>>): number | null => {
    const total = values.responseTime_avg ?? null;
    if (total === null) return null;
    return Math.max(
      0,
      measured.reduce((left, name) => left - (values[`${name}_avg`] ?? 0), total),
    );
  };
  return phases.map((name) => ({
    label: PHASE_LABELS[name] ?? name,
    colour: COLOURS[name] ?? '--ink',
    values: onGrid(all, grid, (values) =>
      name === 'tls' || name === 'query'
        ? rest(values)
        : values.responseTime_avg === null
          ? null
          : (values[`${name}_avg`] ?? 0),
    ),
  }));
}

function locationSeries(
  series: readonly Series[],
  metric: string,
  grid: readonly number[],
): readonly ChartSeries[] {
  return series.map((one, index) => ({
    label: one.location ?? 'All',
    colour: LOCATION_COLOURS[index % LOCATION_COLOURS.length] ?? '--ink',
    values: onGrid(one, grid, (values) => values[metric] ?? null),
  }));
}

function latencySeries(series: readonly Series[], grid: readonly number[]): readonly ChartSeries[] {
  const all = series[0] ?? { location: null, points: [] };
  const of = (label: string, metric: string, colour: string): ChartSeries => ({
    label,
    colour,
    values: onGrid(all, grid, (values) => values[metric] ?? null),
  });
  return [
    of('Maximum', 'latencyMax_avg', '--wait'),
    of('Average', 'latencyAvg_avg', '--tcp'),
    of('Minimum', 'latencyMin_avg', '--body'),
  ];
}

function lossSeries(series: readonly Series[], grid: readonly number[]): readonly ChartSeries[] {
  const all = series[0] ?? { location: null, points: [] };
  return [
    {
      label: 'Packet loss',
      colour: '--unknown',
      values: onGrid(all, grid, (values) => values.packetLoss_avg ?? null),
    },
  ];
}

function thresholdsOf(check: Check): readonly Threshold[] {
  if (check.checkType === 'ICMP') return [];
  return pair(check.degradedResponseTime, check.maxResponseTime, (value) => responseTime(value));
}

function lossThresholdsOf(check: Check): readonly Threshold[] {
  if (check.checkType !== 'ICMP') return [];
  return pair(
    check.degradedPacketLossThreshold,
    check.maxPacketLossThreshold,
    (value) => `${value} %`,
  );
}

function pair(
  degraded: number | null,
  max: number | null,
  text: (value: number) => string,
): readonly Threshold[] {
  return [
    ...(degraded === null
      ? []
      : [{ label: `degraded over ${text(degraded)}`, value: degraded, colour: '--slow' }]),
    ...(max === null ? [] : [{ label: `failed over ${text(max)}`, value: max, colour: '--fail' }]),
  ];
}

/** A range ends when its last slot's turn is over. */
function spanOf(
  { slot, lastSlot, count }: MissedSlot,
  check: Check,
): { fromMs: number; toMs: number } {
  const [fromMs, lastMs] = [Date.parse(slot), Date.parse(lastSlot)];
  const periodMs =
    count > 1
      ? (lastMs - fromMs) / (count - 1)
      : check.frequency === 0
        ? (check.frequencyOffset ?? 10) * 1_000
        : check.frequency * MINUTE_MS;
  return { fromMs, toMs: lastMs + periodMs };
}

function reasonsOf(missed: readonly MissedSlot[]): string {
  return [...new Set(missed.map(({ reason }) => reason.replaceAll('_', ' ')))].join(', ');
}
