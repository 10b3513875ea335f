import { lastSlotAt, nextSlotAfter, type SlotRule } from './slot-rule.ts';

/**
 * The slots of a check that one of its locations runs: the instants `k · periodMs + phaseMs` with
 * k mod `stride` = `index`. An assignment contains it.
 */
export interface RotationRule {
  readonly periodMs: number;
  /** In [0, periodMs). */
  readonly phaseMs: number;
  /** Number of locations in the rotation; 1 where this one runs every slot. */
  readonly stride: number;
  /** In [0, stride): this location's number among them. */
  readonly index: number;
}

/**
 * The slots of a check that a location runs (src/model/README.md, "When checks run",
 * `runParallel`): all of them where the locations run in parallel; else number i of n runs the
 * slots k with k mod n = i, as in `rotationIndexOf`.
 *
 * @param locations the check's locations in its own order; one that is named twice counts once
 * @returns null if the location is not one of them
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
 * The index of the location that runs a slot where locations rotate (`runParallel` false): slot k
 * runs in number k mod n.
 *
 * @param locations their number
 */
export function rotationIndexOf(rule: SlotRule, slotMs: number, locations: number): number {
  const k = Math.round((slotMs - rule.phaseMs) / rule.periodMs);
  return ((k % locations) + locations) % locations;
}

/**
 * The same instants as a rule without rotation: every n-th slot from number i on is a longer period
 * with a later phase.
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
