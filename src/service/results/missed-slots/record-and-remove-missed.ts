import { sequenceIdOf } from '../../../model/ids.ts';
import type { SlotRange } from '../../../model/schedule/slot-range.ts';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';
import { groupBy } from '../../../runtime/group-by.ts';
import type { Sql } from '../../database/store.ts';
import {
  MAX_SPAN_MS,
  overlapMask,
  slotIndexAt,
  slotInstants,
  splitByDay,
  subtractSlots,
} from '../slot-ranges.ts';
import { finalsBetween, indexesOfRunsWithFinal, type RunSlot } from '../sql.ts';
import {
  deleteMissed,
  insertMissed,
  type MissedRow,
  missedBetween,
  type NewMissed,
} from './sql.ts';

/**
 * Invariant: a slot of a check in a location is in at most one stored range, and in none if it has a FINAL.
 * Callers must lock the checks with `lockSubjects`: otherwise two transactions do not see each other's rows.
 */

/** A range as the agent reports it, of any length. */
export type MissedRange = SlotRange & Pick<NewMissed, 'checkId' | 'reason' | 'stepMs'>;

/** A range may leave a row for every second of its slots. */
const ROWS_AT_ONCE = 2_000;

/**
 * Stores the slots of the ranges that have neither a FINAL nor a stored range. A slot in two ranges belongs to
 * the range that is stored first, with its reason. A range with `stepMs` extends the stored range that it
 * continues.
 *
 * @param yieldWhenDue called after each day of a range: a client can make each day take some milliseconds
 * @returns how many slots it stored
 */
export async function recordMissed(
  tx: Sql,
  {
    accountId,
    location,
    ranges,
  }: {
    readonly accountId: string;
    readonly location: string;
    readonly ranges: readonly MissedRange[];
  },
  yieldWhenDue: YieldWhenDue,
): Promise<number> {
  if (ranges.length === 0) return 0;
  const stored = await missedBetween(tx, {
    accountId,
    location,
    checkIds: [...new Set(ranges.map(({ checkId }) => checkId))],
    fromMs: least(ranges.map(({ slot }) => slot)),
    toMs: -least(ranges.map(({ lastSlot }) => -lastSlot)),
    maxSpanMs: MAX_SPAN_MS,
  });
  const byCheck = groupBy(stored, ({ checkId }) => checkId);
  const known = new Map([...byCheck].map(([checkId, rows]) => [checkId, [...rows]]));
  let fresh: NewMissed[] = [];
  let slots = 0;
  for (const range of ranges) {
    const { checkId, reason, stepMs } = range;
    const others = known.get(checkId) ?? [];
    const own: MissedRow[] = [];
    for (const part of splitByDay(range)) {
      const shared = overlapMask(part, others);
      for (const left of subtractSlots(part, (number) => shared[number] === 1)) {
        const row = { ...left, checkId, location, reason, stepMs };
        own.push(row);
        fresh.push(row);
        if (fresh.length < ROWS_AT_ONCE) continue;
        slots += await insertNotRun(tx, accountId, fresh, yieldWhenDue);
        fresh = [];
      }
      await yieldWhenDue();
    }
    for (const row of own) others.push(row);
    known.set(checkId, others);
  }
  return slots + (await insertNotRun(tx, accountId, fresh, yieldWhenDue));
}

/**
 * Stores the slots without a FINAL.
 *
 * @returns how many
 */
async function insertNotRun(
  tx: Sql,
  accountId: string,
  rows: readonly NewMissed[],
  yieldWhenDue: YieldWhenDue,
): Promise<number> {
  const run = await slotsWithFinal(tx, accountId, rows, yieldWhenDue);
  const missed: NewMissed[] = [];
  for (const [at, row] of rows.entries()) {
    for (const left of subtractSlots(row, (number) => run[at]?.has(number) ?? false)) {
      missed.push({ ...row, ...left });
    }
    await yieldWhenDue();
  }
  await insertAll(tx, accountId, missed, yieldWhenDue);
  return missed.reduce((slots, { count }) => slots + count, 0);
}

async function insertAll(
  tx: Sql,
  accountId: string,
  rows: readonly NewMissed[],
  yieldWhenDue: YieldWhenDue,
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const batch = rows.slice(from, from + ROWS_AT_ONCE);
    await insertMissed(tx, { accountId, rows: batch, maxSpanMs: MAX_SPAN_MS });
    await yieldWhenDue();
  }
}

/** Up to this many runs are looked up one by one, instead of reading all FINALs of their day. */
const FEW_SLOTS = 4;

/** For each range, the indexes of the slots that have a FINAL. */
async function slotsWithFinal(
  tx: Sql,
  accountId: string,
  rows: readonly MissedRow[],
  yieldWhenDue: YieldWhenDue,
): Promise<readonly ReadonlySet<number>[]> {
  const run = rows.map(() => new Set<number>());
  const few = rows.flatMap((row, at) => (row.count <= FEW_SLOTS ? runsOf(row, at) : []));
  for (const found of await indexesOfRunsWithFinal(tx, { accountId, runs: few })) {
    const { at, number } = few[found] ?? {};
    if (at !== undefined && number !== undefined) run[at]?.add(number);
  }
  const long = rows.flatMap((row, at) => (row.count > FEW_SLOTS ? [{ ...row, at }] : []));
  for (const { range, sequenceId, slotMs } of await finalsBetween(tx, {
    accountId,
    ranges: long,
  })) {
    await yieldWhenDue();
    const row = long[range];
    const number = row === undefined ? -1 : slotIndexAt(row, slotMs);
    if (row === undefined || number === -1) continue;
    const { checkId, location } = row;
    if (sequenceIdOf(checkId, location, slotMs) === sequenceId) run[row.at]?.add(number);
  }
  return run;
}

function runsOf(row: MissedRow, at: number) {
  const { checkId, location } = row;
  return slotInstants(row).map((slotMs, number) => {
    return { at, number, checkId, slotMs, sequenceId: sequenceIdOf(checkId, location, slotMs) };
  });
}

/** Removes the slots of FINALs that arrived late from stored ranges. */
export async function removeMissed(
  tx: Sql,
  {
    accountId,
    location,
    finals,
  }: {
    readonly accountId: string;
    /** The location of the ranges; null for all. */
    readonly location: string | null;
    readonly finals: readonly RunSlot[];
  },
  yieldWhenDue: YieldWhenDue,
): Promise<void> {
  if (finals.length === 0) return;
  const slots = finals.map(({ slotMs }) => slotMs);
  const stored = await missedBetween(tx, {
    accountId,
    location,
    checkIds: [...new Set(finals.map(({ checkId }) => checkId))],
    fromMs: least(slots),
    toMs: -least(slots.map((slotMs) => -slotMs)),
    maxSpanMs: MAX_SPAN_MS,
  });
  if (stored.length === 0) return;
  const ofCheck = groupBy(finals, ({ checkId }) => checkId);
  const changed: MissedRow[] = [];
  const left: MissedRow[] = [];
  for (const row of stored) {
    const run = new Set<number>();
    for (const { checkId, sequenceId, slotMs } of ofCheck.get(row.checkId) ?? []) {
      const number = slotIndexAt(row, slotMs);
      if (number !== -1 && sequenceIdOf(checkId, row.location, slotMs) === sequenceId) {
        run.add(number);
      }
    }
    await yieldWhenDue();
    if (run.size === 0) continue;
    changed.push(row);
    for (const part of subtractSlots(row, (number) => run.has(number)))
      left.push({ ...row, ...part });
  }
  await deleteMissed(tx, { accountId, rows: changed });
  await insertAll(tx, accountId, left, yieldWhenDue);
}

/** `Math.min(...numbers)` would overflow the stack with too many numbers. */
function least(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
}
