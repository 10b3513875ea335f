import { lastOwnSlotAt, ownSlotsOf, type RotationRule } from '../../../model/schedule/rotation.ts';
import type { SlotRange } from '../../../model/schedule/slot-range.ts';
import { clipRange, slotSpacingMs } from '../slot-ranges.ts';
import type { AssignedSlots } from './assigned-slots.sql.ts';

/**
 * Slots this close to the beginning or the end of an assignment count as in it: an agent's clock may be
 * behind, and an agent runs a check until its next poll says that it lost it.
 */
export const EDGE_MS = 15 * 60_000;

/** Whether one of the assignments has the slot. `slotMs` is epoch milliseconds. */
export function isAssignedSlot(assigned: readonly AssignedSlots[], slotMs: number): boolean {
  return assigned.some(
    (slots) =>
      isWithin(slots, slotMs) &&
      (slots.rule === null || lastOwnSlotAt(slots.rule, slotMs) === slotMs),
  );
}

/**
 * Returns the slots of the range that are in the assignments, as ordered ranges. An agent reports a check's
 * slots by the rule that it knows, including slots between the assignment and the time when it learned the
 * rule.
 */
export function assignedPartsOf(
  range: SlotRange,
  assigned: readonly AssignedSlots[],
): readonly SlotRange[] {
  const spans = assigned
    .filter(({ rule }) => rule === null || hasSlotsOf(rule, range))
    .map(({ untilMs }) => spanOf(assigned.filter((other) => other.untilMs === untilMs)))
    .toSorted((one, other) => one.fromMs - other.fromMs);
  const parts: SlotRange[] = [];
  let coveredToMs = Number.NEGATIVE_INFINITY;
  for (const { fromMs, toMs } of spans) {
    const cut = clipRange(range, Math.max(fromMs, coveredToMs), toMs);
    coveredToMs = Math.max(coveredToMs, toMs);
    if (cut !== null) parts.push(cut);
  }
  return parts;
}

/** The span of one period in which the location had the check, whatever the rule was. */
function spanOf(period: readonly AssignedSlots[]): Span {
  const [one] = period;
  const sinceMs = period.reduce(
    (first, slots) => Math.min(first, slots.sinceMs),
    Number.POSITIVE_INFINITY,
  );
  return spanWithEdges(sinceMs, one?.untilMs ?? null);
}

interface Span {
  readonly fromMs: number;
  /** Not included. */
  readonly toMs: number;
}

function spanWithEdges(sinceMs: number, untilMs: number | null): Span {
  return {
    fromMs: sinceMs - EDGE_MS,
    toMs: untilMs === null ? Number.POSITIVE_INFINITY : untilMs + EDGE_MS,
  };
}

function isWithin({ sinceMs, untilMs }: AssignedSlots, slotMs: number): boolean {
  const { fromMs, toMs } = spanWithEdges(sinceMs, untilMs);
  return slotMs >= fromMs && slotMs < toMs;
}

/** Whether all slots of the range match the rule: the first one does, and they are whole periods apart. */
function hasSlotsOf(rule: RotationRule, range: SlotRange): boolean {
  const isAtSlot = lastOwnSlotAt(rule, range.slot) === range.slot;
  return isAtSlot && slotSpacingMs(range) % ownSlotsOf(rule).periodMs === 0;
}
