/** The instants after `fromMs` up to and including `toMs`; epoch milliseconds. */
export interface Interval {
  readonly fromMs: number;
  readonly toMs: number;
}

/**
 * A set of instants of the wall clock, stored as at most `maxIntervals` sorted, disjoint intervals.
 * Beyond that, forgets the one farthest from the instant added last.
 */
export class IntervalSet {
  readonly #maxIntervals: number;
  #intervals: Interval[] = [];

  constructor(maxIntervals: number) {
    this.#maxIntervals = maxIntervals;
  }

  get size(): number {
    return this.#intervals.length;
  }

  /** An interval without length adds nothing. */
  add(fromMs: number, toMs: number): void {
    if (toMs <= fromMs) return;
    let merged: Interval = { fromMs, toMs };
    const separate: Interval[] = [];
    for (const interval of this.#intervals) {
      if (interval.toMs < merged.fromMs || interval.fromMs > merged.toMs) {
        separate.push(interval);
      } else {
        merged = {
          fromMs: Math.min(merged.fromMs, interval.fromMs),
          toMs: Math.max(merged.toMs, interval.toMs),
        };
      }
    }
    separate.push(merged);
    separate.sort((a, b) => a.fromMs - b.fromMs);
    if (separate.length > this.#maxIntervals) forgetFarthest(separate, toMs);
    this.#intervals = separate;
  }

  /** The end of the interval that contains the instant; null if none does. */
  endAround(instantMs: number): number | null {
    for (const { fromMs, toMs } of this.#intervals) {
      if (instantMs > fromMs && instantMs <= toMs) return toMs;
    }
    return null;
  }

  /** The instants after `fromMs` up to `toMs` that are not in the set, in order. */
  holesIn(fromMs: number, toMs: number): readonly Interval[] {
    const holes: Interval[] = [];
    let startMs = fromMs;
    for (const interval of this.#intervals) {
      if (interval.toMs <= startMs) continue;
      if (interval.fromMs >= toMs) break;
      if (interval.fromMs > startMs) holes.push({ fromMs: startMs, toMs: interval.fromMs });
      startMs = interval.toMs;
    }
    if (startMs < toMs) holes.push({ fromMs: startMs, toMs });
    return holes;
  }
}

function forgetFarthest(sorted: Interval[], instantMs: number): void {
  const first = sorted[0];
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return;
  if (instantMs - first.toMs >= last.fromMs - instantMs) sorted.shift();
  else sorted.pop();
}
