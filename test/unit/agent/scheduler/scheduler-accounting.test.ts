import { afterEach, describe, expect, it } from 'vitest';
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

describe('the account of slots', () => {
  let fixture = new SchedulerFixture();

  afterEach(async () => {
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(fixture.unfinished.size).toBe(0);
  });

  it('has a slot from when it waits for a permit until its run has ended', async () => {
    const busy = gate();
    fixture = new SchedulerFixture({
      concurrency: 1,
      run: ({ id }) => (id === 'long' ? busy.opened : Promise.resolve()),
    });
    fixture.begin(everyMinute('a'));
    fixture.ask(everyMinute('long'));
    await fixture.clock.advance(MINUTE + 10 * SECOND);
    expect(fixture.accounted).toEqual([['began a', 60]]);
    busy.open();
    await fixture.clock.advance(0);
    expect(fixture.accounted).toEqual([
      ['began a', 60],
      ['ended a', 60],
    ]);
  });

  it('has a slot until it is reported as missed', async () => {
    const busy = gate();
    fixture = new SchedulerFixture({ concurrency: 1, run: () => busy.opened });
    fixture.begin(everyMinute('a'));
    fixture.ask(everyMinute('long'));
    await fixture.clock.advance(MINUTE + 29 * SECOND);
    expect(fixture.unfinished.size).toBe(1);
    await fixture.clock.advance(5 * SECOND);
    expect(fixture.missedS).toEqual([['a', 60, 60, 'agent_busy']]);
    expect(fixture.unfinished.size).toBe(0);
    busy.open();
  });

  it('drops the waiting slot of a removed check, as it is missed', async () => {
    const busy = gate();
    fixture = new SchedulerFixture({ concurrency: 1, run: () => busy.opened });
    fixture.begin(everyMinute('a'));
    fixture.ask(everyMinute('long'));
    await fixture.clock.advance(MINUTE);
    expect(fixture.unfinished.size).toBe(1);
    fixture.scheduler.setChecks([]);
    expect(fixture.unfinished.size).toBe(0);
    expect(fixture.missedS).toEqual([['a', 60, 60, 'agent_busy']]);
    busy.open();
  });

  it('is called for a stopped run after everything else is reported', async () => {
    fixture = new SchedulerFixture({ durationMs: () => HOUR });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE);
    const drained = fixture.scheduler.drain(new AbortController().signal);
    expect(fixture.unfinished.size).toBe(1);
    await fixture.clock.advance(HOUR);
    await drained;
    expect(fixture.accounted.at(-1)).toEqual(['ended a', 60]);
  });

  it('does not contain one-off runs', async () => {
    fixture = new SchedulerFixture({ durationMs: () => SECOND });
    fixture.begin();
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
    fixture.scheduler.runOnce(run, () => {});
    await fixture.clock.advance(MINUTE);
    expect(fixture.starts).toHaveLength(1);
    expect(fixture.accounted).toEqual([]);
  });

  it('continues if a callback throws', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    fixture.accounted.push = () => {
      throw new Error('ours');
    };
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.startedS).toEqual([60, 120]);
    expect(fixture.faults).toHaveLength(4);
  });

  it('has the instant up to which every slot was taken, even if a tick is late', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE - 1);
    fixture.clock.spend(10 * SECOND); // whatever runs now runs long
    expect(fixture.scheduler.reachedMs).toBeLessThan(T0 + MINUTE);
    await fixture.clock.advance(0);
    expect(fixture.startedS).toEqual([60]);
    expect(fixture.scheduler.reachedMs).toBe(fixture.clock.wallMs());
  });
});
