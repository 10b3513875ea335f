import { sequenceIdOf } from '../../../model/ids.ts';
import type { YieldWhenDue } from '../../../runtime/event-loop.ts';
import type { Sql } from '../../database/port.ts';
import {
  MAX_SPAN_MS,
  numberOf,
  partsOf,
  type SlotRange,
  sharedWith,
  slotsOf,
  without,
} from '../slot-ranges.ts';
import { finalsBetween, type RunSlot, runsWithFinal } from '../sql.ts';
import { deleteMissed, insertMissed, type MissedRow, missedBetween } from './sql.ts';

/**
 * Keeps what was missed and what was run apart: no slot of a check in a location is in two stored
 * ranges, and none that has a FINAL is in any. For whoever holds the checks by `lockSubjects`, or
 * two at once would overlook each other.
 */

/** A range as it is told; it may span any time. */
export type MissedRange = SlotRange & Pick<MissedRow, 'checkId' | 'reason'>;

/** A range may leave a row for every second of its slots. */
const ROWS_AT_ONCE = 2_000;

/**
 * Stores what of the ranges is neither run nor stored yet. Of two ranges with a slot in common the
 * first one stored keeps it, with its reason.
 *
 * @param turn called after each day of a range: a sender can make each take some milliseconds
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
  turn: YieldWhenDue,
): Promise<void> {
  if (ranges.length === 0) return;
  const stored = await missedBetween(tx, {
    accountId,
    location,
    checkIds: [...new Set(ranges.map(({ checkId }) => checkId))],
    fromMs: least(ranges.map(({ slot }) => slot)),
    toMs: -least(ranges.map(({ lastSlot }) => -lastSlot)),
    maxSpanMs: MAX_SPAN_MS,
  });
  const known = byCheck<MissedRow>(stored);
  let fresh: MissedRow[] = [];
  for (const range of ranges) {
    const { checkId, reason } = range;
    const others = known.get(checkId) ?? [];
    const own: MissedRow[] = [];
    for (const part of partsOf(range)) {
      const shared = sharedWith(part, others);
      for (const left of without(part, (number) => shared[number] === 1)) {
        const row = { ...left, checkId, location, reason };
        own.push(row);
        fresh.push(row);
        if (fresh.length < ROWS_AT_ONCE) continue;
        await insertNotRun(tx, accountId, fresh, turn);
        fresh = [];
      }
      await turn();
    }
    for (const row of own) others.push(row);
    known.set(checkId, others);
  }
  await insertNotRun(tx, accountId, fresh, turn);
}

/** Stores what of the rows has no FINAL. */
async function insertNotRun(
  tx: Sql,
  accountId: string,
  rows: readonly MissedRow[],
  turn: YieldWhenDue,
): Promise<void> {
  const run = await numbersRun(tx, accountId, rows, turn);
  const missed: MissedRow[] = [];
  for (const [at, row] of rows.entries()) {
    for (const left of without(row, (number) => run[at]?.has(number) ?? false)) {
      missed.push({ ...row, ...left });
    }
    await turn();
  }
  await insertAll(tx, accountId, missed, turn);
}

async function insertAll(
  tx: Sql,
  accountId: string,
  rows: readonly MissedRow[],
  turn: YieldWhenDue,
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await insertMissed(tx, { accountId, rows: rows.slice(from, from + ROWS_AT_ONCE) });
    await turn();
  }
}

/** Up to so many runs are asked for one by one; all of a day would be read for them else. */
const FEW_SLOTS = 4;

/** Of each of the ranges, the numbers of the slots that have a FINAL. */
async function numbersRun(
  tx: Sql,
  accountId: string,
  rows: readonly MissedRow[],
  turn: YieldWhenDue,
): Promise<readonly ReadonlySet<number>[]> {
  const run = rows.map(() => new Set<number>());
  const few = rows.flatMap((row, at) => (row.count <= FEW_SLOTS ? runsOf(row, at) : []));
  for (const found of await runsWithFinal(tx, { accountId, runs: few })) {
    const { at, number } = few[found] ?? {};
    if (at !== undefined && number !== undefined) run[at]?.add(number);
  }
  const long = rows.flatMap((row, at) => (row.count > FEW_SLOTS ? [{ ...row, at }] : []));
  for (const { range, sequenceId, slotMs } of await finalsBetween(tx, {
    accountId,
    ranges: long,
  })) {
    await turn();
    const row = long[range];
    const number = row === undefined ? -1 : numberOf(row, slotMs);
    if (row === undefined || number === -1) continue;
    const { checkId, location } = row;
    if (sequenceIdOf(checkId, location, slotMs) === sequenceId) run[row.at]?.add(number);
  }
  return run;
}

function runsOf(row: MissedRow, at: number) {
  const { checkId, location } = row;
  return slotsOf(row).map((slotMs, number) => {
    return { at, number, checkId, slotMs, sequenceId: sequenceIdOf(checkId, location, slotMs) };
  });
}

/** Takes the slots of FINALs that came late out of the ranges that have them. */
export async function removeMissed(
  tx: Sql,
  {
    accountId,
    location,
    finals,
  }: {
    readonly accountId: string;
    /** Whose ranges are looked at; null for those of all. */
    readonly location: string | null;
    readonly finals: readonly RunSlot[];
  },
  turn: YieldWhenDue,
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
  const ofCheck = byCheck(finals);
  const changed: MissedRow[] = [];
  const left: MissedRow[] = [];
  for (const row of stored) {
    const run = new Set<number>();
    for (const { checkId, sequenceId, slotMs } of ofCheck.get(row.checkId) ?? []) {
      const number = numberOf(row, slotMs);
      if (number !== -1 && sequenceIdOf(checkId, row.location, slotMs) === sequenceId) {
        run.add(number);
      }
    }
    await turn();
    if (run.size === 0) continue;
    changed.push(row);
    for (const part of without(row, (number) => run.has(number))) left.push({ ...row, ...part });
  }
  await deleteMissed(tx, { accountId, rows: changed });
  await insertAll(tx, accountId, left, turn);
}

function byCheck<T extends { readonly checkId: string }>(items: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(item.checkId);
    if (group === undefined) groups.set(item.checkId, [item]);
    else group.push(item);
  }
  return groups;
}

/** Of any number of numbers: a call with all of them would run out of stack. */
function least(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
}
