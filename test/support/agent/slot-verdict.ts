import { nextSlotAfter, slotRuleOf } from '../../../src/model/schedule/slot-rule.ts';
import type { SlotRecord } from '../service/deployment.ts';

/**
 * Checks of frequency 0, and the period in which they were assigned: after one instant (common or
 * per check) until another. Epoch milliseconds.
 */
export type Watched = {
  readonly upToMs: number;
  readonly periodSeconds: 10 | 20 | 30;
} & (
  | { readonly checkIds: readonly string[]; readonly afterMs: number }
  | { readonly afterMs: ReadonlyMap<string, number> }
);

/** Faulty slots, as text: each list is empty if all is well. */
export interface SlotFaults {
  /** Neither a FINAL nor a missed record. */
  readonly unanswered: readonly string[];
  /** More than one record. */
  readonly double: readonly string[];
  /** A record of an instant at which no check is due. */
  readonly unplanned: readonly string[];
}

/** Checks that every slot has exactly one record. Ignores records outside of the period. */
export function slotFaults(records: readonly SlotRecord[], watched: Watched): SlotFaults {
  const { upToMs, periodSeconds } = watched;
  const afterMs =
    'checkIds' in watched
      ? new Map(watched.checkIds.map((id) => [id, watched.afterMs]))
      : watched.afterMs;
  const kinds = new Map<string, string[]>();
  const unplanned: string[] = [];
  for (const { checkId, slotMs, kind } of records) {
    const slot = nameOf(checkId, slotMs);
    kinds.set(slot, [...(kinds.get(slot) ?? []), kind]);
    const rule = slotRuleOf(checkId, 0, periodSeconds);
    if (!afterMs.has(checkId) || nextSlotAfter(rule, slotMs - 1) !== slotMs) unplanned.push(slot);
  }
  const unanswered: string[] = [];
  for (const [checkId, fromMs] of afterMs) {
    const rule = slotRuleOf(checkId, 0, periodSeconds);
    for (let slotMs = nextSlotAfter(rule, fromMs); slotMs <= upToMs; slotMs += rule.periodMs) {
      const slot = nameOf(checkId, slotMs);
      if (!kinds.has(slot)) unanswered.push(slot);
    }
  }
  const double = [...kinds]
    .filter(([, found]) => found.length > 1)
    .map(([slot, found]) => `${slot}: ${found.join(' and ')}`);
  return { unanswered, double, unplanned };
}

function nameOf(checkId: string, slotMs: number): string {
  return `${new Date(slotMs).toISOString()} of ${checkId}`;
}
