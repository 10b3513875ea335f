import type { Check } from '../../model/check/check.ts';
import { type SlotRule, slotRuleOf } from '../../model/schedule/frequency.ts';
import type { PauseTimes } from '../../model/schedule/pause.ts';
import { ownSlotsOf, type RotationRule } from '../../model/schedule/rotation.ts';
import { startToleranceMs } from '../slots/start-tolerance.ts';
import type { Slotted } from './slot-heap.ts';

/** A check with what the scheduler knows of it. */
export interface ScheduledCheck extends Slotted {
  check: Check;
  /** When its slots are skipped. */
  pauses: PauseTimes;
  /** Where its location takes turns with others; null where it runs every slot. */
  readonly turn: RotationRule | null;
  /** The slots that are run here. */
  readonly rule: SlotRule;
  readonly toleranceMs: number;
}

/** The next slot is for the caller to set. */
export function scheduledCheckOf(
  check: Check,
  turn: RotationRule | null,
  pauses: PauseTimes,
): ScheduledCheck {
  const rule = turn === null ? ruleOf(check) : ownSlotsOf(turn);
  return {
    check,
    pauses,
    turn,
    rule,
    // Of the check's own period: when its turn comes is no reason to start it later.
    toleranceMs: startToleranceMs(turn?.periodMs ?? rule.periodMs),
    order: spread(check.id),
    nextSlotMs: 0,
  };
}

function ruleOf(check: Check): SlotRule {
  return slotRuleOf(check.id, check.frequency, check.frequencyOffset);
}

/** Whether the new definition is due at the same instants; tells without computing a hash. */
export function isDueAlike(
  known: ScheduledCheck,
  check: Check,
  turn: RotationRule | null,
): boolean {
  if (known.turn === null || turn === null) {
    const { frequency, frequencyOffset } = known.check;
    return (
      known.turn === turn &&
      frequency === check.frequency &&
      frequencyOffset === check.frequencyOffset
    );
  }
  const { periodMs, phaseMs, stride, index } = known.turn;
  return (
    periodMs === turn.periodMs &&
    phaseMs === turn.phaseMs &&
    stride === turn.stride &&
    index === turn.index
  );
}

/**
 * FNV-1a, 32 bits with a sign, since the engine boxes larger numbers: which of the checks that share a
 * slot starts first, whatever their order.
 */
function spread(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash;
}
