import type { ChartSeries } from './chart.tsx';
import { type CheckType, PHASE_LABELS } from './model.ts';
import type { Series } from './queries.ts';

/** The lines of the charts of response times and packet loss. */

/** The phases of analytics, in order. TLS is the response time minus the other phases. */
export const PHASES: Readonly<Record<CheckType, readonly string[]>> = {
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

/** The beginnings of all intervals, also of those without runs. */
export function gridOf(
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

export function phaseSeries(
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

export function locationSeries(
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

export function latencySeries(
  series: readonly Series[],
  grid: readonly number[],
): readonly ChartSeries[] {
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

export function lossSeries(
  series: readonly Series[],
  grid: readonly number[],
): readonly ChartSeries[] {
  const all = series[0] ?? { location: null, points: [] };
  return [
    {
      label: 'Packet loss',
      colour: '--unknown',
      values: onGrid(all, grid, (values) => values.packetLoss_avg ?? null),
    },
  ];
}

/** Omits unknown values; null if all are unknown. */
export function averageOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0) / known.length;
}
