import type { Check } from '../../model/check/check.ts';
import { compilePauses, NEVER_PAUSED, type PauseTimes } from '../../model/schedule/pause.ts';
import type { SlotRange } from '../../model/schedule/slot-range.ts';
import { lastSlotAt, nextSlotAfter, type SlotRule } from '../../model/schedule/slot-rule.ts';
import type { CheckSet } from '../source/check-source.ts';

/** The parts of a set of checks that define pauses. */
export type PauseSource = Pick<CheckSet, 'pauses' | 'groupTags'>;

export const NO_PAUSES: PauseSource = { pauses: [], groupTags: new Map() };

/** Returns when a check's slots are skipped, by its own tags and its group's. */
export function pauseTimesOf({
  pauses,
  groupTags,
}: PauseSource): (check: Pick<Check, 'id' | 'tags'>) => PauseTimes {
  if (pauses.length === 0) return () => NEVER_PAUSED;
  const compiled = compilePauses(pauses);
  return ({ id, tags }) => {
    const ofGroup = groupTags.get(id);
    return compiled.timesFor(ofGroup === undefined ? tags : [...tags, ...ofGroup]);
  };
}

/** The parts of the range that are not paused: paused slots are not missed. */
export function unpausedSlots(
  rule: SlotRule,
  range: SlotRange,
  times: PauseTimes,
): readonly SlotRange[] {
  const paused = times.pausedBetween(range.slot, range.lastSlot);
  if (paused.length === 0) return [range];
  const left: SlotRange[] = [];
  let slot = range.slot;
  for (const { fromMs, toMs } of paused) {
    addRange(left, rule, slot, lastSlotAt(rule, fromMs - 1));
    slot = Math.max(slot, nextSlotAfter(rule, toMs - 1));
  }
  addRange(left, rule, slot, range.lastSlot);
  return left;
}

function addRange(ranges: SlotRange[], rule: SlotRule, slot: number, lastSlot: number): void {
  if (slot > lastSlot) return;
  ranges.push({ slot, lastSlot, count: (lastSlot - slot) / rule.periodMs + 1 });
}
