import type { Check } from '../../model/check/check.ts';
import type { MissedSlots } from '../../model/result/result.ts';
import type { RotationRule } from '../../model/schedule/rotation.ts';
import type { CancelTimer, Clock } from '../../runtime/clock.ts';
import { type Moment, momentOf, passedMs } from '../../runtime/up-time.ts';
import type { OneOff } from '../../wire/v1/assignment.ts';
import type { Run } from '../run/runner.ts';
import { NO_PAUSES, type Pausing } from '../slots/check-pauses.ts';
import type { ClockInterval } from '../slots/clock-interval.ts';
import type { SlotObserver } from '../slots/slot-observer.ts';
import { type OneOffOutcome, OneOffs } from './one-offs.ts';
import { NONE_ANSWERED, Plan } from './plan.ts';
import { type RunKind, RunQueue } from './run-queue.ts';
import { Timeline } from './timeline.ts';

/** The wall clock is read at least this often, so that a step of it is noticed. */
const MAX_WAIT_MS = 1000;
const NO_TURNS: ReadonlyMap<string, RotationRule> = new Map();
/** After this long a turn lets the event loop go on, and takes the rest up behind it. */
const TURN_BUDGET_MS = 4;
/** Without a turn for so long the process stood still: it was stopped, starved, or the machine slept. */
const STOOD_STILL_MS = 2 * MAX_WAIT_MS;

export interface SchedulerObserver {
  /** `lateMs`: how long after its slot the run started; of a one-off, how long it had to wait. */
  started(check: Check, slotMs: number, lateMs: number, kind: RunKind): void;
  /** The slot was due and is not run, as its check is paused. */
  paused?(check: Check, slotMs: number): void;
  /** The wall clock was set, by a second or more; below 0: back. */
  clockStepped?(stepMs: number): void;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  /** Runs at work at once, 1 or more (JOB_CONCURRENCY). */
  readonly concurrency: number;
  /** Runs that wait for their peers at once, beside those. */
  readonly maxWaiting: number;
  /** Its signal aborts when a drain's grace is over. A rejection is a fault of our own. */
  readonly run: (run: Run) => Promise<void>;
  readonly onMissed: (missed: MissedSlots) => void;
  readonly account: SlotObserver;
  /**
   * Something of our own threw: a run (with its check) or a callback. Scheduling goes on. This one
   * must not throw.
   */
  readonly onFault: (fault: unknown, check: Check | null) => void;
  readonly observer: SchedulerObserver;
  /**
   * Told of each time that the process stood still, with the moment of the last turn before. Nothing is
   * started until what it gives resolves; it must not reject. null: it goes on at once.
   */
  readonly onStoodStill?: (since: Moment) => Promise<void> | null;
}

/**
 * Starts every check at its slots (SEMANTICS 1, frequency and frequencyOffset).
 *
 * | State    | Turns                      | Slots                                | Leaves it by      |
 * |----------|----------------------------|--------------------------------------|-------------------|
 * | idle     | no                         | of the time before the start: none   | start(), drain()  |
 * | running  | at each slot, every second | started, or reported as missed       | drain()           |
 * | draining | every second, for liveness | none start; those that wait are told | last run's end    |
 * | stopped  | no                         | none                                 | –                 |
 *
 * A turn takes all slots that the wall clock passed since the turn before (a stretch), earliest
 * first. When that takes too long, further turns go on with the same stretch. Only when it is done
 * does the time count as lived.
 *
 * After the process stood still, turns take no slots until it is known whose they are by now.
 */
export class Scheduler {
  readonly #clock: Clock;
  readonly #onMissed: (missed: MissedSlots) => void;
  readonly #onFault: SchedulerOptions['onFault'];
  readonly #observer: SchedulerObserver;
  readonly #onPaused: (check: Check, slotMs: number) => void;
  readonly #queue: RunQueue;
  readonly #maxWaiting: number;
  readonly #timeline: Timeline;
  readonly #plan: Plan;
  readonly #oneOffs: OneOffs;

  #state: 'idle' | 'running' | 'draining' | 'stopped' = 'idle';
  #cancelWake: CancelTimer | null = null;
  #lastTurnMs: number;
  #lastTurn: Moment;
  readonly #onStoodStill: NonNullable<SchedulerOptions['onStoodStill']>;
  /** Nothing starts until it resolves. */
  #held: Promise<void> | null = null;

  constructor(options: SchedulerOptions) {
    this.#clock = options.clock;
    this.#maxWaiting = options.maxWaiting;
    this.#onFault = options.onFault;
    this.#observer = options.observer;
    this.#onMissed = (missed) => this.#guard(() => options.onMissed(missed));
    this.#onPaused = (...slot) => this.#guard(() => options.observer.paused?.(...slot));
    this.#queue = new RunQueue({
      clock: options.clock,
      concurrency: options.concurrency,
      maxWaiting: options.maxWaiting,
      run: options.run,
      onStarted: (...run) => this.#guard(() => options.observer.started(...run)),
      onMissed: this.#onMissed,
      onPaused: this.#onPaused,
      account: {
        began: (...slot) => this.#guard(() => options.account.began(...slot)),
        ended: (...slot) => this.#guard(() => options.account.ended(...slot)),
      },
      onFault: options.onFault,
    });
    this.#oneOffs = new OneOffs(options.clock);
    this.#timeline = new Timeline(options.clock);
    this.#plan = new Plan(options.clock, this.#timeline);
    this.#lastTurnMs = options.clock.monotonicMs();
    this.#lastTurn = momentOf(options.clock);
    this.#onStoodStill = options.onStoodStill ?? (() => null);
  }

  /** Runs at work; those that only wait are left out. */
  get running(): number {
    return this.#queue.running;
  }

  /** Runs that only wait for their peers. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  get maxWaiting(): number {
    return this.#maxWaiting;
  }

  /** Runs keep their places for want of room among those that wait for their peers. */
  get isWaitingFull(): boolean {
    return this.#queue.isWaitingFull;
  }

  /** Runs and retries that wait for a place. */
  get queued(): number {
    return this.#queue.queued;
  }

  /** Runs that began and have not ended, at work or waiting. */
  get unfinished(): number {
    return this.#queue.unfinished;
  }

  /** Checks that are scheduled, so without the deactivated ones. */
  get checks(): number {
    return this.#plan.size;
  }

  /**
   * Epoch milliseconds: every slot up to this instant was started or reported, or `account` was
   * told that it began. A slot after it may be due already, and not looked at yet.
   */
  get reachedMs(): number {
    return this.#timeline.reachedMs;
  }

  /** Monotonic instant of the last turn, or of the making; from start() on a second old at most. */
  get lastTurnMs(): number {
    return this.#lastTurnMs;
  }

  /** From now on slots are started; the first is the next one after now. */
  start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'running';
    this.#timeline.begin();
    this.#lastTurnMs = this.#clock.monotonicMs();
    this.#lastTurn = momentOf(this.#clock);
    this.#plan.reschedule(this.#timeline.presentMs);
    this.#wake();
  }

  /**
   * Takes these checks in place of those before; deactivated ones are left out. A check that is
   * due at the same instants as before keeps its next slot, one whose slots changed goes on with
   * its new ones, and a new one starts with its first slot after now. Slots of one that is gone
   * which were due and have not begun are missed: another agent may have it now, from here on.
   *
   * A slot whose instant lies in a pause is not run and not missed, also where it waits already; one
   * that began goes on.
   *
   * @param turns by check id, which of its slots are run here; all where there is none
   * @param pausing when slots are skipped
   * @param answered by check id, up to which instant (epoch milliseconds) its slots are another's; those
   *   that are due and have not begun are missed like those of a check that is gone
   */
  setChecks(
    checks: readonly Check[],
    turns: ReadonlyMap<string, RotationRule> = NO_TURNS,
    pausing: Pausing = NO_PAUSES,
    answered: ReadonlyMap<string, number> = NONE_ANSWERED,
  ): void {
    // The service's clock may be ahead of this one.
    const { presentMs } = this.#timeline;
    const past = new Map([...answered].map(([id, atMs]) => [id, Math.min(atMs, presentMs)]));
    const { kept, gone, missed } = this.#plan.replace(checks, turns, pausing, past);
    for (const scheduled of kept) this.#queue.redefine(scheduled);
    for (const [checkId, answeredMs] of past) this.#queue.withdraw(checkId, answeredMs);
    for (const left of gone) this.#queue.withdraw(left.check.id);
    if (this.#state === 'running') this.#tellMissed(missed);
    if (this.#state === 'running') this.#wake();
  }

  /**
   * Runs what a service asks for, at `notBefore` and never from `notAfter` on: beside the plan, of
   * which it costs no slot, by its own definition of the check and under its own name. It runs where
   * the check is paused, too: somebody asked for it, or it ends a run that began before. One whose
   * runId is known is ignored. `onEnded` is called once, whatever becomes of it, and may be called
   * before this returns.
   */
  runOnce(run: OneOff, onEnded: (outcome: OneOffOutcome) => void): void {
    const ended = (outcome: OneOffOutcome): void => this.#guard(() => onEnded(outcome));
    if (this.#state === 'draining' || this.#state === 'stopped') {
      ended('stopped');
      return;
    }
    this.#oneOffs.add(run, ended);
    if (this.#state === 'running') this.#wake();
  }

  /**
   * Starts nothing more and reports the slots that wait as missed (agent_stopped). Resolves when
   * the running runs have ended; when `graceSignal` aborts, their signals do.
   */
  async drain(graceSignal: AbortSignal): Promise<void> {
    const wasRunning = this.#state === 'running';
    if (this.#state !== 'stopped') this.#state = 'draining';
    this.#oneOffs.stop();
    const drained = this.#queue.drain(graceSignal);
    // The queue is closed, so this reports what was due and not yet looked at: what is left of a
    // stretch that a turn had to break off, and then the time that went by meanwhile.
    if (this.#timeline.stretch !== null) this.#turnUntil(Number.POSITIVE_INFINITY);
    if (wasRunning) this.#turnUntil(Number.POSITIVE_INFINITY);
    this.#wake();
    await drained;
    this.#state = 'stopped';
    this.#cancelWake?.();
    this.#cancelWake = null;
  }

  #turn(): void {
    this.#cancelWake = null;
    this.#lastTurnMs = this.#clock.monotonicMs();
    const before = this.#lastTurn;
    this.#lastTurn = momentOf(this.#clock);
    const stoodStill = passedMs(before, this.#lastTurn) >= STOOD_STILL_MS;
    if (this.#state === 'running' && stoodStill) this.#holdIfAsked(before);
    if (this.#state === 'running' && this.#held === null) {
      this.#guard(() => this.#turnUntil(this.#lastTurnMs + TURN_BUDGET_MS));
    }
    this.#wake();
  }

  #holdIfAsked(since: Moment): void {
    let asked: Promise<void> | null = null;
    this.#guard(() => {
      asked = this.#onStoodStill(since);
    });
    if (asked !== null) void this.#hold(asked);
  }

  async #hold(until: Promise<void>): Promise<void> {
    this.#held = until;
    this.#queue.hold();
    await until;
    // It stood still once more meanwhile, or nothing is to start any more.
    if (this.#held !== until || this.#state !== 'running') return;
    this.#held = null;
    this.#queue.goOn();
    this.#cancelWake?.();
    this.#turn();
  }

  /** Stops at the monotonic instant; an open stretch and `#oneOffs` hold what is left. */
  #turnUntil(endMs: number): void {
    this.#queue.expire();
    const stretch = this.#timeline.stretch ?? this.#openStretch();
    for (;;) {
      const taken = this.#plan.takeNext(stretch);
      if (taken === null) break;
      this.#tellMissed(taken.missed);
      if (taken.paused !== null) this.#onPaused(taken.paused.check, taken.paused.slotMs);
      if (taken.due !== null) this.#queue.submit(taken.due);
      if (this.#clock.monotonicMs() >= endMs) return;
    }
    this.#timeline.close(stretch);
    for (let asked = this.#oneOffs.next(); asked !== null; asked = this.#oneOffs.next()) {
      this.#queue.submitAsked(asked);
      if (this.#clock.monotonicMs() >= endMs) return;
    }
  }

  #openStretch(): ClockInterval {
    const stretch = this.#timeline.open();
    if (stretch.isNotable)
      this.#guard(() => this.#observer.clockStepped?.(Math.round(stretch.stepMs)));
    // The clock is back in a time that was not lived: its slots come first.
    if (this.#timeline.isRewound) this.#plan.reschedule(stretch.fromMs);
    return stretch;
  }

  #tellMissed(all: readonly MissedSlots[]): void {
    for (const missed of all) this.#onMissed(missed);
  }

  /** Sets the one timer, or the event loop's next round where something is left to do. */
  #wake(): void {
    this.#cancelWake?.();
    if (this.#state === 'running' && this.#timeline.stretch !== null && this.#held === null) {
      const immediate = setImmediate(() => this.#turn());
      this.#cancelWake = () => clearImmediate(immediate);
    } else {
      this.#cancelWake = this.#clock.after(this.#waitMs(), () => this.#turn());
    }
  }

  #waitMs(): number {
    if (this.#state !== 'running' || this.#held !== null) return MAX_WAIT_MS;
    const slotInMs = this.#plan.nextSlotMs - this.#clock.wallMs();
    return Math.min(slotInMs, this.#oneOffs.nextInMs, MAX_WAIT_MS);
  }

  #guard(action: () => void): void {
    try {
      action();
    } catch (fault) {
      this.#onFault(fault, null);
    }
  }
}
