import type { Check } from '../../model/check.ts';
import { lastSlotAt, type SlotRule, slotRuleOf } from '../../model/frequency.ts';
import type { Slotted } from './slot-heap.ts';
import { startToleranceMs } from './tolerance.ts';

/** A check with what the scheduler knows of it. */
export interface ScheduledCheck extends Slotted {
  check: Check;
  readonly rule: SlotRule;
  readonly toleranceMs: number;
}

/** The next slot is for the caller to set. */
export function scheduledCheckOf(check: Check): ScheduledCheck {
  const rule = ruleOf(check);
  return {
    check,
    rule,
    toleranceMs: startToleranceMs(rule.periodMs),
    order: spread(check.id),
    nextSlotMs: 0,
  };
}

export function ruleOf(check: Check): SlotRule {
  return slotRuleOf(check.id, check.frequency, check.frequencyOffset);
}

/** Whether both definitions are due at the same instants; tells without computing a hash. */
export function sameSlots(a: Check, b: Check): boolean {
  return a.frequency === b.frequency && a.frequencyOffset === b.frequencyOffset;
}

/**
 * The slot that names a run outside the plan: the instant, but never one of the plan's own slots,
 * whose result it would replace.
 */
export function oneOffSlotMs(rule: SlotRule, instantMs: number): number {
  return lastSlotAt(rule, instantMs) === instantMs ? instantMs - 1 : instantMs;
}

/** FNV-1a, 32 bits: which of the checks that share a slot starts first, whatever their order. */
function spread(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
