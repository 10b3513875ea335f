import { compilePauses } from '../../model/schedule/pause.ts';
import { lastOwnSlotAt, nextOwnSlotAfter, ownSlotsOf } from '../../model/schedule/rotation.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createYielder } from '../../runtime/event-loop.ts';
import type { Sql } from '../database/store.ts';
import { pausesOf } from '../maintenance-windows/shared.sql.ts';
import { withoutPaused } from '../results/missed-slots/paused-slots.ts';
import {
  type MissedRange,
  recordMissed,
} from '../results/missed-slots/record-and-remove-missed.ts';
import { type AssignedRule, listAssignedRules, lockSubjects } from '../results/shared.sql.ts';
import { putSilenceProgress, type SilenceProgress } from './silent-locations.sql.ts';

/** Checks per transaction; bounds how long it locks them. */
const CHECKS_AT_ONCE = 250;
/** The time range per transaction; at most 360 slots of each check. */
const WINDOW_MS = 3_600_000;

/** src/model/README.md, "When checks run". */
const REASON = 'location_silent';

/**
 * Records slots of a silent location as missed, for a page of its checks and a window of time. Skips slots with
 * a FINAL or a stored range. A result that arrives later replaces the missed slot.
 *
 * @param progress the progress of a location that the transaction has locked
 * @returns how many slots it recorded
 */
export async function recordSilentSlots(
  tx: Sql,
  clock: Clock,
  progress: SilenceProgress,
  atMs: number,
): Promise<number> {
  const { accountId, locationId, slug: location, coveredUntilMs: fromMs } = progress;
  const toMs = progress.windowUntilMs ?? Math.min(atMs, fromMs + WINDOW_MS);
  const { rules, lastOfPage } = await listAssignedRules(tx, {
    locationId,
    afterCheckId: progress.afterCheckId,
    endedAfterMs: fromMs,
    checks: CHECKS_AT_ONCE,
  });
  const checkIds = [...new Set(rules.map(({ checkId }) => checkId))];
  const subjects = await lockSubjects(tx, { accountId, checkIds });
  const existing = new Set(subjects.map(({ checkId }) => checkId));
  const due = rules
    .filter(({ checkId }) => existing.has(checkId))
    .flatMap((rule) => rangeOf(rule, fromMs, toMs) ?? []);
  const pauses = due.length === 0 ? [] : await pausesOf(tx, { accountId, atMs: fromMs });
  const yieldWhenDue = createYielder(clock);
  const ranges = await withoutPaused(
    tx,
    { accountId, ranges: due, pauses: pauses.length === 0 ? null : compilePauses(pauses) },
    yieldWhenDue,
  );
  const recorded = await recordMissed(tx, { accountId, location, ranges }, yieldWhenDue);
  await putSilenceProgress(
    tx,
    lastOfPage === null
      ? { locationId, coveredUntilMs: toMs, windowUntilMs: null, afterCheckId: '' }
      : { locationId, coveredUntilMs: fromMs, windowUntilMs: toMs, afterCheckId: lastOfPage },
  );
  return recorded;
}

/** The slots with `fromMs` < slot <= `toMs` that the location was assigned by this rule. */
function rangeOf(
  { checkId, rule, sinceMs, endMs }: AssignedRule,
  fromMs: number,
  toMs: number,
): MissedRange | null {
  const slot = nextOwnSlotAfter(rule, Math.max(fromMs, sinceMs));
  const lastSlot = lastOwnSlotAt(rule, endMs === null ? toMs : Math.min(toMs, endMs));
  if (slot > lastSlot) return null;
  const { periodMs: stepMs } = ownSlotsOf(rule);
  const count = (lastSlot - slot) / stepMs + 1;
  return { checkId, slot, lastSlot, count, reason: REASON, stepMs };
}
