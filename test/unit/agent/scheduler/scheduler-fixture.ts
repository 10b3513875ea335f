import type { Run } from '../../../../src/agent/run/run.ts';
import type { Permit } from '../../../../src/agent/scheduler/permits/permits.ts';
import type { RunKind } from '../../../../src/agent/scheduler/run-queue.ts';
import { Scheduler } from '../../../../src/agent/scheduler/scheduler.ts';
import { type Check, checkBodySchema } from '../../../../src/model/check/check.ts';
import type { Frequency } from '../../../../src/model/enums.ts';
import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import type { Moment } from '../../../../src/runtime/boot-clock.ts';
import { sleep } from '../../../../src/runtime/wait.ts';
import type { OneOff } from '../../../../src/wire/v1/assignment.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const YEAR = 365 * DAY;

/** A whole minute, hour and day. */
export const T0 = Date.UTC(2026, 0, 1);

/** Slots at whole minutes: the largest offset is a whole period. */
export function everyMinute(id: string): Check {
  return checkOf(id, 1, 10);
}

export function checkOf(id: string, frequency: Frequency, frequencyOffset: number | null): Check {
  const body = checkBodySchema.parse({
    checkType: 'TCP',
    name: id,
    frequency,
    frequencyOffset,
    request: { hostname: 'localhost', port: 9 },
  });
  return { ...body, id };
}

export interface Start {
  readonly id: string;
  readonly check: Check;
  readonly slotMs: number;
  readonly lateMs: number;
  readonly kind: RunKind;
  /** Seconds from T0 to the slot. */
  readonly slotS: number;
}

interface UploadFixtureOptions {
  readonly concurrency?: number;
  readonly maxWaiting?: number;
  readonly wallMs?: number;
  /** How long the run of a slot takes; 0 by default. */
  readonly durationMs?: (check: Check, slotMs: number) => number;
  /** What the slots wait for after a standstill. */
  readonly onStoodStill?: (since: Moment) => Promise<void> | null;
  readonly run?: (
    check: Check,
    slotMs: number,
    signal: AbortSignal,
    place: Permit,
  ) => Promise<void>;
}

/** A scheduler with a fake clock, and everything that it reported. */
export class SchedulerFixture {
  readonly clock: FakeClock;
  readonly scheduler: Scheduler;
  readonly starts: Start[] = [];
  readonly missed: MissedSlots[] = [];
  readonly faults: { fault: unknown; check: Check | null }[] = [];
  readonly clockSteps: number[] = [];
  /** The slots that were paused when they were due: check and seconds from T0. */
  readonly paused: (readonly [id: string, slotS: number])[] = [];
  /** The most concurrent runs, in total and of one check, without one-off runs. */
  readonly most = { running: 0, ofOneCheck: 0 };
  /** The calls of the observer: "began a" or "ended a", and the seconds from T0. */
  readonly accounted: (readonly [what: string, slotS: number])[] = [];
  /** By check and slot: how many runs have begun and not ended. */
  readonly unfinished = new Map<string, number>();
  /** All runs in the order in which the runner got them. */
  readonly runs: Run[] = [];
  readonly #active = new Map<string, number>();
  #asked = 0;

  constructor({
    concurrency = 10,
    maxWaiting = 10,
    wallMs = T0,
    durationMs = () => 0,
    run,
    onStoodStill,
  }: UploadFixtureOptions = {}) {
    this.clock = new FakeClock(wallMs);
    const runFor = (check: Check, slotMs: number, signal: AbortSignal): Promise<unknown> =>
      sleep(this.clock, durationMs(check, slotMs), signal);
    this.scheduler = new Scheduler({
      clock: this.clock,
      concurrency,
      ...(onStoodStill === undefined ? {} : { onStoodStill }),
      maxWaiting,
      run: (made) => {
        const { check, slotMs, signal, permit: place } = made;
        this.runs.push(made);
        const ofCheck = made.sequenceId === null ? check.id : made.sequenceId;
        return this.#count(ofCheck, () => (run ?? runFor)(check, slotMs, signal, place));
      },
      onMissed: (missed) => this.missed.push(missed),
      slots: {
        began: (id, slotMs) => this.#record(`began ${id}`, slotMs, 1),
        ended: (id, slotMs) => this.#record(`ended ${id}`, slotMs, -1),
      },
      onFault: (fault, check) => this.faults.push({ fault, check }),
      observer: {
        started: (check, slotMs, lateMs, kind) =>
          this.starts.push({
            id: check.id,
            check,
            slotMs,
            lateMs,
            kind,
            slotS: (slotMs - T0) / SECOND,
          }),
        paused: ({ id }, slotMs) => this.paused.push([id, (slotMs - T0) / SECOND]),
        clockStepped: (stepMs) => this.clockSteps.push(stepMs),
      },
    });
  }

  /** Asks for a run beside the plan, at once. */
  ask(check: Check): void {
    const runId = `asked ${this.#asked}`;
    this.#asked += 1;
    const nowMs = this.clock.wallMs();
    const run: OneOff = {
      runId,
      check,
      reason: 'requested',
      slot: nowMs,
      sequenceId: runId,
      notBefore: null,
      notAfter: nowMs + YEAR,
      retriesMade: 0,
      firstStartedAt: null,
    };
    this.scheduler.runOnce(run, () => {});
  }

  begin(...checks: readonly Check[]): void {
    this.scheduler.setChecks(checks);
    this.scheduler.start();
  }

  /** Seconds from T0 of the slots that started, in the order of their starts. */
  get startedS(): readonly number[] {
    return this.starts.map(({ slotS }) => slotS);
  }

  /** What was missed, in seconds from T0. */
  get missedS(): readonly (readonly [id: string, fromS: number, toS: number, reason: string])[] {
    return this.missed.map(({ checkId, slot, lastSlot, reason }) => [
      checkId,
      (slot - T0) / SECOND,
      (lastSlot - T0) / SECOND,
      reason,
    ]);
  }

  #record(what: string, slotMs: number, change: number): void {
    this.accounted.push([what, (slotMs - T0) / SECOND]);
    const slot = `${what.slice('began '.length)} ${slotMs}`;
    const count = (this.unfinished.get(slot) ?? 0) + change;
    if (count === 0) this.unfinished.delete(slot);
    else this.unfinished.set(slot, count);
  }

  async #count(id: string, run: () => Promise<unknown>): Promise<void> {
    const ofCheck = (this.#active.get(id) ?? 0) + 1;
    this.#active.set(id, ofCheck);
    const running = [...this.#active.values()].reduce((sum, count) => sum + count, 0);
    this.most.running = Math.max(this.most.running, running);
    this.most.ofOneCheck = Math.max(this.most.ofOneCheck, ofCheck);
    try {
      await run();
    } finally {
      this.#active.set(id, ofCheck - 1);
    }
  }
}

/** An end that the test decides on. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
