import type { Check } from '../../model/check/check.ts';
import type { PauseTimes } from '../../model/schedule/pause.ts';
import { ownSlotsOf, type RotationRule } from '../../model/schedule/rotation.ts';
import { type SlotRule, slotRuleOf } from '../../model/schedule/slot-rule.ts';
import { startToleranceMs } from '../slots/start-tolerance.ts';
import type { HasNextSlot } from './slot-heap.ts';

/** A check with its scheduling state. */
export interface ScheduledCheck extends HasNextSlot {
  check: Check;
  /** When its slots are skipped. */
  pauses: PauseTimes;
  /** Which slots this location runs when the check's locations rotate; null: every slot. */
  readonly rotation: RotationRule | null;
  /** The slots that this location runs. */
  readonly rule: SlotRule;
  readonly toleranceMs: number;
}

/** The caller must set `nextSlotMs`. */
export function scheduledCheckOf(
  check: Check,
  rotation: RotationRule | null,
  pauses: PauseTimes,
): ScheduledCheck {
  const rule = rotation === null ? ruleOf(check) : ownSlotsOf(rotation);
  return {
    check,
    pauses,
    rotation,
    rule,
    // By the check's own period: a rotation does not allow later starts.
    toleranceMs: startToleranceMs(rotation?.periodMs ?? rule.periodMs),
    order: spread(check.id),
    nextSlotMs: 0,
  };
}

function ruleOf(check: Check): SlotRule {
  return slotRuleOf(check.id, check.frequency, check.frequencyOffset);
}

/** Whether the new definition is due at the same instants, without computing a hash. */
export function hasSameSlots(
  known: ScheduledCheck,
  check: Check,
  rotation: RotationRule | null,
): boolean {
  if (known.rotation === null || rotation === null) {
    const { frequency, frequencyOffset } = known.check;
    return (
      known.rotation === rotation &&
      frequency === check.frequency &&
      frequencyOffset === check.frequencyOffset
    );
  }
  const { periodMs, phaseMs, stride, index } = known.rotation;
  return (
    periodMs === rotation.periodMs &&
    phaseMs === rotation.phaseMs &&
    stride === rotation.stride &&
    index === rotation.index
  );
}

/**
 * Orders the checks that share a slot by a hash of their ids, so that their order in the set does
 * not matter. FNV-1a as a signed 32-bit number: V8 boxes larger ones.
 */
function spread(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}
