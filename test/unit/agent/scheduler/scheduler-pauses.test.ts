import { afterEach, describe, expect, it } from 'vitest';
import type { Check } from '../../../../src/model/check/check.ts';
import type { Pause } from '../../../../src/model/schedule/pause.ts';
import type { RotationRule } from '../../../../src/model/schedule/rotation.ts';
import {
  checkOf,
  DAY,
  everyMinute,
  gate,
  HOUR,
  MINUTE,
  SchedulerFixture,
  SECOND,
  T0,
} from './scheduler-fixture.ts';

const NO_TURNS: ReadonlyMap<string, RotationRule> = new Map();

/** Once, from and to minutes after T0. */
function pause(fromMinute: number, toMinute: number, fields: Partial<Pause> = {}): Pause {
  return {
    startsAtMs: T0 + fromMinute * MINUTE,
    endsAtMs: T0 + toMinute * MINUTE,
    repeatUnit: 'DAY',
    repeatInterval: null,
    repeatEndsAtMs: null,
    tags: null,
    ...fields,
  };
}

describe('Scheduler, with pauses', () => {
  let fixture = new SchedulerFixture();

  function set(
    checks: readonly Check[],
    pauses: readonly Pause[],
    groupTags: ReadonlyMap<string, readonly string[]> = new Map(),
  ): void {
    fixture.scheduler.setChecks(checks, NO_TURNS, { pauses, groupTags });
  }

  function begin(
    checks: readonly Check[],
    pauses: readonly Pause[],
    options: ConstructorParameters<typeof SchedulerFixture>[0] = {},
  ): void {
    fixture = new SchedulerFixture(options);
    set(checks, pauses);
    fixture.scheduler.start();
  }

  afterEach(async () => {
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(fixture.clock.pendingTimers).toBe(0);
    expect(fixture.unfinished.size).toBe(0);
    expect(fixture.faults).toEqual([]);
  });

  it('skips the slots of a pause, and misses none', async () => {
    begin([everyMinute('a')], [pause(2, 5)]);
    await fixture.clock.advance(6 * MINUTE);
    expect(fixture.startedS).toEqual([60, 300, 360]);
    expect(fixture.paused).toEqual([
      ['a', 120],
      ['a', 180],
      ['a', 240],
    ]);
    expect(fixture.missed).toEqual([]);
  });

  it('uses the tags of the check and of its group', async () => {
    fixture = new SchedulerFixture();
    const own = { ...everyMinute('own'), tags: ['x', 'db'] };
    set(
      [own, everyMinute('group'), everyMinute('other')],
      [pause(0, 60, { tags: ['db'] })],
      new Map([['group', ['db']]]),
    );
    fixture.scheduler.start();
    await fixture.clock.advance(MINUTE);
    expect(fixture.starts.map(({ id }) => id)).toEqual(['other']);
    expect(new Map(fixture.paused)).toEqual(
      new Map([
        ['group', 60],
        ['own', 60],
      ]),
    );
  });

  it('decides by the instant of the slot, however late its tick is', async () => {
    begin([everyMinute('in'), checkOf('after', 1, 1)], [pause(1, 1.1)]);
    // One was due in the pause, the other just as it ended.
    await fixture.clock.stall(MINUTE + 6.5 * SECOND);
    await fixture.clock.advance(0);
    expect(fixture.paused).toEqual([['in', 60]]);
    expect(fixture.starts.map(({ id, slotS }) => [id, slotS])).toEqual([['after', 66]]);
    expect(fixture.missedS).toEqual([['after', 6, 6, 'agent_asleep']]);
  });

  it('applies new pauses from the next slot on', async () => {
    begin([everyMinute('a')], []);
    await fixture.clock.advance(MINUTE);
    set([everyMinute('a')], [pause(0, 60)]);
    await fixture.clock.advance(2 * MINUTE);
    set([everyMinute('a')], []);
    await fixture.clock.advance(MINUTE);
    expect(fixture.startedS).toEqual([60, 240]);
    expect(fixture.paused.map(([, slotS]) => slotS)).toEqual([120, 180]);
    expect(fixture.missed).toEqual([]);
  });

  it('skips a slot that waits for a permit when its pause becomes known', async () => {
    const { opened, open } = gate();
    begin([everyMinute('a'), everyMinute('b')], [], { concurrency: 1, run: () => opened });
    await fixture.clock.advance(MINUTE);
    const [running] = fixture.starts;
    const waiting = running?.id === 'a' ? 'b' : 'a';
    expect(fixture.scheduler.queued).toBe(1);
    set([everyMinute('a'), everyMinute('b')], [pause(1, 60)]);
    expect(fixture.scheduler.queued).toBe(0);
    expect(fixture.paused).toEqual([[waiting, 60]]);
    open();
    await fixture.clock.advance(45 * SECOND);
    expect(fixture.starts).toHaveLength(1);
    expect(fixture.missed).toEqual([]);
    expect(fixture.accounted.filter(([what]) => what.endsWith(waiting))).toEqual([
      [`began ${waiting}`, 60],
      [`ended ${waiting}`, 60],
    ]);
  });

  it('lets a run continue that began before, and does not miss the slots that it overruns', async () => {
    const signals: AbortSignal[] = [];
    const { opened, open } = gate();
    begin([everyMinute('a')], [pause(1.5, 4)], {
      run: (_check, _slotMs, signal) => {
        signals.push(signal);
        return opened;
      },
    });
    await fixture.clock.advance(3.5 * MINUTE);
    expect(fixture.scheduler.unfinished).toBe(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    expect(fixture.missed).toEqual([]);
    open();
    await fixture.clock.advance(MINUTE);
    expect(fixture.startedS).toEqual([60, 240]);
  });

  it('still runs one-offs', async () => {
    begin([everyMinute('a')], [pause(0, 60)]);
    fixture.ask(everyMinute('a'));
    await fixture.clock.advance(SECOND);
    expect(fixture.starts.map(({ kind }) => kind)).toEqual(['one_off']);
  });

  it('does not report paused slots after a standstill', async () => {
    begin([everyMinute('a')], [pause(3, 5), pause(7, 8)]);
    await fixture.clock.suspend(9.9 * MINUTE);
    await fixture.clock.advance(MINUTE);
    expect(fixture.missedS).toEqual([
      ['a', 60, 120, 'agent_asleep'],
      ['a', 300, 360, 'agent_asleep'],
      ['a', 480, 540, 'agent_asleep'],
    ]);
    expect(fixture.missed.map(({ count }) => count)).toEqual([2, 2, 2]);
    expect(fixture.startedS).toEqual([600]);
  });

  it('does not report paused slots if the clock is set forward, up to a bound', async () => {
    const nightly = pause(0, 60, { repeatInterval: 1 });
    begin([checkOf('a', 60, 5)], [nightly]);
    fixture.clock.stepWall(400 * DAY);
    await fixture.clock.advance(SECOND);
    expect(fixture.missed).toHaveLength(100);
    // In the first minute of each hour but the first.
    const firstOfDay = T0 + HOUR + 30 * SECOND;
    expect(fixture.missed[0]).toMatchObject({ count: 23, slot: firstOfDay });
    expect(fixture.missed[98]).toMatchObject({ count: 23, slot: firstOfDay + 98 * DAY });
    expect(fixture.missed[99]).toMatchObject({
      count: 301 * 24 - 1,
      slot: firstOfDay + 99 * DAY,
      lastSlot: T0 + 400 * DAY - HOUR + 30 * SECOND,
    });
  });

  it('does not report paused slots of a check that is removed before their tick', async () => {
    begin([everyMinute('a'), everyMinute('b')], [pause(2, 5, { tags: ['of b'] })]);
    set(
      [everyMinute('a'), { ...everyMinute('b'), tags: ['of b'] }],
      [pause(2, 5, { tags: ['of b'] })],
    );
    await fixture.clock.advance(90 * SECOND);
    fixture.clock.stepWall(2 * MINUTE);
    set([], []);
    expect(fixture.missedS).toEqual([['a', 120, 180, 'agent_asleep']]);
  });
});
