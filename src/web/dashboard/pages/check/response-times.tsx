import { useMemo } from 'preact/hooks';
import { ErrorState } from '../../parts/error-state.tsx';
import { counted, responseTime } from '../../parts/formats.ts';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Link } from '../../shell/link.tsx';
import { useUrlState } from '../../shell/url-state.ts';
import { Chart, type ChartSeries } from './chart.tsx';
import { lossThresholdsOf, reasonsOf, spanOf, thresholdsOf } from './chart-marks.ts';
import {
  averageOf,
  gridOf,
  latencySeries,
  locationSeries,
  lossSeries,
  PHASES,
  phaseSeries,
} from './chart-series.ts';
import { type Check, checkPath } from './model.ts';
import { Panel } from './panel.tsx';
import { type Series, useMissedSlots, useReport } from './queries.ts';

const RANGES = {
  '24h': { label: '24 h', hours: 24, intervalMinutes: 15 },
  '7d': { label: '7 days', hours: 168, intervalMinutes: 60 },
  '30d': { label: '30 days', hours: 720, intervalMinutes: 360 },
  '90d': { label: '90 days', hours: 2_160, intervalMinutes: 1_440 },
} as const;
type Range = keyof typeof RANGES;
const MINUTE_MS = 60_000;

const NO_SERIES: readonly Series[] = [];

/** The response time over time, by phase or by location. */
export function ResponseTimes({ check }: { readonly check: Check }) {
  const state = useUrlState();
  const asked = state.get('range') ?? '24h';
  const range: Range = Object.hasOwn(RANGES, asked) ? (asked as Range) : '24h';
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
        <p class="muted check-chart-empty">
          {isIcmp ? 'No run' : 'No run that passed'} in the last {RANGES[range].label} has a time.
        </p>
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
        {!isEmpty &&
          failed.length > 0 &&
          `Crosses mark the ${counted(failed.length, 'interval')} with failed runs. `}
        {!isEmpty &&
          missedCount > 0 &&
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

function chartLabel(series: readonly ChartSeries[], range: string): string {
  const parts = series.map(({ label, values }) => `${label} ${responseTime(averageOf(values))}`);
  return `Averages of the last ${range}: ${parts.join(', ')}`;
}
