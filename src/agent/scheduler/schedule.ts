import type { Check } from '../../model/check/check.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { RotationRule } from '../../model/schedule/rotation.ts';
import { lastSlotAt } from '../../model/schedule/slot-rule.ts';
import type { Clock } from '../../runtime/clock.ts';
import { NO_PAUSES, type PauseSource, pauseTimesOf, unpausedSlots } from '../slots/check-pauses.ts';
import type { ClockInterval } from '../slots/sleep-and-clock-steps.ts';
import type { Due } from './run-queue.ts';
import { hasSameSlots, type ScheduledCheck, scheduledCheckOf } from './scheduled-check.ts';
import { SlotHeap } from './slot-heap.ts';
import type { Timeline } from './timeline.ts';

/** The difference between a new set of checks and the previous one. */
export interface ScheduleChange {
  /** Checks in both sets. Their definitions and pauses may have changed. */
  readonly retained: readonly ScheduledCheck[];
  readonly gone: readonly ScheduledCheck[];
  /**
   * Slots that were due and not taken yet, of checks that are gone or that another agent is
   * responsible for.
   */
  readonly missed: readonly MissedSlots[];
}

export interface PausedSlot {
  readonly check: Check;
  readonly slotMs: number;
}

/** A check's slots in an interval. Paused slots are not missed. */
export interface TakenSlots {
  readonly missed: readonly MissedSlots[];
  /** The slot to run now; null if it is paused, was run already, or all slots are too late. */
  readonly due: Due | null;
  /** The slot that would run now if its check were not paused. */
  readonly paused: PausedSlot | null;
}

export const NO_TAKEOVERS: ReadonlyMap<string, number> = new Map();

/** The scheduled checks, each with its next slot. */
export class Schedule {
  readonly #clock: Clock;
  readonly #timeline: Timeline;
  readonly #heap = new SlotHeap<ScheduledCheck>();
  #scheduled: ReadonlyMap<string, ScheduledCheck> = new Map();

  constructor(clock: Clock, timeline: Timeline) {
    this.#clock = clock;
    this.#timeline = timeline;
  }

  get size(): number {
    return this.#scheduled.size;
  }

  /** Epoch milliseconds of the earliest slot that was not taken; Infinity without checks. */
  get nextSlotMs(): number {
    return this.#heap.top()?.nextSlotMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Replaces the checks; ignores deactivated ones.
   *
   * @param answeredUntilMs by check id, the instant (not after now) up to which another agent is
   *   responsible for its slots: none of them is taken. They are still reported as missed, since
   *   the other agent may not have run all of them; its report of a slot takes precedence
   */
  replace(
    checks: readonly Check[],
    rotations: ReadonlyMap<string, RotationRule>,
    pausing: PauseSource = NO_PAUSES,
    answeredUntilMs: ReadonlyMap<string, number> = NO_TAKEOVERS,
  ): ScheduleChange {
    const presentMs = this.#timeline.presentMs;
    const before = this.#scheduled;
    const scheduled = new Map<string, ScheduledCheck>();
    const timesOf = pauseTimesOf(pausing);
    const retained: ScheduledCheck[] = [];
    const missed: MissedSlots[] = [];
    for (const check of checks) {
      if (!check.activated) continue;
      const known = before.get(check.id);
      const rotation = rotations.get(check.id) ?? null;
      const fresh = { check, rotation, pauses: timesOf(check) };
      const adopted = this.#adopt(fresh, known, presentMs);
      const answeredMs = answeredUntilMs.get(check.id) ?? Number.NEGATIVE_INFINITY;
      if (answeredMs >= adopted.nextSlotMs) {
        missed.push(...this.#leftBy(adopted, answeredMs));
        adopted.nextSlotMs = this.#timeline.nextSlotAfter(adopted.rule, answeredMs);
      }
      scheduled.set(check.id, adopted);
      if (known !== undefined) retained.push(adopted);
    }
    const gone = [...before.values()].filter(({ check }) => !scheduled.has(check.id));
    this.#scheduled = scheduled;
    this.#heap.refill(scheduled.values());
    for (const left of gone) missed.push(...this.#leftBy(left, presentMs));
    return { retained, gone, missed };
  }

  /** Sets each check's next slot to the first one after the instant that was not run. */
  reschedule(instantMs: number): void {
    for (const scheduled of this.#scheduled.values()) {
      scheduled.nextSlotMs = this.#timeline.nextSlotAfter(scheduled.rule, instantMs);
    }
    this.#heap.refill(this.#scheduled.values());
  }

  /**
   * Takes all slots of one check in the interval: of the check whose next slot is the earliest.
   * Only the last slot is run, if it is not too late. null if no check has a slot in the interval.
   */
  takeNext({ toMs, atMonotonicMs, reason }: ClockInterval): TakenSlots | null {
    const next = this.#heap.top();
    if (next === null || next.nextSlotMs > toMs) return null;
    const { check, rule, pauses, toleranceMs, nextSlotMs: firstMs } = next;
    const lastMs = lastSlotAt(rule, toMs);
    next.nextSlotMs = this.#timeline.nextSlotAfter(rule, toMs);
    this.#heap.topMoved();

    const dueMonotonicMs = atMonotonicMs - (toMs - lastMs);
    const isInTime = this.#clock.monotonicMs() - dueMonotonicMs <= toleranceMs;
    const isToRun = isInTime && !this.#timeline.isCovered(lastMs);
    const lastMissedMs = isToRun ? lastMs - rule.periodMs : lastMs;
    const missed = this.#missedOf(next, { firstMs, lastMs: lastMissedMs }, reason);
    if (!isToRun) return { missed, due: null, paused: null };
    if (pauses.isPausedAt(lastMs)) {
      return { missed, due: null, paused: { check, slotMs: lastMs } };
    }
    const isReported = this.#timeline.isReported(lastMs);
    const due = { check, slotMs: lastMs, dueMonotonicMs, toleranceMs, isReported };
    return { missed, due, paused: null };
  }

  /** The slots of a check up to the instant that were not taken yet. */
  #leftBy(left: ScheduledCheck, upToMs: number): readonly MissedSlots[] {
    const lastMs = lastSlotAt(left.rule, upToMs);
    return this.#missedOf(left, { firstMs: left.nextSlotMs, lastMs }, 'agent_asleep');
  }

  #missedOf(
    { check, rule, pauses }: ScheduledCheck,
    { firstMs, lastMs }: { readonly firstMs: number; readonly lastMs: number },
    reason: MissedSlots['reason'],
  ): readonly MissedSlots[] {
    if (firstMs > lastMs) return [];
    const ranges = this.#timeline.unreported(rule, firstMs, lastMs);
    return ranges
      .flatMap((range) => unpausedSlots(rule, range, pauses))
      .map((range) => ({ checkId: check.id, ...range, reason }));
  }

  #adopt(
    { check, rotation, pauses }: Pick<ScheduledCheck, 'check' | 'rotation' | 'pauses'>,
    known: ScheduledCheck | undefined,
    presentMs: number,
  ): ScheduledCheck {
    if (known === undefined) {
      const added = scheduledCheckOf(check, rotation, pauses);
      added.nextSlotMs = this.#timeline.nextSlotAfter(added.rule, presentMs);
      return added;
    }
    if (hasSameSlots(known, check, rotation)) {
      known.check = check;
      known.pauses = pauses;
      return known;
    }
    const changed = scheduledCheckOf(check, rotation, pauses);
    // Slots before the old next one are done, including those that both rules have.
    const doneMs = Math.min(presentMs, known.nextSlotMs - 1);
    changed.nextSlotMs = this.#timeline.nextSlotAfter(changed.rule, doneMs);
    return changed;
  }
}
