import { lastSlotAt, nextSlotAfter, type SlotRule } from './frequency.ts';

/**
 * A check's slots as one of its locations runs them: of the instants `k · periodMs + phaseMs` those
 * whose k leaves `index` when divided by `stride`. It is what an assignment carries.
 */
export interface RotationRule {
  readonly periodMs: number;
  /** In [0, periodMs). */
  readonly phaseMs: number;
  /** Locations that take turns; 1 where this one runs every slot. */
  readonly stride: number;
  /** In [0, stride): this location's number among them. */
  readonly index: number;
}

/**
 * What a location runs of a check's slots (SEMANTICS 1, `runParallel`): all of them where the
 * locations run in parallel; else number i of n runs the slots k with k mod n = i, as `rotationIndexOf` says.
 *
 * @param locations the check's locations in its own order; one that is named twice has one turn
 * @returns null where the location is none of them
 */
export function rotationRuleOf(
  slots: SlotRule,
  runParallel: boolean,
  locations: readonly string[],
  location: string,
): RotationRule | null {
  const order = [...new Set(locations)];
  const index = order.indexOf(location);
  if (index === -1) return null;
  const { periodMs, phaseMs } = slots;
  if (runParallel) return { periodMs, phaseMs, stride: 1, index: 0 };
  return { periodMs, phaseMs, stride: order.length, index };
}

/**
 * The same instants as a rule without turns: every n-th slot from number i on is a longer period
 * with a later phase. So whatever follows a SlotRule can follow a location's turns.
 */
export function ownSlotsOf({ periodMs, phaseMs, stride, index }: RotationRule): SlotRule {
  return { periodMs: periodMs * stride, phaseMs: phaseMs + index * periodMs };
}

/** The location's first slot strictly after the instant. Both are epoch milliseconds. */
export function nextOwnSlotAfter(rule: RotationRule, instantMs: number): number {
  return nextSlotAfter(ownSlotsOf(rule), instantMs);
}

/** The location's last slot at or before the instant. Both are epoch milliseconds. */
export function lastOwnSlotAt(rule: RotationRule, instantMs: number): number {
  return lastSlotAt(ownSlotsOf(rule), instantMs);
}
