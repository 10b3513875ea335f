import { type Pause, pausedAt } from '../../model/schedule/pause.ts';
import { rotationIndexOf } from '../../model/schedule/rotation.ts';
import { nextSlotAfter, slotRuleOf } from '../../model/schedule/slot-rule.ts';
import { MAX_STRIDE } from '../../wire/v1/limits.ts';
import { isActivated, privateLocationsOf, type Subject, tagsOf } from './subject.ts';

export interface NextSlot {
  /** Epoch milliseconds. */
  readonly slotMs: number;
  /** The locations that run the slot. */
  readonly locations: readonly string[];
  /** Whether a maintenance window pauses it. */
  readonly isPaused: boolean;
}

/**
 * Returns the next slots of a check after an instant (src/model/README.md, "When checks run").
 *
 * @param known the private locations of the account
 * @param nowMs epoch milliseconds
 * @returns none for a heartbeat, and for a check that is not activated or has no such location
 */
export function nextSlots(
  subject: Subject,
  known: ReadonlySet<string>,
  pauses: readonly Pause[],
  { nowMs, count }: { readonly nowMs: number; readonly count: number },
): readonly NextSlot[] {
  const { id, frequency, frequencyOffset = null, runParallel } = subject.check;
  const locations = privateLocationsOf(subject)
    .filter((slug) => known.has(slug))
    .slice(0, MAX_STRIDE);
  if (frequency === undefined || locations.length === 0 || !isActivated(subject)) return [];
  const rule = slotRuleOf(id, frequency, frequencyOffset);
  const tags = tagsOf(subject);
  const slots: NextSlot[] = [];
  let slotMs = nowMs;
  while (slots.length < count) {
    slotMs = nextSlotAfter(rule, slotMs);
    const index = rotationIndexOf(rule, slotMs, locations.length);
    slots.push({
      slotMs,
      locations: runParallel ? locations : locations.slice(index, index + 1),
      isPaused: pausedAt(pauses, tags, slotMs),
    });
  }
  return slots;
}
