import { countText } from '../../../runtime/text/count-text.ts';
/** Texts for sentences. */

/** `0.4 ms`, `12 ms`, `1.53 s`. */
export function durationText(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Number((ms / 1000).toFixed(2))} s`;
}

/** `2026-01-31 12:00:05 UTC`. */
export function timeText(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

const SPANS: readonly (readonly [number, string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];

/** A length of time in its largest whole unit: `3 days`, `1 hour`, `0 seconds`. */
export function spanText(ms: number): string {
  const [unitMs, unit] = SPANS.find(([each]) => ms >= each) ?? [1000, 'second'];
  return countText(Math.floor(ms / unitMs), unit);
}

/** `a, b, c and 4 more`. */
export function listText(items: readonly string[], max = 10): string {
  const shown = items.slice(0, max).join(', ');
  return items.length > max ? `${shown} and ${items.length - max} more` : shown;
}

/** With a full stop, where it has none. */
export function sentenceOf(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
