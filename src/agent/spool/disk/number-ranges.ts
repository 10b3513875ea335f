/** Whole numbers from `from` (inclusive) to `end` (exclusive). */
export interface NumberRange {
  readonly from: number;
  readonly end: number;
}

/** The same numbers as sorted ranges, of which no two overlap or are adjacent. */
export function mergeRanges(ranges: readonly NumberRange[]): readonly NumberRange[] {
  const merged: { from: number; end: number }[] = [];
  for (const { from, end } of [...ranges].sort((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last !== undefined && from <= last.end) last.end = Math.max(last.end, end);
    else merged.push({ from, end });
  }
  return merged;
}

/** The parts of the range that are in none of the merged ones. */
export function missingFrom(
  merged: readonly NumberRange[],
  { from, end }: NumberRange,
): readonly NumberRange[] {
  const missing: NumberRange[] = [];
  let next = from;
  for (const range of merged) {
    if (range.from >= end) break;
    if (range.from > next) missing.push({ from: next, end: range.from });
    next = Math.max(next, range.end);
  }
  if (next < end) missing.push({ from: next, end });
  return missing;
}

export function countNumbers(ranges: readonly NumberRange[]): number {
  return ranges.reduce((sum, { from, end }) => sum + end - from, 0);
}

/** The intersection of the merged ranges with the range. */
export function within(
  merged: readonly NumberRange[],
  { from, end }: NumberRange,
): readonly NumberRange[] {
  return merged
    .map((range) => ({ from: Math.max(range.from, from), end: Math.min(range.end, end) }))
    .filter((range) => range.from < range.end);
}

export function hasNumber(merged: readonly NumberRange[], number: number): boolean {
  let low = 0;
  let high = merged.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((merged[middle]?.end ?? 0) <= number) low = middle + 1;
    else high = middle;
  }
  return (merged[low]?.from ?? Number.POSITIVE_INFINITY) <= number;
}
