import type { Check } from '../../model/check.ts';
import type { MissedReason, MissedSlots } from '../../model/result.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Place, Places } from '../run/places.ts';
import type { Run } from '../run/runner.ts';
import { type AskedRun, isTooLate } from './one-offs.ts';
import type { SlotAccounting } from './slot-accounting.ts';
import { WaitingLine } from './waiting-line.ts';

/** `slot`: due by the check's plan. `one_off`: asked for. */
export type RunKind = 'slot' | 'one_off';

/** A run that is to start now. */
export interface Due {
  readonly check: Check;
  readonly slotMs: number;
  /** When the slot was, by the monotonic clock: it then matters no more how the wall is set. */
  readonly dueMonotonicMs: number;
  /** How long after that it may start. Infinity for a one-off. */
  readonly toleranceMs: number;
  /** The clock was set forward over the slot before, and back: that it was missed is known. */
  readonly isReported: boolean;
}

export interface RunQueueOptions {
  readonly clock: Clock;
  /** Runs at once, 1 or more. */
  readonly concurrency: number;
  readonly run: (run: Run) => Promise<void>;
  readonly onStarted: (check: Check, slotMs: number, lateMs: number, kind: RunKind) => void;
  readonly onMissed: (missed: MissedSlots) => void;
  readonly account: SlotAccounting;
  /** A run threw: a fault of our own. */
  readonly onFault: (fault: unknown, check: Check) => void;
}

/** A run from the moment it is due. */
interface Ticket {
  /** The check's id; of an asked run a name that no check has. */
  readonly key: string;
  /** A run that came with a name of its own, and runs beside all others of its check. */
  readonly asked: AskedRun | null;
  due: Due;
  kind: RunKind;
  /** Aborts it; null while it waits in the line. */
  stop: AbortController | null;
  ended: Promise<void>;
  /** The plan's slot that came while a one-off of the same check was running. */
  held: Due | null;
}

const EXPIRY_INTERVAL_MS = 1000;

/**
 * Runs what is due, at most `concurrency` at once; the rest waits in the order it came, until its
 * tolerance is over. There are never two runs of one check, but for asked ones: those have slots of
 * their own, and must cost the check's plan none.
 *
 * What waits stands in a line of our own and not in the places' queue, where each would take 2 KB
 * and leaving it early would cost a search of the whole queue.
 */
export class RunQueue {
  readonly #options: RunQueueOptions;
  readonly #places: Places;
  /** By key: at most one that runs or waits. */
  readonly #runs = new Map<string, Ticket>();
  readonly #line = new WaitingLine<Ticket>();
  #held = 0;
  #nextExpiryMs = 0;
  #state: 'open' | 'closed' = 'open';

  constructor(options: RunQueueOptions) {
    this.#options = options;
    this.#places = new Places(options.concurrency, () => this.#fillPlaces());
  }

  /** Runs at work; those that only wait for their next attempt are left out. */
  get running(): number {
    return this.#places.running;
  }

  /** Slots that are due, and retries, that wait for a place. */
  get queued(): number {
    return this.#line.size + this.#held + this.#places.queued;
  }

  /** Runs that began and have not ended, at work or waiting for their next attempt. */
  get unfinished(): number {
    return this.#runs.size - this.#line.size;
  }

  /** Takes a slot of the plan: it starts, waits, or is reported as missed. */
  submit(due: Due): void {
    if (this.#state === 'closed') {
      this.#miss(due, 'agent_stopped');
      return;
    }
    const previous = this.#runs.get(due.check.id);
    if (previous === undefined) {
      this.#began(due);
      this.#enqueue(due, 'slot');
    } else if (previous.kind === 'one_off' && previous.stop === null) {
      // The run that was asked for becomes the plan's own, and keeps its place in the line.
      this.#began(due);
      previous.due = due;
      previous.kind = 'slot';
    } else if (previous.kind === 'one_off' && previous.held === null) {
      this.#began(due);
      previous.held = due;
      this.#held += 1;
    } else {
      this.#miss(due, 'previous_run_active');
    }
  }

  /** Takes a run that was asked for, unless one of the check is running or waiting already. */
  submitOneOff(due: Due): void {
    if (this.#state === 'open' && !this.#runs.has(due.check.id)) this.#enqueue(due, 'one_off');
  }

  /** Takes a run that is asked for by a name of its own; the caller sees to it that it is new. */
  submitAsked(asked: AskedRun): void {
    if (this.#state === 'closed') {
      asked.onEnded('stopped');
      return;
    }
    const { check, slot: slotMs } = asked.run;
    const dueMonotonicMs = this.#options.clock.monotonicMs();
    const toleranceMs = asked.latestMs - dueMonotonicMs;
    const due = { check, slotMs, dueMonotonicMs, toleranceMs, isReported: false };
    this.#enqueue(due, 'one_off', asked);
  }

  /** What waits for this check will run by its new definition. */
  redefine(check: Check): void {
    const run = this.#runs.get(check.id);
    if (run === undefined) return;
    if (run.stop === null) run.due = { ...run.due, check };
    if (run.held !== null) run.held = { ...run.held, check };
  }

  /** Forgets what waits for a check that is no more; its running run goes on. */
  withdraw(checkId: string): void {
    const run = this.#runs.get(checkId);
    if (run === undefined) return;
    if (run.stop === null) {
      this.#leave(run);
      if (run.kind === 'slot') this.#ended(run.due);
    }
    const held = this.#unhold(run);
    if (held !== null) this.#ended(held);
  }

  /** Reports the slots that have waited longer than their tolerance; looks once a second. */
  expire(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#nextExpiryMs) return;
    this.#nextExpiryMs = nowMs + EXPIRY_INTERVAL_MS;
    for (const run of this.#line.items()) {
      if (this.#isTooLate(run)) this.#giveUp(run, 'agent_busy');
    }
    if (this.#held === 0) return;
    for (const run of this.#runs.values()) {
      if (run.held !== null && this.#isPastTolerance(run.held)) {
        this.#giveUpHeld(run, 'previous_run_active');
      }
    }
  }

  /**
   * Starts nothing more, reports what waits as missed, and resolves when the last run has ended.
   * When `graceSignal` aborts, the signals of the runs do.
   */
  async drain(graceSignal: AbortSignal): Promise<void> {
    this.#state = 'closed';
    for (const run of this.#line.items()) this.#giveUp(run, 'agent_stopped');
    const active = [...this.#runs.values()];
    for (const run of active) this.#giveUpHeld(run, 'agent_stopped');
    const cut = (): void => {
      for (const { stop } of active) stop?.abort();
    };
    if (graceSignal.aborted) cut();
    graceSignal.addEventListener('abort', cut, { once: true });
    await Promise.all(active.map(({ ended }) => ended));
    graceSignal.removeEventListener('abort', cut);
  }

  #unhold(run: Ticket): Due | null {
    const { held } = run;
    if (held === null) return null;
    run.held = null;
    this.#held -= 1;
    return held;
  }

  #enqueue(due: Due, kind: RunKind, asked: AskedRun | null = null): void {
    // No check id has a slash.
    const key = asked === null ? due.check.id : `/${asked.run.runId}`;
    const run: Ticket = { key, asked, due, kind, stop: null, ended: Promise.resolve(), held: null };
    this.#runs.set(key, run);
    this.#line.push(run);
    this.#fillPlaces();
  }

  #fillPlaces(): void {
    while (this.#places.isFree) {
      const run = this.#line.shift();
      if (run === null) return;
      if (this.#isTooLate(run)) this.#giveUp(run, 'agent_busy');
      else void this.#places.take((place) => this.#start(run, place));
    }
  }

  /** Resolves when the run has ended, however it did. */
  #start(run: Ticket, place: Place): Promise<void> {
    const { check, slotMs, dueMonotonicMs } = run.due;
    const stop = new AbortController();
    run.stop = stop;
    const lateMs = this.#options.clock.monotonicMs() - dueMonotonicMs;
    this.#options.onStarted(check, slotMs, lateMs, run.kind);
    run.ended = this.#runToEnd(run, stop.signal, place);
    return run.ended;
  }

  async #runToEnd(run: Ticket, signal: AbortSignal, place: Place): Promise<void> {
    const { due, asked } = run;
    const { check, slotMs } = due;
    const sequenceId = asked?.run.sequenceId ?? null;
    const retriesMade = asked?.run.retriesMade ?? 0;
    const firstStartedAtMs = asked?.run.firstStartedAt ?? null;
    const identity = { check, slotMs, sequenceId, retriesMade, firstStartedAtMs };
    try {
      await this.#options.run({ ...identity, signal, place });
    } catch (fault) {
      this.#options.onFault(fault, check);
      if (asked === null) this.#miss(due, 'agent_fault');
    }
    this.#runs.delete(run.key);
    asked?.onEnded(signal.aborted ? 'stopped' : 'ended');
    if (run.kind === 'slot') this.#ended(due);
    if (run.held === null) return;
    if (this.#isPastTolerance(run.held)) {
      this.#giveUpHeld(run, 'previous_run_active');
      return;
    }
    const held = this.#unhold(run);
    if (held !== null) this.#enqueue(held, 'slot');
  }

  #giveUp(run: Ticket, reason: MissedReason): void {
    this.#leave(run);
    run.asked?.onEnded(reason === 'agent_stopped' ? 'stopped' : 'too_late');
    if (run.kind !== 'slot') return;
    this.#miss(run.due, reason);
    this.#ended(run.due);
  }

  #giveUpHeld(run: Ticket, reason: MissedReason): void {
    const held = this.#unhold(run);
    if (held === null) return;
    this.#miss(held, reason);
    this.#ended(held);
  }

  #leave(run: Ticket): void {
    this.#line.remove(run);
    this.#runs.delete(run.key);
  }

  #began({ check, slotMs }: Due): void {
    this.#options.account.began(check.id, slotMs);
  }

  /** After all that comes of it is told. */
  #ended({ check, slotMs }: Due): void {
    this.#options.account.ended(check.id, slotMs);
  }

  #isTooLate({ asked, due }: Ticket): boolean {
    return asked === null ? this.#isPastTolerance(due) : isTooLate(asked, this.#options.clock);
  }

  #isPastTolerance({ dueMonotonicMs, toleranceMs }: Due): boolean {
    return this.#options.clock.monotonicMs() - dueMonotonicMs > toleranceMs;
  }

  #miss(due: Due, reason: MissedReason): void {
    if (due.isReported) return;
    const { check, slotMs } = due;
    this.#options.onMissed({
      checkId: check.id,
      slot: slotMs,
      lastSlot: slotMs,
      count: 1,
      reason,
    });
  }
}
