import type { Check } from '../../model/check/check.ts';
import type { MissedSlots } from '../../model/result/missed-slots.ts';
import type { RotationRule } from '../../model/schedule/rotation.ts';
import { elapsedMs, type Moment, momentOf } from '../../runtime/boot-clock.ts';
import type { CancelTimer, Clock } from '../../runtime/clock.ts';
import type { OneOff } from '../../wire/v1/assignment.ts';
import type { Run } from '../run/run.ts';
import { NO_PAUSES, type PauseSource } from '../slots/check-pauses.ts';
import type { ClockInterval } from '../slots/sleep-and-clock-steps.ts';
import type { SlotObserver } from '../slots/slot-observer.ts';
import { type OneOffOutcome, OneOffs } from './one-offs.ts';
import { type RunKind, RunQueue } from './run-queue.ts';
import { NO_TAKEOVERS, Schedule } from './schedule.ts';
import { Timeline } from './timeline.ts';

/** The wall clock is read at least this often, to notice a step. */
const MAX_WAIT_MS = 1000;
const NO_ROTATIONS: ReadonlyMap<string, RotationRule> = new Map();
/** After this long a tick yields to the event loop and continues afterwards. */
const TICK_BUDGET_MS = 4;
/**
 * A gap between ticks that means a standstill: the process was stopped or starved, or the machine
 * slept.
 */
const STOOD_STILL_MS = 2 * MAX_WAIT_MS;

export interface SchedulerObserver {
  /** `lateMs`: from the slot to the start of the run; for a one-off, how long it waited. */
  started(check: Check, slotMs: number, lateMs: number, kind: RunKind): void;
  /** The slot was due and is not run because its check is paused. */
  paused?(check: Check, slotMs: number): void;
  /** The wall clock was set by a second or more; negative: back. */
  clockStepped?(stepMs: number): void;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  /** Maximum number of working runs, 1 or more (JOB_CONCURRENCY). */
  readonly concurrency: number;
  /** Maximum number of runs that only wait for their targets, in addition to the working ones. */
  readonly maxWaiting: number;
  /** `run.signal` aborts when the grace of a drain ends. A rejection is a fault of the agent. */
  readonly run: (run: Run) => Promise<void>;
  readonly onMissed: (missed: MissedSlots) => void;
  readonly slots: SlotObserver;
  /**
   * A fault of the agent: a run (with its check) or a callback threw. Scheduling continues. This
   * callback must not throw.
   */
  readonly onFault: (fault: unknown, check: Check | null) => void;
  readonly observer: SchedulerObserver;
  /**
   * Called after each standstill of the process with the moment of the last tick before it. No run
   * starts until the returned promise resolves; it must not reject. null: continues at once.
   */
  readonly onStoodStill?: (since: Moment) => Promise<void> | null;
}

/**
 * Starts every check at its slots (src/model/README.md, "When checks run").
 *
 * | State | Ticks | Slots | Leaves the state on |
 * |---|---|---|---|
 * | idle | no | ignored, also after start() | start(), drain() |
 * | running | at each slot, every second | started, or reported as missed | drain() |
 * | draining | every second, for liveness | none start; waiting ones are missed | last run's end |
 * | stopped | no | none | – |
 *
 * A tick takes all slots that the wall clock passed since the previous tick (an interval), earliest
 * first. If that takes too long, further ticks continue the same interval. The interval is covered
 * (src/agent/slots/time-coverage.ts) when all of its slots are taken.
 *
 * After a standstill, ticks take no slots until the current assignment is known.
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
  readonly #schedule: Schedule;
  readonly #oneOffs: OneOffs;

  #state: 'idle' | 'running' | 'draining' | 'stopped' = 'idle';
  #cancelWake: CancelTimer | null = null;
  #lastTickMs: number;
  #lastTick: Moment;
  readonly #onStoodStill: NonNullable<SchedulerOptions['onStoodStill']>;
  /** No run starts until it resolves. */
  #haltedUntil: Promise<void> | null = null;

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
      slots: {
        began: (...slot) => this.#guard(() => options.slots.began(...slot)),
        ended: (...slot) => this.#guard(() => options.slots.ended(...slot)),
      },
      onFault: options.onFault,
    });
    this.#oneOffs = new OneOffs(options.clock);
    this.#timeline = new Timeline(options.clock);
    this.#schedule = new Schedule(options.clock, this.#timeline);
    this.#lastTickMs = options.clock.monotonicMs();
    this.#lastTick = momentOf(options.clock);
    this.#onStoodStill = options.onStoodStill ?? (() => null);
  }

  /** Working runs; runs that only wait do not count. */
  get running(): number {
    return this.#queue.running;
  }

  /** Runs that only wait for their targets. */
  get waiting(): number {
    return this.#queue.waiting;
  }

  get maxWaiting(): number {
    return this.#maxWaiting;
  }

  /** Whether runs retain their permits because too many already wait for their targets. */
  get isWaitingFull(): boolean {
    return this.#queue.isWaitingFull;
  }

  /** Runs and retries that wait for a permit. */
  get queued(): number {
    return this.#queue.queued;
  }

  /** Runs that began and have not ended, working or waiting. */
  get unfinished(): number {
    return this.#queue.unfinished;
  }

  /** The number of scheduled checks, without the deactivated ones. */
  get checks(): number {
    return this.#schedule.size;
  }

  /**
   * Epoch milliseconds: every slot up to this instant was started or reported, or `slots.began`
   * was called for it. A later slot may be due already and not taken yet.
   */
  get reachedMs(): number {
    return this.#timeline.reachedMs;
  }

  /** Monotonic instant of the last tick (or construction); after start() a second old at most. */
  get lastTickMs(): number {
    return this.#lastTickMs;
  }

  /** Starts slots from now on; the first is the next one after now. */
  start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'running';
    this.#timeline.begin();
    this.#lastTickMs = this.#clock.monotonicMs();
    this.#lastTick = momentOf(this.#clock);
    this.#schedule.reschedule(this.#timeline.presentMs);
    this.#wake();
  }

  /**
   * Replaces the checks; ignores deactivated ones. A check that is due at the same instants as
   * before retains its next slot, one whose slots changed continues with its new ones, and a new
   * one starts with its first slot after now. Due slots of a removed check that have not begun are
   * missed: another agent may have the check from now on.
   *
   * A slot in a pause is neither run nor missed, even when it waits already; an active run
   * continues.
   *
   * @param rotations by check id, which of its slots are run here; default: all
   * @param pausing when slots are skipped
   * @param answeredUntilMs by check id, the instant (epoch milliseconds) up to which another agent
   *   is responsible for its slots; due ones that have not begun are missed like those of a removed
   *   check
   */
  setChecks(
    checks: readonly Check[],
    rotations: ReadonlyMap<string, RotationRule> = NO_ROTATIONS,
    pausing: PauseSource = NO_PAUSES,
    answeredUntilMs: ReadonlyMap<string, number> = NO_TAKEOVERS,
  ): void {
    // The service's clock may be ahead of this one.
    const { presentMs } = this.#timeline;
    const past = new Map([...answeredUntilMs].map(([id, atMs]) => [id, Math.min(atMs, presentMs)]));
    const { retained, gone, missed } = this.#schedule.replace(checks, rotations, pausing, past);
    for (const scheduled of retained) this.#queue.redefine(scheduled);
    for (const [checkId, answeredMs] of past) this.#queue.withdraw(checkId, answeredMs);
    for (const left of gone) this.#queue.withdraw(left.check.id);
    if (this.#state === 'running') this.#reportMissed(missed);
    if (this.#state === 'running') this.#wake();
  }

  /**
   * Starts a one-off run of the service between `notBefore` and `notAfter`. It costs no slot, and
   * has its own definition of the check and its own id. It also runs if the check is paused: a user
   * requested it, or it continues a run. Ignores a known runId. Calls `onEnded` exactly once,
   * possibly before this returns.
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
   * Ends a one-off run, waiting or active, with a FINAL that has no verdict. Its `onEnded` is
   * called with `ended`. Ignores a run that has ended or is not known.
   */
  cancelOneOff(runId: string): void {
    const waiting = this.#oneOffs.take(runId);
    if (waiting === null) this.#queue.cancelOneOff(runId);
    else this.#queue.submitCancelled(waiting);
  }

  /**
   * Starts no more runs and reports waiting slots as missed (agent_stopped). Resolves when the
   * active runs have ended; aborts them when `graceSignal` aborts.
   */
  async drain(graceSignal: AbortSignal): Promise<void> {
    const wasRunning = this.#state === 'running';
    if (this.#state !== 'stopped') this.#state = 'draining';
    this.#oneOffs.stop();
    const drained = this.#queue.drain(graceSignal);
    // The queue is closed, so this reports due slots as missed: first the rest of an interrupted
    // interval, then the time since.
    if (this.#timeline.openInterval !== null) this.#takeUntil(Number.POSITIVE_INFINITY);
    if (wasRunning) this.#takeUntil(Number.POSITIVE_INFINITY);
    this.#wake();
    await drained;
    this.#state = 'stopped';
    this.#cancelWake?.();
    this.#cancelWake = null;
  }

  #tick(): void {
    this.#cancelWake = null;
    this.#lastTickMs = this.#clock.monotonicMs();
    const before = this.#lastTick;
    this.#lastTick = momentOf(this.#clock);
    const stoodStill = elapsedMs(before, this.#lastTick) >= STOOD_STILL_MS;
    if (this.#state === 'running' && stoodStill) this.#haltIfNeeded(before);
    if (this.#state === 'running' && this.#haltedUntil === null) {
      this.#guard(() => this.#takeUntil(this.#lastTickMs + TICK_BUDGET_MS));
    }
    this.#wake();
  }

  #haltIfNeeded(since: Moment): void {
    let until: Promise<void> | null = null;
    this.#guard(() => {
      until = this.#onStoodStill(since);
    });
    if (until !== null) void this.#halt(until);
  }

  async #halt(until: Promise<void>): Promise<void> {
    this.#haltedUntil = until;
    this.#queue.halt();
    await until;
    // Another standstill may have begun meanwhile, or a drain.
    if (this.#haltedUntil !== until || this.#state !== 'running') return;
    this.#haltedUntil = null;
    this.#queue.resume();
    this.#cancelWake?.();
    this.#tick();
  }

  /** Stops at the monotonic instant; an open interval and `#oneOffs` retain the rest. */
  #takeUntil(endMs: number): void {
    this.#queue.expire();
    const interval = this.#timeline.openInterval ?? this.#openInterval();
    for (;;) {
      const taken = this.#schedule.takeNext(interval);
      if (taken === null) break;
      this.#reportMissed(taken.missed);
      if (taken.paused !== null) this.#onPaused(taken.paused.check, taken.paused.slotMs);
      if (taken.due !== null) this.#queue.submit(taken.due);
      if (this.#clock.monotonicMs() >= endMs) return;
    }
    this.#timeline.close(interval);
    for (let oneOff = this.#oneOffs.takeDue(); oneOff !== null; oneOff = this.#oneOffs.takeDue()) {
      this.#queue.submitOneOff(oneOff);
      if (this.#clock.monotonicMs() >= endMs) return;
    }
  }

  #openInterval(): ClockInterval {
    const interval = this.#timeline.open();
    if (interval.isNotable)
      this.#guard(() => this.#observer.clockStepped?.(Math.round(interval.stepMs)));
    // The clock was set back to a time that is not covered: take the slots of that time first.
    if (this.#timeline.isRewound) this.#schedule.reschedule(interval.fromMs);
    return interval;
  }

  #reportMissed(all: readonly MissedSlots[]): void {
    for (const missed of all) this.#onMissed(missed);
  }

  /** Sets the timer, or an immediate if an interval is open. */
  #wake(): void {
    this.#cancelWake?.();
    if (
      this.#state === 'running' &&
      this.#timeline.openInterval !== null &&
      this.#haltedUntil === null
    ) {
      const immediate = setImmediate(() => this.#tick());
      this.#cancelWake = () => clearImmediate(immediate);
    } else {
      this.#cancelWake = this.#clock.after(this.#waitMs(), () => this.#tick());
    }
  }

  #waitMs(): number {
    if (this.#state !== 'running' || this.#haltedUntil !== null) return MAX_WAIT_MS;
    const slotInMs = this.#schedule.nextSlotMs - this.#clock.wallMs();
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
