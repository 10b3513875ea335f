import type { Check } from '../../model/check/check.ts';
import type { MissedReason, MissedSlots } from '../../model/result/missed-slots.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isRunCancelled, RUN_CANCELLED } from '../run/cancellation.ts';
import type { Run } from '../run/run.ts';
import type { SlotObserver } from '../slots/slot-observer.ts';
import { isTooLate, type OneOffRequest } from './one-offs.ts';
import { type Permit, RunPermits } from './permits/permits.ts';
import { RemovableQueue } from './removable-queue.ts';
import type { ScheduledCheck } from './scheduled-check.ts';

/** `slot`: a slot of the check. `one_off`: a requested run. */
export type RunKind = 'slot' | 'one_off';

/** A run that is due now. */
export interface Due {
  readonly check: Check;
  readonly slotMs: number;
  /** The monotonic instant of the slot, which later steps of the wall clock do not change. */
  readonly dueMonotonicMs: number;
  /** How many milliseconds after that instant the run may start; Infinity for a one-off. */
  readonly toleranceMs: number;
  /** The slot was already reported as missed: the clock was set forward over it, and back. */
  readonly isReported: boolean;
}

export interface RunQueueOptions {
  readonly clock: Clock;
  /** Maximum number of working runs, 1 or more. */
  readonly concurrency: number;
  /** Maximum number of runs that only wait for their targets, in addition to the working ones. */
  readonly maxWaiting: number;
  readonly run: (run: Run) => Promise<void>;
  readonly onStarted: (check: Check, slotMs: number, lateMs: number, kind: RunKind) => void;
  readonly onMissed: (missed: MissedSlots) => void;
  /** Called when a new pause covers a waiting slot, which is then neither run nor missed. */
  readonly onPaused: (check: Check, slotMs: number) => void;
  readonly slots: SlotObserver;
  /** Called when a run throws, which is a fault of the agent. */
  readonly onFault: (fault: unknown, check: Check) => void;
}

/** A run from the moment it is due. */
interface Ticket {
  /** The check's id; for a one-off run a name that no check has. */
  readonly key: string;
  /** Set for a one-off run, which may overlap with other runs of its check. */
  readonly oneOff: OneOffRequest | null;
  due: Due;
  /** Aborts the run; null while it waits. */
  stop: AbortController | null;
  ended: Promise<void>;
}

const EXPIRY_INTERVAL_MS = 1000;

/** The permit of a run that does no work. */
const NO_PERMIT: Permit = {
  attempt: (attempt) => attempt(() => {}),
  rest: (wait) => wait(),
};

/** Starts with a slash, which no check id contains. */
function keyOf(runId: string): string {
  return `/${runId}`;
}

/**
 * Runs what is due: at most `concurrency` working runs at once, and `maxWaiting` others that only
 * wait for their targets. The rest waits in order of arrival until its tolerance is over. Two runs of
 * one check never overlap, except one-off runs, which must not cost the check a slot.
 *
 * Runs wait in a RemovableQueue: in the permits' queue each would take 2 KB, and removing one early
 * would search the whole queue.
 */
export class RunQueue {
  readonly #options: RunQueueOptions;
  readonly #permits: RunPermits;
  /** Waiting and active runs by key. */
  readonly #runs = new Map<string, Ticket>();
  readonly #line = new RemovableQueue<Ticket>();
  #nextExpiryMs = 0;
  #state: 'open' | 'closed' = 'open';
  /** No run may start: permits stay free. */
  #isHalted: boolean = false;

  constructor(options: RunQueueOptions) {
    this.#options = options;
    const { concurrency, maxWaiting } = options;
    this.#permits = new RunPermits({
      concurrency,
      maxWaiting,
      onFreed: () => this.#startWaiting(),
    });
  }

  /** Working runs; runs that only wait do not count. */
  get running(): number {
    return this.#permits.running;
  }

  /** Runs that only wait for their targets. */
  get waiting(): number {
    return this.#permits.waiting;
  }

  /** Whether runs retain their permits because too many already wait for their targets. */
  get isWaitingFull(): boolean {
    return this.#permits.isWaitingFull;
  }

  /** Runs and retries that wait for a permit. */
  get queued(): number {
    return this.#line.size + this.#permits.queued;
  }

  /** Runs that began and have not ended, working or waiting. */
  get unfinished(): number {
    return this.#runs.size - this.#line.size;
  }

  /** No run starts until `resume`; new ones wait, active ones continue. */
  halt(): void {
    this.#isHalted = true;
  }

  resume(): void {
    this.#isHalted = false;
    this.#startWaiting();
  }

  /** Takes a slot of a check: it starts, waits, or is reported as missed. */
  submit(due: Due): void {
    if (this.#state === 'closed') {
      this.#miss(due, 'agent_stopped');
      return;
    }
    if (this.#runs.has(due.check.id)) {
      this.#miss(due, 'previous_run_active');
      return;
    }
    this.#began(due);
    this.#enqueue(due, null);
  }

  /** Takes a one-off run, which must be new. */
  submitOneOff(oneOff: OneOffRequest): void {
    if (this.#state === 'closed') {
      oneOff.onEnded('stopped');
      return;
    }
    this.#enqueue(this.#dueNow(oneOff), oneOff);
  }

  /**
   * Cancels a one-off run that waits for a permit or is active: its FINAL has no verdict. Ignores
   * an unknown runId.
   */
  cancelOneOff(runId: string): void {
    const run = this.#runs.get(keyOf(runId));
    if (run === undefined) return;
    if (run.stop !== null) {
      run.stop.abort(RUN_CANCELLED);
      return;
    }
    this.#line.remove(run);
    this.#endCancelled(run);
  }

  /** Reports a one-off run that was cancelled before it was due. */
  submitCancelled(oneOff: OneOffRequest): void {
    const run = this.#ticketOf(this.#dueNow(oneOff), oneOff);
    this.#runs.set(run.key, run);
    this.#endCancelled(run);
  }

  /**
   * A waiting run of this check takes the new definition, unless its slot is paused by now. An
   * active run continues, with its retries.
   */
  redefine({ check, pauses }: Pick<ScheduledCheck, 'check' | 'pauses'>): void {
    const run = this.#runs.get(check.id);
    if (run?.stop !== null) return;
    run.due = { ...run.due, check };
    if (!pauses.isPausedAt(run.due.slotMs)) return;
    this.#leave(run);
    this.#options.onPaused(check, run.due.slotMs);
    this.#ended(run.due);
  }

  /**
   * Drops the check's slots up to the instant (default: all). A waiting one is missed: another
   * agent that has the check now answers only for later slots. An active run continues.
   */
  withdraw(checkId: string, upToMs = Number.POSITIVE_INFINITY): void {
    const run = this.#runs.get(checkId);
    if (run?.stop === null && run.due.slotMs <= upToMs) this.#release(run, 'agent_busy');
  }

  /** Reports the slots that have waited longer than their tolerance; checks once a second. */
  expire(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#nextExpiryMs) return;
    this.#nextExpiryMs = nowMs + EXPIRY_INTERVAL_MS;
    for (const run of this.#line.items()) {
      if (this.#isTooLate(run)) this.#release(run, 'agent_busy');
    }
  }

  /**
   * Starts no more runs, reports waiting slots as missed, and resolves when the last run has ended.
   * Aborts the active runs when `graceSignal` aborts.
   */
  async drain(graceSignal: AbortSignal): Promise<void> {
    this.#state = 'closed';
    for (const run of this.#line.items()) this.#release(run, 'agent_stopped');
    const active = [...this.#runs.values()];
    const cut = (): void => {
      for (const { stop } of active) stop?.abort();
    };
    if (graceSignal.aborted) cut();
    graceSignal.addEventListener('abort', cut, { once: true });
    await Promise.all(active.map(({ ended }) => ended));
    graceSignal.removeEventListener('abort', cut);
  }

  #enqueue(due: Due, oneOff: OneOffRequest | null): void {
    const run = this.#ticketOf(due, oneOff);
    this.#runs.set(run.key, run);
    this.#line.push(run);
    this.#startWaiting();
  }

  #ticketOf(due: Due, oneOff: OneOffRequest | null): Ticket {
    const key = oneOff === null ? due.check.id : keyOf(oneOff.run.runId);
    return { key, oneOff, due, stop: null, ended: Promise.resolve() };
  }

  #dueNow({ run: { check, slot: slotMs } }: OneOffRequest): Due {
    const dueMonotonicMs = this.#options.clock.monotonicMs();
    const toleranceMs = Number.POSITIVE_INFINITY;
    return { check, slotMs, dueMonotonicMs, toleranceMs, isReported: false };
  }

  /** Reports a run that never began as cancelled. It probes nothing, so it needs no permit. */
  #endCancelled(run: Ticket): void {
    const stop = new AbortController();
    stop.abort(RUN_CANCELLED);
    run.stop = stop;
    run.ended = this.#runToEnd(run, stop.signal, NO_PERMIT);
  }

  #startWaiting(): void {
    while (this.#permits.isFree && !this.#isHalted) {
      const run = this.#line.shift();
      if (run === null) return;
      if (this.#isTooLate(run)) this.#release(run, 'agent_busy');
      else void this.#permits.take((permit) => this.#start(run, permit));
    }
  }

  /** Resolves when the run has ended, also after a fault. */
  #start(run: Ticket, permit: Permit): Promise<void> {
    const { check, slotMs, dueMonotonicMs } = run.due;
    const stop = new AbortController();
    run.stop = stop;
    const lateMs = this.#options.clock.monotonicMs() - dueMonotonicMs;
    this.#options.onStarted(check, slotMs, lateMs, run.oneOff === null ? 'slot' : 'one_off');
    run.ended = this.#runToEnd(run, stop.signal, permit);
    return run.ended;
  }

  async #runToEnd(run: Ticket, signal: AbortSignal, permit: Permit): Promise<void> {
    const { due, oneOff } = run;
    const { check, slotMs } = due;
    const sequenceId = oneOff?.run.sequenceId ?? null;
    const retriesMade = oneOff?.run.retriesMade ?? 0;
    const firstStartedAtMs = oneOff?.run.firstStartedAt ?? null;
    const identity = { check, slotMs, sequenceId, retriesMade, firstStartedAtMs };
    try {
      await this.#options.run({ ...identity, signal, permit });
    } catch (fault) {
      this.#options.onFault(fault, check);
      if (oneOff === null) this.#miss(due, 'agent_fault');
    }
    this.#runs.delete(run.key);
    oneOff?.onEnded(signal.aborted && !isRunCancelled(signal) ? 'stopped' : 'ended');
    if (oneOff === null) this.#ended(due);
  }

  #release(run: Ticket, reason: MissedReason): void {
    this.#leave(run);
    run.oneOff?.onEnded(reason === 'agent_stopped' ? 'stopped' : 'too_late');
    if (run.oneOff !== null) return;
    this.#miss(run.due, reason);
    this.#ended(run.due);
  }

  #leave(run: Ticket): void {
    this.#line.remove(run);
    this.#runs.delete(run.key);
  }

  #began({ check, slotMs }: Due): void {
    this.#options.slots.began(check.id, slotMs);
  }

  /** Called after its result is reported. */
  #ended({ check, slotMs }: Due): void {
    this.#options.slots.ended(check.id, slotMs);
  }

  #isTooLate({ oneOff, due }: Ticket): boolean {
    const { clock } = this.#options;
    if (oneOff !== null) return isTooLate(oneOff, clock);
    return clock.monotonicMs() - due.dueMonotonicMs > due.toleranceMs;
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
