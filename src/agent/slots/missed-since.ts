import type { Check } from '../../model/check/check.ts';
import type { MissedReason, MissedSlots } from '../../model/result/missed-slots.ts';
import type { PauseTimes } from '../../model/schedule/pause.ts';
import { ownSlotsOf } from '../../model/schedule/rotation.ts';
import type { SlotRange } from '../../model/schedule/slot-range.ts';
import {
  lastSlotAt,
  nextSlotAfter,
  type SlotRule,
  slotRuleOf,
} from '../../model/schedule/slot-rule.ts';
import type { CheckSet } from '../source/check-source.ts';
import { pauseTimesOf, unpausedSlots } from './check-pauses.ts';
import type { LedgerState } from './ledger-file.ts';

/** The time for which undelivered results are kept by default. */
const MAX_BACK_MS = 7 * 86_400_000;
const REASON: MissedReason = 'agent_stopped';

/** Which checks there are, and when they are due and not paused. */
export type PlannedChecks = Pick<CheckSet, 'checks' | 'rotations' | 'pauses' | 'groupTags'>;

/**
 * The slots that an ended process left: those it did not finish, and for each check of the set
 * those between its end and `startMs`, as one record, or several where slots in pauses are left
 * out.
 */
export function missedSince(
  { upToMs, unfinished }: LedgerState,
  set: PlannedChecks,
  startMs: number,
): readonly MissedSlots[] {
  const earliestMs = startMs - MAX_BACK_MS;
  const fromMs = Math.max(upToMs, earliestMs);
  const timesOf = pauseTimesOf(set);
  const after = new Map<string, SlotRange>();
  const missed: MissedSlots[] = [];
  for (const check of set.checks) {
    const found = check.activated ? slotsBetween(fromMs, startMs, check, set.rotations) : null;
    if (found === null) continue;
    after.set(check.id, found.range);
    missed.push(...missedOf(check.id, found, timesOf(check), REASON));
  }
  const byId = new Map(set.checks.map((check) => [check.id, check]));
  const before = unfinished
    .filter(([checkId, slot]) => {
      const range = after.get(checkId);
      const isInRange = range !== undefined && slot >= range.slot && slot <= range.lastSlot;
      // A slot that is still ahead by the current clock will be run.
      if (isInRange || slot <= earliestMs || slot > startMs) return false;
      // The tags of a removed check are unknown.
      return !timesOf(byId.get(checkId) ?? { id: checkId, tags: [] }).isPausedAt(slot);
    })
    .map(([checkId, slot]) => ({ checkId, slot, lastSlot: slot, count: 1, reason: REASON }));
  return [...before, ...missed];
}

/**
 * The slots of checks between two agents: from the instant up to which the previous one answered
 * for them, at most 7 days back, without those in a pause.
 *
 * @param startMs epoch milliseconds from which this agent runs them, or later
 */
export function missedBeforeTakeover(
  set: PlannedChecks & Pick<CheckSet, 'unanswered'>,
  startMs: number,
): readonly MissedSlots[] {
  const { checks, rotations, unanswered } = set;
  if (unanswered.size === 0) return [];
  const timesOf = pauseTimesOf(set);
  return checks.flatMap((check) => {
    const sinceMs = unanswered.get(check.id);
    if (sinceMs === undefined || !check.activated) return [];
    const fromMs = Math.max(sinceMs, startMs - MAX_BACK_MS);
    const found = slotsBetween(fromMs, startMs, check, rotations);
    return found === null ? [] : missedOf(check.id, found, timesOf(check), 'unassigned');
  });
}

interface PlannedSlots {
  readonly rule: SlotRule;
  readonly range: SlotRange;
}

function slotsBetween(
  fromMs: number,
  toMs: number,
  { id: checkId, frequency, frequencyOffset }: Check,
  rotations: CheckSet['rotations'],
): PlannedSlots | null {
  const rotation = rotations.get(checkId);
  const rule =
    rotation === undefined ? slotRuleOf(checkId, frequency, frequencyOffset) : ownSlotsOf(rotation);
  const slot = nextSlotAfter(rule, fromMs);
  const lastSlot = lastSlotAt(rule, toMs);
  if (slot > lastSlot) return null;
  const count = (lastSlot - slot) / rule.periodMs + 1;
  return { rule, range: { slot, lastSlot, count } };
}

function missedOf(
  checkId: string,
  { rule, range }: PlannedSlots,
  times: PauseTimes,
  reason: MissedReason,
): readonly MissedSlots[] {
  return unpausedSlots(rule, range, times).map((part) => ({ checkId, ...part, reason }));
}
