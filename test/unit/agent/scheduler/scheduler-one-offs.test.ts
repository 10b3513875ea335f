import { afterEach, describe, expect, it } from 'vitest';
import type { OneOffOutcome } from '../../../../src/agent/scheduler/one-offs.ts';
import type { Check } from '../../../../src/model/check/check.ts';
import type { OneOff } from '../../../../src/wire/v1/assignment.ts';
import { everyMinute, gate, HOUR, MINUTE, Rig, SECOND, T0 } from './rig.ts';

/** Asked for at T0, to be run at once, and for a minute. */
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
  let rig = new Rig();
  let outcomes: (readonly [runId: string, outcome: OneOffOutcome])[] = [];

  function ask(...runs: readonly OneOff[]): void {
    for (const run of runs) {
      rig.scheduler.runOnce(run, (outcome) => outcomes.push([run.runId, outcome]));
    }
  }

  function begin(options: ConstructorParameters<typeof Rig>[0], ...checks: Check[]): void {
    rig = new Rig(options);
    outcomes = [];
    rig.begin(...checks);
  }

  afterEach(async () => {
    await rig.scheduler.drain(AbortSignal.abort());
    expect(rig.clock.pendingTimers).toBe(0);
    expect(rig.unfinished.size).toBe(0);
  });

  it('runs at once, with its own id and the retries made before', async () => {
    begin({});
    ask(
      oneOff('asked'),
      oneOff('retry', { reason: 'retry', slot: T0 - HOUR, retriesMade: 2, firstStartedAt: T0 - 5 }),
    );
    await rig.clock.advance(0);
    expect(rig.runs).toMatchObject([
      { slotMs: T0 - 1, sequenceId: 'sequence-of-asked', retriesMade: 0, firstStartedAtMs: null },
      {
        slotMs: T0 - HOUR,
        sequenceId: 'sequence-of-retry',
        retriesMade: 2,
        firstStartedAtMs: T0 - 5,
      },
    ]);
    expect(rig.starts.map(({ kind }) => kind)).toEqual(['one_off', 'one_off']);
    expect(outcomes).toEqual([
      ['asked', 'ended'],
      ['retry', 'ended'],
    ]);
  });

  it('gives slots no id of a one-off', async () => {
    begin({}, everyMinute('a'));
    await rig.clock.advance(MINUTE);
    expect(rig.runs).toMatchObject([
      { sequenceId: null, retriesMade: 0, firstStartedAtMs: null, slotMs: T0 + MINUTE },
    ]);
  });

  it('does not wait for a run of the same check, and costs no slot', async () => {
    begin({ durationMs: () => 20 * SECOND }, everyMinute('a'));
    await rig.clock.advance(MINUTE + SECOND);
    ask(oneOff('one', { notAfter: T0 + HOUR }), oneOff('other', { notAfter: T0 + HOUR }));
    await rig.clock.advance(0);
    expect(rig.scheduler.running).toBe(3);
    await rig.clock.advance(49 * SECOND);
    ask(oneOff('late', { notAfter: T0 + HOUR }));
    await rig.clock.advance(MINUTE);
    expect(rig.starts.filter(({ kind }) => kind === 'slot')).toMatchObject([
      { slotS: 60, lateMs: 0 },
      { slotS: 120, lateMs: 0 },
    ]);
    expect(outcomes.map(([runId]) => runId)).toEqual(['one', 'other', 'late']);
    expect(rig.missed).toEqual([]);
  });

  it('starts at notBefore and not before', async () => {
    begin({});
    ask(
      oneOff('later', { notBefore: T0 + 20_500 }),
      oneOff('sooner', { notBefore: T0 + 10 * SECOND }),
    );
    await rig.clock.advance(10 * SECOND - 1);
    expect(rig.starts).toEqual([]);
    await rig.clock.advance(1);
    expect(outcomes).toEqual([['sooner', 'ended']]);
    await rig.clock.advance(10_499);
    expect(rig.starts).toHaveLength(1);
    await rig.clock.advance(1);
    expect(rig.starts).toMatchObject([{ lateMs: 0 }, { lateMs: 0 }]);
    expect(outcomes).toHaveLength(2);
  });

  it('follows a wall clock that is set', async () => {
    begin({});
    ask(oneOff('a', { notBefore: T0 + 40 * SECOND }));
    await rig.clock.advance(SECOND);
    rig.clock.stepWall(39 * SECOND);
    await rig.clock.advance(SECOND);
    expect(outcomes).toEqual([['a', 'ended']]);
  });

  it('never starts at notAfter or later, which is not a missed slot', async () => {
    begin({});
    ask(oneOff('past', { notAfter: T0 }), oneOff('in time', { notAfter: T0 + 1 }));
    await rig.clock.advance(0);
    expect(outcomes).toEqual([
      ['past', 'too_late'],
      ['in time', 'ended'],
    ]);
    expect(rig.starts).toHaveLength(1);
    expect(rig.missed).toEqual([]);
  });

  it('does not start after notAfter if the machine slept or the clock was set back', async () => {
    begin({});
    ask(oneOff('slept', { notBefore: T0 + 10 * SECOND }));
    rig.clock.suspend(HOUR);
    await rig.clock.advance(SECOND);
    expect(outcomes).toEqual([['slept', 'too_late']]);

    const nowMs = rig.clock.wallMs();
    ask(oneOff('back', { notBefore: nowMs + 10 * SECOND, notAfter: nowMs + MINUTE }));
    rig.clock.stepWall(-HOUR);
    await rig.clock.advance(MINUTE + SECOND);
    expect(outcomes.slice(1)).toEqual([['back', 'too_late']]);
    expect(rig.starts).toEqual([]);
  });

  it('waits for a permit until notAfter', async () => {
    const busy = gate();
    begin({ concurrency: 1, run: ({ id }) => (id === 'long' ? busy.opened : Promise.resolve()) });
    rig.ask(everyMinute('long'));
    await rig.clock.advance(0);
    ask(oneOff('short'), oneOff('patient', { notAfter: T0 + HOUR }));
    await rig.clock.advance(MINUTE + SECOND);
    expect(rig.scheduler.queued).toBe(1);
    expect(outcomes).toEqual([['short', 'too_late']]);
    busy.open();
    await rig.clock.advance(0);
    expect(outcomes.slice(1)).toEqual([['patient', 'ended']]);
    expect(rig.starts.at(-1)).toMatchObject({ kind: 'one_off', lateMs: MINUTE + SECOND });
    expect(rig.missed).toEqual([]);
  });

  it('runs once, however often it is sent', async () => {
    begin({ durationMs: () => 10 * SECOND });
    for (const ms of [0, 1, SECOND, 20 * SECOND]) {
      ask(oneOff('a', { notBefore: T0 + SECOND }));
      await rig.clock.advance(ms);
    }
    expect(rig.starts).toHaveLength(1);
    expect(outcomes).toEqual([['a', 'ended']]);
    // Told of it once more, the caller hears that it has ended.
    ask(oneOff('a'));
    await rig.clock.advance(SECOND);
    expect(rig.starts).toHaveLength(1);
    expect(outcomes).toEqual([
      ['a', 'ended'],
      ['a', 'ended'],
    ]);
  });

  it('uses its own definition of the check, whatever the scheduled checks are', async () => {
    const busy = gate();
    begin({ concurrency: 1, run: ({ id }) => (id === 'long' ? busy.opened : Promise.resolve()) });
    rig.ask(everyMinute('long'));
    await rig.clock.advance(0);
    const check = { ...everyMinute('a'), name: 'as asked', activated: false };
    ask(oneOff('queued', { check }), oneOff('waiting', { check, notBefore: T0 + SECOND }));
    await rig.clock.advance(0);
    rig.scheduler.setChecks([{ ...everyMinute('a'), name: 'new' }]);
    rig.scheduler.setChecks([]);
    busy.open();
    await rig.clock.advance(2 * SECOND);
    expect(rig.starts.slice(1).map(({ check: { name } }) => name)).toEqual([
      'as asked',
      'as asked',
    ]);
  });

  it('waits for the start', async () => {
    rig = new Rig();
    outcomes = [];
    ask(oneOff('a'), oneOff('too late', { notAfter: T0 + SECOND }));
    await rig.clock.advance(2 * SECOND);
    expect(rig.starts).toEqual([]);
    rig.begin();
    await rig.clock.advance(0);
    expect(outcomes).toEqual([
      ['too late', 'too_late'],
      ['a', 'ended'],
    ]);
  });

  it('reports a fault of the agent, and no missed slot', async () => {
    begin({ run: () => Promise.reject(new Error('ours')) });
    ask(oneOff('a'));
    await rig.clock.advance(0);
    expect(rig.faults).toHaveLength(1);
    expect(outcomes).toEqual([['a', 'ended']]);
    expect(rig.missed).toEqual([]);
  });

  it("continues if the caller's callback throws", async () => {
    begin({}, everyMinute('a'));
    rig.scheduler.runOnce(oneOff('a'), () => {
      throw new Error('ours');
    });
    await rig.clock.advance(MINUTE);
    expect(rig.faults).toHaveLength(1);
    expect(rig.starts.map(({ kind }) => kind)).toEqual(['one_off', 'slot']);
  });

  it('reports at a drain which ones another agent may still run', async () => {
    const first = gate();
    begin({ concurrency: 1, run: () => first.opened });
    ask(oneOff('running'), oneOff('queued'), oneOff('waiting', { notBefore: T0 + 30 * SECOND }));
    await rig.clock.advance(0);
    const drained = rig.scheduler.drain(new AbortController().signal);
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
    expect(rig.starts).toHaveLength(1);
    expect(rig.missed).toEqual([]);
  });

  it('reports one as stopped that is aborted at the end of the grace', async () => {
    begin({ durationMs: () => HOUR });
    ask(oneOff('a'));
    await rig.clock.advance(0);
    await rig.scheduler.drain(AbortSignal.abort());
    expect(outcomes).toEqual([['a', 'stopped']]);
  });

  it('stores a bounded number, and reports which ones it refused', async () => {
    begin({});
    const notBefore = T0 + 30 * SECOND;
    for (let n = 0; n < 2001; n += 1) ask(oneOff(`run-${n}`, { notBefore }));
    expect(outcomes).toEqual([['run-2000', 'refused']]);
    await rig.clock.advance(MINUTE - 1);
    expect(rig.starts).toHaveLength(2000);
    ask(oneOff('again'));
    await rig.clock.advance(0);
    expect(outcomes.at(-1)).toEqual(['again', 'ended']);
  });
});
