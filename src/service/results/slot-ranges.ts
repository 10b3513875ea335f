/** Slots of one check, evenly apart. All instants are epoch milliseconds. */
export interface SlotRange {
  readonly slot: number;
  /** The same as `slot` where there is one. */
  readonly lastSlot: number;
  /** 1 or more. */
  readonly count: number;
}

const DAY_MS = 86_400_000;
/** The shortest period that an assignment can have (wire/v1/slots). */
const MIN_STEP_MS = 1000;

/** The distance of the slots; 0 where there is one. */
export function stepOf({ slot, lastSlot, count }: SlotRange): number {
  return count === 1 ? 0 : (lastSlot - slot) / (count - 1);
}

/** Whether it is what a plan makes: whole milliseconds apart, and not closer than any period. */
export function isEven(range: SlotRange): boolean {
  const step = stepOf(range);
  return range.count === 1
    ? range.slot === range.lastSlot
    : Number.isInteger(step) && step >= MIN_STEP_MS;
}

/** Which of its slots the instant is, counted from 0; -1 where it is none. */
export function numberOf(range: SlotRange, instantMs: number): number {
  if (instantMs < range.slot || instantMs > range.lastSlot) return -1;
  if (instantMs === range.slot) return 0;
  const number = (instantMs - range.slot) / stepOf(range);
  return Number.isInteger(number) ? number : -1;
}

export function slotsOf(range: SlotRange): readonly number[] {
  const step = stepOf(range);
  return Array.from({ length: range.count }, (_, number) => range.slot + number * step);
}

/** So far apart at most are the first and the last slot of a stored range. */
export const MAX_SPAN_MS = DAY_MS;

/** The range in parts that span a day at most, in their order. */
export function* partsOf(range: SlotRange): Generator<SlotRange> {
  const step = stepOf(range);
  const longest = step === 0 ? 1 : Math.floor(MAX_SPAN_MS / step) + 1;
  for (let from = 0; from < range.count; from += longest) {
    yield part(range, from, Math.min(range.count, from + longest) - 1);
  }
}

/**
 * What of the range is left without the slots that the test says are taken. It is asked for each
 * of them in their order, by number and instant.
 */
export function without(
  range: SlotRange,
  isTaken: (number: number, slotMs: number) => boolean,
): readonly SlotRange[] {
  const step = stepOf(range);
  const left: SlotRange[] = [];
  let from: number | null = null;
  for (let number = 0; number < range.count; number += 1) {
    const taken = isTaken(number, range.slot + number * step);
    if (!taken) from ??= number;
    else if (from !== null) {
      left.push(part(range, from, number - 1));
      from = null;
    }
  }
  if (from !== null) left.push(part(range, from, range.count - 1));
  return left;
}

/** Which of the range's slots are slots of one of the others, too; 1 for each that is. */
export function sharedWith(range: SlotRange, others: Iterable<SlotRange>): Uint8Array {
  const shared = new Uint8Array(range.count);
  for (const other of others) {
    const from = Math.max(range.slot, other.slot);
    const to = Math.min(range.lastSlot, other.lastSlot);
    if (from > to) continue;
    const step = stepOf(range);
    const first = step === 0 ? 0 : Math.ceil((from - range.slot) / step);
    const last = step === 0 ? 0 : Math.floor((to - range.slot) / step);
    for (let number = first; number <= last; number += 1) {
      if (numberOf(other, range.slot + number * step) !== -1) shared[number] = 1;
    }
  }
  return shared;
}

/**
 * The slots of the range from one instant on and before another.
 *
 * @returns null where there are none
 */
export function cutTo(range: SlotRange, fromMs: number, toMs: number): SlotRange | null {
  if (range.slot >= fromMs && range.lastSlot < toMs) return range;
  const step = stepOf(range);
  if (step === 0) return null;
  const first = Math.max(0, Math.ceil((fromMs - range.slot) / step));
  const last = Math.min(range.count, Math.ceil((toMs - range.slot) / step)) - 1;
  return first > last ? null : part(range, first, last);
}

/**
 * The part of the range from the first slot on that passes; after one that passes, all do.
 *
 * @returns null where none passes
 */
export function fromFirst(range: SlotRange, passes: (slotMs: number) => boolean): SlotRange | null {
  if (!passes(range.lastSlot)) return null;
  const step = stepOf(range);
  let [low, high] = [0, range.count - 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (passes(range.slot + middle * step)) high = middle;
    else low = middle + 1;
  }
  return part(range, low, range.count - 1);
}

function part(range: SlotRange, first: number, last: number): SlotRange {
  const step = stepOf(range);
  return {
    slot: range.slot + first * step,
    lastSlot: range.slot + last * step,
    count: last - first + 1,
  };
}
