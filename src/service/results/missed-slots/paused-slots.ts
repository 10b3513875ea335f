import { type CompiledPauses, NEVER_PAUSED } from '../../../model/schedule/pause.ts';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';
import type { Sql } from '../../database/store.ts';
import { tagsOfChecks } from '../intake/subjects.sql.ts';
import { subtractSlots } from '../slot-ranges.ts';
import type { MissedRange } from './record-and-remove-missed.ts';

/**
 * Removes slots in maintenance windows from the ranges: these do not count as missed. Agents omit the slots of
 * windows that they know, but an agent that was down or offline does not know later changes.
 *
 * @param pauses null if there are none
 * @param yieldWhenDue called after each range
 */
export async function withoutPaused(
  tx: Sql,
  {
    accountId,
    ranges,
    pauses,
  }: {
    readonly accountId: string;
    readonly ranges: readonly MissedRange[];
    readonly pauses: CompiledPauses | null;
  },
  yieldWhenDue: YieldWhenDue,
): Promise<readonly MissedRange[]> {
  if (pauses === null || ranges.length === 0) return ranges;
  const checkIds = [...new Set(ranges.map(({ checkId }) => checkId))];
  const tags = await tagsOfChecks(tx, { accountId, checkIds });
  const left: MissedRange[] = [];
  for (const range of ranges) {
    const times = pauses.timesFor(tags.get(range.checkId) ?? []);
    if (times === NEVER_PAUSED) left.push(range);
    else {
      for (const part of subtractSlots(range, (_, slotMs) => times.isPausedAt(slotMs))) {
        left.push({ ...range, ...part });
      }
    }
    await yieldWhenDue();
  }
  return left;
}
