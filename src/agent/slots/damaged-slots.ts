import type { MissedSlots } from '../../model/result/missed-slots.ts';
import { groupBy } from '../../runtime/group-by.ts';
import type { SpoolSlots } from '../spool/spool.ts';

/** The shortest period of a check. The service accepts no range with a shorter one. */
const MIN_GAP_MS = 1_000;

/**
 * Reports the slots whose records were damaged as missed. Consecutive, evenly spaced slots of a
 * check become one record.
 */
export function damagedSlots(lost: readonly SpoolSlots[]): readonly MissedSlots[] {
  const ofChecks = [...groupBy(lost, ({ checkId }) => checkId).values()];
  return ofChecks.flatMap((own) =>
    joined([...own].sort((one, other) => one.slot - other.slot)).map((slots) => ({
      ...slots,
      reason: 'spool_damaged' as const,
    })),
  );
}

function joined(sorted: readonly SpoolSlots[]): readonly SpoolSlots[] {
  const ranges: SpoolSlots[] = [];
  for (const next of sorted) {
    const last = ranges.at(-1);
    const whole = last === undefined ? null : join(last, next);
    if (whole === null) ranges.push(next);
    else ranges[ranges.length - 1] = whole;
  }
  return ranges;
}

/** null if the two are not one evenly spaced range. */
function join(one: SpoolSlots, next: SpoolSlots): SpoolSlots | null {
  if (next.slot === one.slot && next.count === 1) return one;
  const gapMs = next.slot - one.lastSlot;
  const isEven = [one, next].every(
    ({ slot, lastSlot, count }) => count === 1 || lastSlot - slot === gapMs * (count - 1),
  );
  if (gapMs < MIN_GAP_MS || !isEven) return null;
  return { ...one, lastSlot: next.lastSlot, count: one.count + next.count };
}
