import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import { responseTime } from '../../parts/formats.ts';
import { theme } from '../../shell/theme.ts';
import { lonePoints } from './lone-points.ts';

export interface ChartSeries {
  readonly label: string;
  /** The CSS property with its colour. */
  readonly colour: string;
  /** One value for each time; null if it is not known. */
  readonly values: readonly (number | null)[];
}

export interface Threshold {
  readonly label: string;
  readonly value: number;
  readonly colour: string;
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface ChartProps {
  /** Describes the chart in words. */
  readonly label: string;
  /** Epoch milliseconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Whether each series is stacked on the previous ones. */
  readonly isStacked: boolean;
  readonly unit: 'ms' | '%';
  readonly thresholds: readonly Threshold[];
  /** Times without runs. */
  readonly missed: readonly Span[];
  /** Times in which runs failed. */
  readonly failed: readonly number[];
}

const HEIGHT_PX = 220;
const HATCH_PX = 6;
const MARK_PX = 4;
/** The diameter of an isolated point. */
const POINT_PX = 6;

/** A chart over time. Its numbers are in the legend, which the caller shows. */
export function Chart(props: ChartProps) {
  const root = useRef<HTMLDivElement>(null);
  const chosenTheme = theme.value;
  useEffect(() => {
    const { current } = root;
    if (current === null) return;
    let plot = plotOf(props, current);
    const resized = new ResizeObserver(() =>
      plot.setSize({ width: current.clientWidth, height: HEIGHT_PX }),
    );
    resized.observe(current);
    // Colours are read when the chart is drawn.
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = (): void => {
      plot.destroy();
      plot = plotOf(props, current);
    };
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      plot.destroy();
    };
  }, [props.times, props.series, props.thresholds, props.missed, props.failed, chosenTheme]);
  return <div class="check-chart" role="img" aria-label={props.label} ref={root} />;
}

/** The sums up to each series. */
function stacked(series: readonly ChartSeries[]): (number | null)[][] {
  const sums: (number | null)[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, at) => (value === null ? null : value + (below?.[at] ?? 0))));
  }
  return sums;
}

function plotOf(props: ChartProps, element: HTMLElement): uPlot {
  const { times, series, isStacked, unit, thresholds } = props;
  const colours = getComputedStyle(document.documentElement);
  const colour = (name: string): string => colours.getPropertyValue(name).trim();
  const values = isStacked ? stacked(series) : series.map((one) => [...one.values]);
  // The highest sum first, so that lower ones are drawn over it.
  const order = series.map((_, index) => (isStacked ? series.length - 1 - index : index));
  const text = (value: number): string =>
    value === 0 ? '0' : unit === '%' ? `${value} %` : responseTime(value);
  const highest = Math.max(0, ...values.flat().map((value) => value ?? 0));
  // A threshold far above would flatten everything below it.
  const shown = thresholds.filter(({ value }) => highest === 0 || value <= highest * 4);
  const most = Math.max(highest, ...shown.map(({ value }) => value)) * 1.08 || 1;
  const axis = {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return new uPlot(
    {
      width: Math.max(200, element.clientWidth),
      height: HEIGHT_PX,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { time: true }, y: { range: [0, unit === '%' ? Math.max(most, 1) : most] } },
      axes: [
        { ...axis, values: (_, splits) => timeTexts(splits) },
        { ...axis, size: 62, values: (_, splits) => splits.map((split) => text(split)) },
      ],
      series: [
        {},
        ...order.map((index) => {
          const stroke = colour(series[index]?.colour ?? '--ink');
          return {
            label: series[index]?.label ?? '',
            stroke,
            width: isStacked ? 1 : 1.5,
            ...(isStacked ? { fill: stroke } : {}),
            points: {
              show: false,
              size: POINT_PX,
              fill: stroke,
              // Drawn although `show` is false.
              filter: (plot: uPlot, at: number) => {
                const lone = lonePoints([...(plot.data[at] ?? [])]);
                return lone.length === 0 ? null : lone;
              },
            },
          };
        }),
      ],
      hooks: {
        drawClear: [(plot) => drawMissed(plot, props.missed, colour)],
        draw: [
          (plot) => {
            drawThresholds(plot, shown, colour);
            drawFailed(plot, props, colour);
          },
        ],
      },
    },
    [
      times.map((at) => at / 1_000),
      ...order.map((index) => values[index] ?? []),
    ] as uPlot.AlignedData,
    element,
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** Times within a day; at midnight, and over several days, the day. In seconds, in the reader's zone. */
function timeTexts(splits: readonly number[]): string[] {
  return splits.map((at) => {
    const date = new Date(at * 1_000);
    return date.getHours() === 0 && date.getMinutes() === 0 ? DAY.format(date) : CLOCK.format(date);
  });
}

type Colour = (name: string) => string;

/** Hatched areas for times without runs, which are not failures. */
function drawMissed(plot: uPlot, spans: readonly Span[], colour: Colour): void {
  const { ctx, bbox } = plot;
  ctx.save();
  for (const { fromMs, toMs } of spans) {
    const left = Math.max(bbox.left, plot.valToPos(fromMs / 1_000, 'x', true));
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(toMs / 1_000, 'x', true));
    if (right < bbox.left || left > bbox.left + bbox.width) continue;
    const width = Math.max(2, right - left);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, bbox.top, width, bbox.height);
    ctx.clip();
    ctx.fillStyle = colour('--unknown-soft');
    ctx.fillRect(left, bbox.top, width, bbox.height);
    ctx.strokeStyle = colour('--unknown-cell');
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    const step = HATCH_PX * devicePixelRatio;
    for (let x = left - bbox.height; x < left + width; x += step) {
      ctx.moveTo(x, bbox.top + bbox.height);
      ctx.lineTo(x + bbox.height, bbox.top);
    }
    ctx.stroke();
    ctx.restore();
  }
  ctx.restore();
}

function drawThresholds(plot: uPlot, thresholds: readonly Threshold[], colour: Colour): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  for (const { label, value, colour: name } of thresholds) {
    const y = plot.valToPos(value, 'y', true);
    if (y < bbox.top) continue;
    ctx.strokeStyle = colour(name);
    ctx.fillStyle = colour(name);
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.textAlign = 'right';
    ctx.fillText(label, bbox.left + bbox.width - 4, y - 4 * devicePixelRatio);
  }
  ctx.restore();
}

/** Marks at the bottom: a cross for each time in which runs failed. */
function drawFailed(plot: uPlot, { failed }: ChartProps, colour: Colour): void {
  const { ctx, bbox } = plot;
  const size = MARK_PX * devicePixelRatio;
  const y = bbox.top + bbox.height - size * 1.5;
  ctx.save();
  ctx.strokeStyle = colour('--fail');
  ctx.lineWidth = 2 * devicePixelRatio;
  for (const at of failed) {
    const x = plot.valToPos(at / 1_000, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x - size, y - size);
    ctx.lineTo(x + size, y + size);
    ctx.moveTo(x + size, y - size);
    ctx.lineTo(x - size, y + size);
    ctx.stroke();
  }
  ctx.restore();
}
