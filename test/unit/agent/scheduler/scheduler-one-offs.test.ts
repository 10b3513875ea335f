import { afterEach, describe, expect, it } from 'vitest';
import { isRunCancelled } from '../../../../src/agent/run/cancellation.ts';
import type { OneOffOutcome } from '../../../../src/agent/scheduler/one-offs.ts';
import type { Check } from '../../../../src/model/check/check.ts';
import type { OneOff } from '../../../../src/wire/v1/assignment.ts';
import {
  everyMinute,
  gate,
  HOUR,
  MINUTE,
  SchedulerFixture,
  SECOND,
  T0,
} from './scheduler-fixture.ts';

/** Requested at T0, due at once, and valid for a minute. */
function oneOff(runId: string, fields: Partial<OneOff> = {}): OneOff {
  return {
    runId,
    check: everyMinute('a'),
    reason: 'requested',
    slot: T0 - 1,
    sequenceId: `sequence-of-${runId}`,
    notBefore: null,
    notAfter: T0 + MINUTE,
    retriesMade: 0,
    firstStartedAt: null,
    ...fields,
  };
}

describe('Scheduler.runOnce', () => {
  let fixture = new SchedulerFixture();
  let outcomes: (readonly [runId: string, outcome: OneOffOutcome])[] = [];

  function ask(...runs: readonly OneOff[]): void {
    for (const run of runs) {
      fixture.scheduler.runOnce(run, (outcome) => outcomes.push([run.runId, outcome]));
    }
  }

  function begin(
    options: ConstructorParameters<typeof SchedulerFixture>[0],
    ...checks: Check[]
  ): void {
    fixture = new SchedulerFixture(options);
    outcomes = [];
    fixture.begin(...checks);
  }

  afterEach(async () => {
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(fixture.clock.pendingTimers).toBe(0);
    expect(fixture.unfinished.size).toBe(0);
  });

  it('runs at once, with its own id and the retries made before', async () => {
    begin({});
    ask(
      oneOff('asked'),
      oneOff('retry', { reason: 'retry', slot: T0 - HOUR, retriesMade: 2, firstStartedAt: T0 - 5 }),
    );
    await fixture.clock.advance(0);
    expect(fixture.runs).toMatchObject([
      { slotMs: T0 - 1, sequenceId: 'sequence-of-asked', retriesMade: 0, firstStartedAtMs: null },
      {
        slotMs: T0 - HOUR,
        sequenceId: 'sequence-of-retry',
        retriesMade: 2,
        firstStartedAtMs: T0 - 5,
      },
    ]);
    expect(fixture.starts.map(({ kind }) => kind)).toEqual(['one_off', 'one_off']);
    expect(outcomes).toEqual([
      ['asked', 'ended'],
      ['retry', 'ended'],
    ]);
  });

  it('ends a cancelled run, whether it waits to be due or for a permit or goes on', async () => {
    begin({ concurrency: 1, durationMs: () => HOUR });
    ask(
      oneOff('active', { notAfter: T0 + HOUR }),
      oneOff('queued', { notAfter: T0 + HOUR }),
      oneOff('later', { notBefore: T0 + MINUTE, notAfter: T0 + HOUR }),
    );
    await fixture.clock.advance(0);
    for (const runId of ['later', 'queued', 'nobody']) fixture.scheduler.cancelOneOff(runId);
    expect(fixture.scheduler.running).toBe(1);
    fixture.scheduler.cancelOneOff('active');
    await fixture.clock.advance(0);
    expect(outcomes.toSorted()).toEqual([
      ['active', 'ended'],
      ['later', 'ended'],
      ['queued', 'ended'],
    ]);
    expect(fixture.runs.map(({ signal }) => isRunCancelled(signal))).toEqual([true, true, true]);
    expect(fixture.starts).toHaveLength(1);
    expect([fixture.scheduler.running, fixture.scheduler.unfinished]).toEqual([0, 0]);
    fixture.scheduler.cancelOneOff('active');
  });

  it('gives slots no id of a one-off', async () => {
    begin({}, everyMinute('a'));
    await fixture.clock.advance(MINUTE);
    expect(fixture.runs).toMatchObject([
      { sequenceId: null, retriesMade: 0, firstStartedAtMs: null, slotMs: T0 + MINUTE },
    ]);
  });

  it('does not wait for a run of the same check, and costs no slot', async () => {
    begin({ durationMs: () => 20 * SECOND }, everyMinute('a'));
    await fixture.clock.advance(MINUTE + SECOND);
    ask(oneOff('one', { notAfter: T0 + HOUR }), oneOff('other', { notAfter: T0 + HOUR }));
    await fixture.clock.advance(0);
    expect(fixture.scheduler.running).toBe(3);
    await fixture.clock.advance(49 * SECOND);
    ask(oneOff('late', { notAfter: T0 + HOUR }));
    await fixture.clock.advance(MINUTE);
    expect(fixture.starts.filter(({ kind }) => kind === 'slot')).toMatchObject([
      { slotS: 60, lateMs: 0 },
      { slotS: 120, lateMs: 0 },
    ]);
    expect(outcomes.map(([runId]) => runId)).toEqual(['one', 'other', 'late']);
    expect(fixture.missed).toEqual([]);
  });

  it('starts at notBefore and not before', async () => {
    begin({});
    ask(
      oneOff('later', { notBefore: T0 + 20_500 }),
      oneOff('sooner', { notBefore: T0 + 10 * SECOND }),
    );
    await fixture.clock.advance(10 * SECOND - 1);
    expect(fixture.starts).toEqual([]);
    await fixture.clock.advance(1);
    expect(outcomes).toEqual([['sooner', 'ended']]);
    await fixture.clock.advance(10_499);
    expect(fixture.starts).toHaveLength(1);
    await fixture.clock.advance(1);
    expect(fixture.starts).toMatchObject([{ lateMs: 0 }, { lateMs: 0 }]);
    expect(outcomes).toHaveLength(2);
  });

  it('follows a wall clock that is set', async () => {
    begin({});
    ask(oneOff('a', { notBefore: T0 + 40 * SECOND }));
    await fixture.clock.advance(SECOND);
    fixture.clock.stepWall(39 * SECOND);
    await fixture.clock.advance(SECOND);
    expect(outcomes).toEqual([['a', 'ended']]);
  });

  it('never starts at notAfter or later, which is not a missed slot', async () => {
    begin({});
    ask(oneOff('past', { notAfter: T0 }), oneOff('in time', { notAfter: T0 + 1 }));
    await fixture.clock.advance(0);
    expect(outcomes).toEqual([
      ['past', 'too_late'],
      ['in time', 'ended'],
    ]);
    expect(fixture.starts).toHaveLength(1);
    expect(fixture.missed).toEqual([]);
  });

  it('does not start after notAfter if the machine slept or the clock was set back', async () => {
    begin({});
    ask(oneOff('slept', { notBefore: T0 + 10 * SECOND }));
    fixture.clock.suspend(HOUR);
    await fixture.clock.advance(SECOND);
    expect(outcomes).toEqual([['slept', 'too_late']]);

    const nowMs = fixture.clock.wallMs();
    ask(oneOff('back', { notBefore: nowMs + 10 * SECOND, notAfter: nowMs + MINUTE }));
    fixture.clock.stepWall(-HOUR);
    await fixture.clock.advance(MINUTE + SECOND);
    expect(outcomes.slice(1)).toEqual([['back', 'too_late']]);
    expect(fixture.starts).toEqual([]);
  });

  it('waits for a permit until notAfter', async () => {
    const busy = gate();
    begin({ concurrency: 1, run: ({ id }) => (id === 'long' ? busy.opened : Promise.resolve()) });
    fixture.ask(everyMinute('long'));
    await fixture.clock.advance(0);
    ask(oneOff('short'), oneOff('patient', { notAfter: T0 + HOUR }));
    await fixture.clock.advance(MINUTE + SECOND);
    expect(fixture.scheduler.queued).toBe(1);
    expect(outcomes).toEqual([['short', 'too_late']]);
    busy.open();
    await fixture.clock.advance(0);
    expect(outcomes.slice(1)).toEqual([['patient', 'ended']]);
    expect(fixture.starts.at(-1)).toMatchObject({ kind: 'one_off', lateMs: MINUTE + SECOND });
    expect(fixture.missed).toEqual([]);
  });

  it('runs once, however often it is sent', async () => {
    begin({ durationMs: () => 10 * SECOND });
    for (const ms of [0, 1, SECOND, 20 * SECOND]) {
      ask(oneOff('a', { notBefore: T0 + SECOND }));
      await fixture.clock.advance(ms);
    }
    expect(fixture.starts).toHaveLength(1);
    expect(outcomes).toEqual([['a', 'ended']]);
    // If it is sent again, the caller learns that it has ended.
    ask(oneOff('a'));
    await fixture.clock.advance(SECOND);
    expect(fixture.starts).toHaveLength(1);
    expect(outcomes).toEqual([
      ['a', 'ended'],
      ['a', 'ended'],
    ]);
  });

  it('uses its own definition of the check, whatever the scheduled checks are', async () => {
    const busy = gate();
    begin({ concurrency: 1, run: ({ id }) => (id === 'long' ? busy.opened : Promise.resolve()) });
    fixture.ask(everyMinute('long'));
    await fixture.clock.advance(0);
    const check = { ...everyMinute('a'), name: 'as asked', activated: false };
    ask(oneOff('queued', { check }), oneOff('waiting', { check, notBefore: T0 + SECOND }));
    await fixture.clock.advance(0);
    fixture.scheduler.setChecks([{ ...everyMinute('a'), name: 'new' }]);
    fixture.scheduler.setChecks([]);
    busy.open();
    await fixture.clock.advance(2 * SECOND);
    expect(fixture.starts.slice(1).map(({ check: { name } }) => name)).toEqual([
      'as asked',
      'as asked',
    ]);
  });

  it('waits for the start', async () => {
    fixture = new SchedulerFixture();
    outcomes = [];
    ask(oneOff('a'), oneOff('too late', { notAfter: T0 + SECOND }));
    await fixture.clock.advance(2 * SECOND);
    expect(fixture.starts).toEqual([]);
    fixture.begin();
    await fixture.clock.advance(0);
    expect(outcomes).toEqual([
      ['too late', 'too_late'],
      ['a', 'ended'],
    ]);
  });

  it('reports a fault of the agent, and no missed slot', async () => {
    begin({ run: () => Promise.reject(new Error('ours')) });
    ask(oneOff('a'));
    await fixture.clock.advance(0);
    expect(fixture.faults).toHaveLength(1);
    expect(outcomes).toEqual([['a', 'ended']]);
    expect(fixture.missed).toEqual([]);
  });

  it("continues if the caller's callback throws", async () => {
    begin({}, everyMinute('a'));
    fixture.scheduler.runOnce(oneOff('a'), () => {
      throw new Error('ours');
    });
    await fixture.clock.advance(MINUTE);
    expect(fixture.faults).toHaveLength(1);
    expect(fixture.starts.map(({ kind }) => kind)).toEqual(['one_off', 'slot']);
  });

  it('reports at a drain which ones another agent may still run', async () => {
    const first = gate();
    begin({ concurrency: 1, run: () => first.opened });
    ask(oneOff('running'), oneOff('queued'), oneOff('waiting', { notBefore: T0 + 30 * SECOND }));
    await fixture.clock.advance(0);
    const drained = fixture.scheduler.drain(new AbortController().signal);
    expect(outcomes).toHaveLength(2);
    expect(new Map(outcomes)).toEqual(
      new Map([
        ['queued', 'stopped'],
        ['waiting', 'stopped'],
      ]),
    );
    first.open();
    await drained;
    ask(oneOff('after'));
    expect(outcomes.slice(2)).toEqual([
      ['running', 'ended'],
      ['after', 'stopped'],
    ]);
    expect(fixture.starts).toHaveLength(1);
    expect(fixture.missed).toEqual([]);
  });

  it('reports one as stopped that is aborted at the end of the grace', async () => {
    begin({ durationMs: () => HOUR });
    ask(oneOff('a'));
    await fixture.clock.advance(0);
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(outcomes).toEqual([['a', 'stopped']]);
  });

  it('stores a bounded number, and reports which ones it refused', async () => {
    begin({});
    const notBefore = T0 + 30 * SECOND;
    for (let n = 0; n < 2001; n += 1) ask(oneOff(`run-${n}`, { notBefore }));
    expect(outcomes).toEqual([['run-2000', 'refused']]);
    await fixture.clock.advance(MINUTE - 1);
    expect(fixture.starts).toHaveLength(2000);
    ask(oneOff('again'));
    await fixture.clock.advance(0);
    expect(outcomes.at(-1)).toEqual(['again', 'ended']);
  });
});
