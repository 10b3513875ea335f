import type { Check } from '../../model/check.ts';
import { lastSlotAt, nextSlotAfter, slotRuleOf } from '../../model/frequency.ts';
import type { MissedReason, MissedSlots } from '../../model/result.ts';
import { ownSlotsOf } from '../../model/slot-stride.ts';
import type { CheckSet } from '../source/check-source.ts';
import type { Accounted } from './accounted.ts';

/** Results are not kept for longer on their way either. */
const MAX_BACK_MS = 7 * 86_400_000;
const REASON: MissedReason = 'agent_stopped';

/**
 * The slots that a process left behind which is gone: those it did not finish, and of each check of
 * the set those between its end and `startMs`, as one record.
 */
export function missedSince(
  { upToMs, unfinished }: Accounted,
  { checks, turns }: Pick<CheckSet, 'checks' | 'turns'>,
  startMs: number,
): readonly MissedSlots[] {
  const earliestMs = startMs - MAX_BACK_MS;
  const fromMs = Math.max(upToMs, earliestMs);
  const after = new Map<string, MissedSlots>();
  for (const check of checks) {
    const missed = check.activated ? slotsBetween(fromMs, startMs, check, turns, REASON) : null;
    if (missed !== null) after.set(check.id, missed);
  }
  const before = unfinished
    .filter(([checkId, slot]) => {
      const range = after.get(checkId);
      const isInRange = range !== undefined && slot >= range.slot && slot <= range.lastSlot;
      // One that is still to come by the clock of now will be run.
      return !isInRange && slot > earliestMs && slot <= startMs;
    })
    .map(([checkId, slot]) => ({ checkId, slot, lastSlot: slot, count: 1, reason: REASON }));
  return [...before, ...after.values()];
}

/**
 * The slots that checks had between two agents: each from the instant up to which the one before
 * answered for them, at most 7 days back.
 *
 * @param startMs epoch milliseconds from which they are run here, or later
 */
export function missedBeforeComing(
  { checks, turns, unanswered }: Pick<CheckSet, 'checks' | 'turns' | 'unanswered'>,
  startMs: number,
): readonly MissedSlots[] {
  if (unanswered.size === 0) return [];
  return checks.flatMap((check) => {
    const sinceMs = unanswered.get(check.id);
    if (sinceMs === undefined || !check.activated) return [];
    const fromMs = Math.max(sinceMs, startMs - MAX_BACK_MS);
    return slotsBetween(fromMs, startMs, check, turns, 'unassigned') ?? [];
  });
}

function slotsBetween(
  fromMs: number,
  toMs: number,
  { id: checkId, frequency, frequencyOffset }: Check,
  turns: CheckSet['turns'],
  reason: MissedReason,
): MissedSlots | null {
  const turn = turns.get(checkId);
  const rule =
    turn === undefined ? slotRuleOf(checkId, frequency, frequencyOffset) : ownSlotsOf(turn);
  const slot = nextSlotAfter(rule, fromMs);
  const lastSlot = lastSlotAt(rule, toMs);
  if (slot > lastSlot) return null;
  const count = (lastSlot - slot) / rule.periodMs + 1;
  return { checkId, slot, lastSlot, count, reason };
}
