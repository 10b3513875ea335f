import type { SlotRange } from '../../model/schedule/slot-range.ts';
import { DAY_MS } from '../../model/time-units.ts';

/** The shortest period that an assignment can have (wire/v1/slots). */
const MIN_STEP_MS = 1000;

/** The distance between slots; 0 if there is only one. */
export function slotSpacingMs({ slot, lastSlot, count }: SlotRange): number {
  return count === 1 ? 0 : (lastSlot - slot) / (count - 1);
}

/** Whether a schedule can produce the range: whole milliseconds apart, not closer than the shortest period. */
export function isSchedulable(range: SlotRange): boolean {
  const step = slotSpacingMs(range);
  return range.count === 1
    ? range.slot === range.lastSlot
    : Number.isInteger(step) && step >= MIN_STEP_MS;
}

/** The index of the slot at the instant; -1 if there is none. */
export function slotIndexAt(range: SlotRange, instantMs: number): number {
  if (instantMs < range.slot || instantMs > range.lastSlot) return -1;
  if (instantMs === range.slot) return 0;
  const number = (instantMs - range.slot) / slotSpacingMs(range);
  return Number.isInteger(number) ? number : -1;
}

export function slotInstants(range: SlotRange): readonly number[] {
  const step = slotSpacingMs(range);
  return Array.from({ length: range.count }, (_, number) => range.slot + number * step);
}

/** The most between the first and the last slot of a stored range. */
export const MAX_SPAN_MS = DAY_MS;

/** The range in parts that span a day at most, in order. */
export function* splitByDay(range: SlotRange): Generator<SlotRange> {
  const step = slotSpacingMs(range);
  const longest = step === 0 ? 1 : Math.floor(MAX_SPAN_MS / step) + 1;
  for (let from = 0; from < range.count; from += longest) {
    yield part(range, from, Math.min(range.count, from + longest) - 1);
  }
}

/**
 * Removes the slots for which the predicate is true from the range. Calls the predicate in order, with the index
 * and the instant of each slot.
 */
export function subtractSlots(
  range: SlotRange,
  isOut: (number: number, slotMs: number) => boolean,
): readonly SlotRange[] {
  const step = slotSpacingMs(range);
  const left: SlotRange[] = [];
  let from: number | null = null;
  for (let number = 0; number < range.count; number += 1) {
    if (!isOut(number, range.slot + number * step)) from ??= number;
    else if (from !== null) {
      left.push(part(range, from, number - 1));
      from = null;
    }
  }
  if (from !== null) left.push(part(range, from, range.count - 1));
  return left;
}

/** A mask with 1 at the index of each slot of the range that is also in one of the other ranges. */
export function overlapMask(range: SlotRange, others: Iterable<SlotRange>): Uint8Array {
  const shared = new Uint8Array(range.count);
  for (const other of others) {
    const from = Math.max(range.slot, other.slot);
    const to = Math.min(range.lastSlot, other.lastSlot);
    if (from > to) continue;
    const step = slotSpacingMs(range);
    const first = step === 0 ? 0 : Math.ceil((from - range.slot) / step);
    const last = step === 0 ? 0 : Math.floor((to - range.slot) / step);
    for (let number = first; number <= last; number += 1) {
      if (slotIndexAt(other, range.slot + number * step) !== -1) shared[number] = 1;
    }
  }
  return shared;
}

/**
 * The slots of the range with `fromMs` <= slot < `toMs`.
 *
 * @returns null if there are none
 */
export function clipRange(range: SlotRange, fromMs: number, toMs: number): SlotRange | null {
  if (range.slot >= fromMs && range.lastSlot < toMs) return range;
  const step = slotSpacingMs(range);
  if (step === 0) return null;
  const first = Math.max(0, Math.ceil((fromMs - range.slot) / step));
  const last = Math.min(range.count, Math.ceil((toMs - range.slot) / step)) - 1;
  return first > last ? null : part(range, first, last);
}

/**
 * The part of the range from the first slot that passes; all slots after it pass, too.
 *
 * @returns null if none passes
 */
export function dropUntilFirst(
  range: SlotRange,
  passes: (slotMs: number) => boolean,
): SlotRange | null {
  if (!passes(range.lastSlot)) return null;
  const step = slotSpacingMs(range);
  let [low, high] = [0, range.count - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (passes(range.slot + middle * step)) high = middle;
    else low = middle + 1;
  }
  return part(range, low, range.count - 1);
}

function part(range: SlotRange, first: number, last: number): SlotRange {
  const step = slotSpacingMs(range);
  return {
    slot: range.slot + first * step,
    lastSlot: range.slot + last * step,
    count: last - first + 1,
  };
}
