import { afterEach, describe, expect, it } from 'vitest';
import type { OneOff } from '../../../../src/wire/v1/assignment.ts';
import { everyMinute, gate, HOUR, MINUTE, Rig, SECOND, T0 } from './rig.ts';

describe('the account of slots', () => {
  let rig = new Rig();

  afterEach(async () => {
    await rig.scheduler.drain(AbortSignal.abort());
    expect(rig.unfinished.size).toBe(0);
  });

  it('has a slot from when it waits for a permit until its run has ended', async () => {
    const busy = gate();
    rig = new Rig({
      concurrency: 1,
      run: ({ id }) => (id === 'long' ? busy.opened : Promise.resolve()),
    });
    rig.begin(everyMinute('a'));
    rig.ask(everyMinute('long'));
    await rig.clock.advance(MINUTE + 10 * SECOND);
    expect(rig.accounted).toEqual([['began a', 60]]);
    busy.open();
    await rig.clock.advance(0);
    expect(rig.accounted).toEqual([
      ['began a', 60],
      ['ended a', 60],
    ]);
  });

  it('has a slot until it is reported as missed', async () => {
    const busy = gate();
    rig = new Rig({ concurrency: 1, run: () => busy.opened });
    rig.begin(everyMinute('a'));
    rig.ask(everyMinute('long'));
    await rig.clock.advance(MINUTE + 29 * SECOND);
    expect(rig.unfinished.size).toBe(1);
    await rig.clock.advance(5 * SECOND);
    expect(rig.missedS).toEqual([['a', 60, 60, 'agent_busy']]);
    expect(rig.unfinished.size).toBe(0);
    busy.open();
  });

  it('drops the waiting slot of a removed check, as it is missed', async () => {
    const busy = gate();
    rig = new Rig({ concurrency: 1, run: () => busy.opened });
    rig.begin(everyMinute('a'));
    rig.ask(everyMinute('long'));
    await rig.clock.advance(MINUTE);
    expect(rig.unfinished.size).toBe(1);
    rig.scheduler.setChecks([]);
    expect(rig.unfinished.size).toBe(0);
    expect(rig.missedS).toEqual([['a', 60, 60, 'agent_busy']]);
    busy.open();
  });

  it('is called for a stopped run after everything else is reported', async () => {
    rig = new Rig({ durationMs: () => HOUR });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    const drained = rig.scheduler.drain(new AbortController().signal);
    expect(rig.unfinished.size).toBe(1);
    await rig.clock.advance(HOUR);
    await drained;
    expect(rig.accounted.at(-1)).toEqual(['ended a', 60]);
  });

  it('does not contain one-off runs', async () => {
    rig = new Rig({ durationMs: () => SECOND });
    rig.begin();
    const run: OneOff = {
      runId: 'run',
      check: everyMinute('a'),
      reason: 'requested',
      slot: T0,
      sequenceId: 'sequence',
      notBefore: null,
      notAfter: T0 + HOUR,
      retriesMade: 0,
      firstStartedAt: null,
    };
    rig.scheduler.runOnce(run, () => {});
    await rig.clock.advance(MINUTE);
    expect(rig.starts).toHaveLength(1);
    expect(rig.accounted).toEqual([]);
  });

  it('continues if a callback throws', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    rig.accounted.push = () => {
      throw new Error('ours');
    };
    await rig.clock.advance(2 * MINUTE);
    expect(rig.startedS).toEqual([60, 120]);
    expect(rig.faults).toHaveLength(4);
  });

  it('has the instant up to which every slot was taken, even if a tick is late', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE - 1);
    rig.clock.spend(10 * SECOND); // whatever runs now runs long
    expect(rig.scheduler.reachedMs).toBeLessThan(T0 + MINUTE);
    await rig.clock.advance(0);
    expect(rig.startedS).toEqual([60]);
    expect(rig.scheduler.reachedMs).toBe(rig.clock.wallMs());
  });
});
