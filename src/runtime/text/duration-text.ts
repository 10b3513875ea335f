import { countText } from './count-text.ts';

/** A duration in messages, with one unit for all: `0.4 ms`, `12 ms`. */
export function millisecondsText(durationMs: number): string {
  return `${durationMs < 10 ? durationMs.toFixed(1) : Math.round(durationMs)} ms`;
}

/** `0.4 ms`, `12 ms`, `1.53 s`. */
export function durationText(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(2))} s`;
}

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const DAY_MINUTES = 24 * HOUR_MINUTES;

/** The two largest units of a time, rounded down: 1 h 5 min. */
export function twoUnitText(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / MINUTE_MS);
  if (minutes < 1) return 'less than a minute';
  if (minutes < HOUR_MINUTES) return `${minutes} min`;
  const [large, small, units] =
    minutes < DAY_MINUTES
      ? [Math.floor(minutes / HOUR_MINUTES), minutes % HOUR_MINUTES, ['h', 'min']]
      : [
          Math.floor(minutes / DAY_MINUTES),
          Math.floor((minutes % DAY_MINUTES) / HOUR_MINUTES),
          ['d', 'h'],
        ];
  return `${large} ${units[0]}${small === 0 ? '' : ` ${small} ${units[1]}`}`;
}

const SPANS: readonly (readonly [number, string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];

/** A length of time in its largest whole unit: `3 days`, `1 hour`, `0 seconds`. */
export function wholeUnitText(ms: number): string {
  const [unitMs, unit] = SPANS.find(([each]) => ms >= each) ?? [1000, 'second'];
  return countText(Math.floor(ms / unitMs), unit);
}
