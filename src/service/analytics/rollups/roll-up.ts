import { DAY_MS, MINUTE_MS } from '../../../model/time-units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { runEvery } from '../../../runtime/run-every.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { everyHour } from '../../database/every-hour.ts';
import { removePastRetention } from '../../database/retention.ts';
import type { Sql, Store } from '../../database/store.ts';
import { storeErrorKind } from '../../database/store-errors.ts';
import { QUARTER_DAYS, type RollUpSpan, startOf } from './plan-segments.ts';
import {
  advanceBackfill,
  type CheckTime,
  countMissedDays,
  dropRollUpPartition,
  lockRollUps,
  makeRollUpPartitions,
  markSpan,
  nextBackfill,
  oldestResultMs,
  removeMissedDays,
  rollUpDays,
  rollUpRuns,
  type TakenMark,
  takeMarks,
} from './roll-up.sql.ts';

export interface RollUpParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  /** How many whole days of results are stored, in addition to today. */
  readonly retentionDays: number;
  /** How many whole days of roll-ups are stored, in addition to today; at least `retentionDays`. */
  readonly rollUpRetentionDays: number;
}

/** Computes and removes the roll-ups of runs and missed slots: src/service/README.md, "Analytics". */
export interface RollUps {
  /** Computes all roll-ups that are due, then backfills those of results that have none. */
  rollUp(signal: AbortSignal): Promise<void>;
  /** Until the signal aborts, rolls up, makes partitions and drops old ones. Logs failures. */
  maintain(signal: AbortSignal): Promise<void>;
}

const EVERY_MS = 15_000;
const MAX_BACK_OFF_MS = 300_000;
/** A batch takes about 50 ms, during which late results of the same checks wait. */
const MARKS_AT_ONCE = 200;
/** Days of checks in one batch: each has up to 1,440 runs if the check runs every minute. */
const BACKFILL_AT_ONCE = 20;
const MISSED_DAYS_AT_ONCE = 5_000;
/** Partitions are created this early: roll-ups continue even if creating them fails for some days. */
const DAYS_AHEAD = 3;
/** One day more than is read, since clocks differ. */
const KEPT_QUARTER_DAYS = QUARTER_DAYS + 1;
/** How much longer results are retained if they have no roll-ups yet. */
const GRACE_DAYS = 3;

export function createRollUps(parts: RollUpParts): RollUps {
  const { store, clock, log, retentionDays } = parts;
  const keptDays = Math.max(parts.rollUpRetentionDays, retentionDays + GRACE_DAYS);
  const today = (): number => startOf(clock.wallMs(), DAY_MS);
  const quartersFromMs = (): number => today() - KEPT_QUARTER_DAYS * DAY_MS;
  let partitionsOfMs: number | null = null;

  /** Results older than the retention are not taken in. */
  async function makePartitions(): Promise<void> {
    const day = today();
    if (partitionsOfMs === day) return;
    await makeRollUpPartitions(store, {
      fromMs: day - (retentionDays + GRACE_DAYS) * DAY_MS,
      toMs: day + DAYS_AHEAD * DAY_MS,
      quartersFromMs: quartersFromMs(),
    });
    partitionsOfMs = day;
  }

  async function rollUpMarked(tx: Sql, marks: readonly TakenMark[]): Promise<void> {
    const droppedMs = await oldestResultMs(tx);
    const ofRuns = marks.filter(({ kind }) => kind === 'runs');
    // Days are computed from hours, which remain.
    const kept = ofRuns.filter(({ startMs, span }) => startMs >= droppedMs || span === 1440);
    if (kept.length < ofRuns.length) {
      const lost = countText(ofRuns.length - kept.length, 'roll-up');
      log.warn(`${lost} could not be computed: their results were dropped before`);
    }
    const quarters = timesOf(kept, 15);
    const hours = timesOf(kept, 60);
    const days = timesOf(kept, 1440);
    const shown = quarters.filter(({ fromMs }) => fromMs >= quartersFromMs());
    if (shown.length > 0) await rollUpRuns(tx, { span: 15, times: shown });
    if (quarters.length > 0) await markSpan(tx, { span: 60, times: quarters });
    if (hours.length > 0) {
      await rollUpRuns(tx, { span: 60, times: hours });
      await markSpan(tx, { span: 1440, times: hours });
    }
    if (days.length > 0) await rollUpDays(tx, days);
    // Missed slots of older days are no longer all stored: their counts stay as they are.
    const countedFromMs = today() - retentionDays * DAY_MS;
    const missed = timesOf(
      marks.filter(({ kind, startMs }) => kind === 'missed' && startMs >= countedFromMs),
      1440,
    );
    if (missed.length > 0) await countMissedDays(tx, missed);
  }

  /** @returns whether there may be more */
  function rollUpDue(): Promise<boolean> {
    return store.transaction(async (tx) => {
      if (!(await lockRollUps(tx))) return false;
      const marks = await takeMarks(tx, { nowMs: clock.wallMs(), limit: MARKS_AT_ONCE });
      if (marks.length > 0) await rollUpMarked(tx, marks);
      // Hours are due after their quarter hours, and days after their hours.
      return marks.length > 0;
    });
  }

  /** @returns whether there may be more */
  function backfill(): Promise<boolean> {
    return store.transaction(async (tx) => {
      if (!(await lockRollUps(tx))) return false;
      const next = await nextBackfill(tx, { limit: BACKFILL_AT_ONCE });
      if (next === null) return false;
      const { dayMs, checks } = next;
      const times = checks.map((check) => ({ ...check, fromMs: dayMs, toMs: dayMs + DAY_MS }));
      if (times.length > 0) {
        if (dayMs >= quartersFromMs()) await rollUpRuns(tx, { span: 15, times });
        await rollUpRuns(tx, { span: 60, times });
        await rollUpDays(tx, times);
      }
      const after = checks.length < BACKFILL_AT_ONCE ? null : (checks.at(-1) ?? null);
      await advanceBackfill(tx, { dayMs, after });
      return true;
    });
  }

  /** Roll-ups that became due in the meantime come first. */
  async function step(): Promise<boolean> {
    await makePartitions();
    return (await rollUpDue()) || (await backfill());
  }

  async function removeOld(signal: AbortSignal): Promise<void> {
    const rollUpsFromMs = today() - keptDays * DAY_MS;
    const kept = { quartersFromMs: quartersFromMs(), rollUpsFromMs };
    const dropped: string[] = [];
    for (let name = await dropRollUpPartition(store, kept); name !== null; ) {
      dropped.push(name);
      name = await dropRollUpPartition(store, kept);
    }
    if (dropped.length > 0) log.info({ dropped }, 'dropped roll-ups past their retention');
    await removePastRetention(
      { clock, retentionDays: keptDays },
      MISSED_DAYS_AT_ONCE,
      (old) => removeMissedDays(store, old),
      signal,
    );
  }

  return {
    async rollUp(signal) {
      while (!signal.aborted && (await step()));
    },

    async maintain(signal) {
      const options = {
        everyMs: EVERY_MS,
        maxMs: MAX_BACK_OFF_MS,
        failure: 'roll-ups of results could not be computed',
        kindOf: storeErrorKind,
        log,
      };
      const failure = 'roll-ups past their retention could not be removed';
      await Promise.all([
        runEvery(clock, options, step, signal),
        everyHour(parts, failure, () => removeOld(signal), signal),
      ]);
    },
  };
}

function timesOf(marks: readonly TakenMark[], span: RollUpSpan): readonly CheckTime[] {
  return marks
    .filter((mark) => mark.span === span)
    .map(({ accountId, checkId, startMs }) => ({
      accountId,
      checkId,
      fromMs: startMs,
      toMs: startMs + span * MINUTE_MS,
    }));
}
