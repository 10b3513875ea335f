import type { Measured, Target } from './part.ts';

/** A row of the table and of the JSON file. */
export interface Row {
  readonly measure: string;
  /** The median of the rounds, or the largest of them. */
  readonly value: number;
  readonly unit: string;
  readonly beside: string | null;
  readonly besideValue: number | null;
  /** `value` by `besideValue`: the median of the rounds' own ratios. */
  readonly ratio: number | null;
  /** How far the rounds are apart: the largest less the smallest, as a share of the median. */
  readonly spread: number;
  readonly target: string | null;
  readonly met: boolean | null;
}

export function rowOf({ measure, values, summary, unit, beside, target }: Measured): Row {
  const value = summary === 'worst' ? Math.max(...values) : median(values);
  const ratios = beside?.values.map((besideValue, round) => (values[round] ?? NaN) / besideValue);
  const ratio = ratios === undefined ? null : median(ratios);
  const judged = target?.of === 'ratio' ? ratio : value;
  return {
    measure,
    value,
    unit,
    beside: beside?.name ?? null,
    besideValue: beside === undefined ? null : median(beside.values),
    ratio,
    spread: value === 0 ? 0 : (Math.max(...values) - Math.min(...values)) / Math.abs(value),
    target: target === undefined ? null : targetText(target, unit),
    met: target === undefined || judged === null ? null : isMet(target, judged),
  };
}

/** NaN for an empty list. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Interpolates linearly between neighbours. NaN for an empty list. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}

function isMet({ bound, number }: Target, judged: number): boolean {
  return bound === 'at most' ? judged <= number : judged >= number;
}

function targetText({ of, bound, number }: Target, unit: string): string {
  return `${bound === 'at most' ? '≤' : '≥'} ${number.toLocaleString('en')}${of === 'ratio' ? '×' : ` ${unit}`}`;
}
