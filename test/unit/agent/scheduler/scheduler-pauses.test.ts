import { afterEach, describe, expect, it } from 'vitest';
import type { Check } from '../../../../src/model/check/check.ts';
import type { Pause } from '../../../../src/model/schedule/pause.ts';
import type { RotationRule } from '../../../../src/model/schedule/rotation.ts';
import { checkOf, DAY, everyMinute, gate, HOUR, MINUTE, Rig, SECOND, T0 } from './rig.ts';

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
  let rig = new Rig();

  function set(
    checks: readonly Check[],
    pauses: readonly Pause[],
    groupTags: ReadonlyMap<string, readonly string[]> = new Map(),
  ): void {
    rig.scheduler.setChecks(checks, NO_TURNS, { pauses, groupTags });
  }

  function begin(
    checks: readonly Check[],
    pauses: readonly Pause[],
    options: ConstructorParameters<typeof Rig>[0] = {},
  ): void {
    rig = new Rig(options);
    set(checks, pauses);
    rig.scheduler.start();
  }

  afterEach(async () => {
    await rig.scheduler.drain(AbortSignal.abort());
    expect(rig.clock.pendingTimers).toBe(0);
    expect(rig.unfinished.size).toBe(0);
    expect(rig.faults).toEqual([]);
  });

  it('skips the slots of a pause, and misses none', async () => {
    begin([everyMinute('a')], [pause(2, 5)]);
    await rig.clock.advance(6 * MINUTE);
    expect(rig.startedS).toEqual([60, 300, 360]);
    expect(rig.paused).toEqual([
      ['a', 120],
      ['a', 180],
      ['a', 240],
    ]);
    expect(rig.missed).toEqual([]);
  });

  it('uses the tags of the check and of its group', async () => {
    rig = new Rig();
    const own = { ...everyMinute('own'), tags: ['x', 'db'] };
    set(
      [own, everyMinute('group'), everyMinute('other')],
      [pause(0, 60, { tags: ['db'] })],
      new Map([['group', ['db']]]),
    );
    rig.scheduler.start();
    await rig.clock.advance(MINUTE);
    expect(rig.starts.map(({ id }) => id)).toEqual(['other']);
    expect(new Map(rig.paused)).toEqual(
      new Map([
        ['group', 60],
        ['own', 60],
      ]),
    );
  });

  it('decides by the instant of the slot, however late its tick is', async () => {
    begin([everyMinute('in'), checkOf('after', 1, 1)], [pause(1, 1.1)]);
    // One was due in the pause, the other just as it ended.
    await rig.clock.stall(MINUTE + 6.5 * SECOND);
    await rig.clock.advance(0);
    expect(rig.paused).toEqual([['in', 60]]);
    expect(rig.starts.map(({ id, slotS }) => [id, slotS])).toEqual([['after', 66]]);
    expect(rig.missedS).toEqual([['after', 6, 6, 'agent_asleep']]);
  });

  it('applies new pauses from the next slot on', async () => {
    begin([everyMinute('a')], []);
    await rig.clock.advance(MINUTE);
    set([everyMinute('a')], [pause(0, 60)]);
    await rig.clock.advance(2 * MINUTE);
    set([everyMinute('a')], []);
    await rig.clock.advance(MINUTE);
    expect(rig.startedS).toEqual([60, 240]);
    expect(rig.paused.map(([, slotS]) => slotS)).toEqual([120, 180]);
    expect(rig.missed).toEqual([]);
  });

  it('skips a slot that waits for a permit when its pause becomes known', async () => {
    const { opened, open } = gate();
    begin([everyMinute('a'), everyMinute('b')], [], { concurrency: 1, run: () => opened });
    await rig.clock.advance(MINUTE);
    const [running] = rig.starts;
    const waiting = running?.id === 'a' ? 'b' : 'a';
    expect(rig.scheduler.queued).toBe(1);
    set([everyMinute('a'), everyMinute('b')], [pause(1, 60)]);
    expect(rig.scheduler.queued).toBe(0);
    expect(rig.paused).toEqual([[waiting, 60]]);
    open();
    await rig.clock.advance(45 * SECOND);
    expect(rig.starts).toHaveLength(1);
    expect(rig.missed).toEqual([]);
    expect(rig.accounted.filter(([what]) => what.endsWith(waiting))).toEqual([
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
    await rig.clock.advance(3.5 * MINUTE);
    expect(rig.scheduler.unfinished).toBe(1);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    expect(rig.missed).toEqual([]);
    open();
    await rig.clock.advance(MINUTE);
    expect(rig.startedS).toEqual([60, 240]);
  });

  it('still runs one-offs', async () => {
    begin([everyMinute('a')], [pause(0, 60)]);
    rig.ask(everyMinute('a'));
    await rig.clock.advance(SECOND);
    expect(rig.starts.map(({ kind }) => kind)).toEqual(['one_off']);
  });

  it('does not report paused slots after a standstill', async () => {
    begin([everyMinute('a')], [pause(3, 5), pause(7, 8)]);
    await rig.clock.suspend(9.9 * MINUTE);
    await rig.clock.advance(MINUTE);
    expect(rig.missedS).toEqual([
      ['a', 60, 120, 'agent_asleep'],
      ['a', 300, 360, 'agent_asleep'],
      ['a', 480, 540, 'agent_asleep'],
    ]);
    expect(rig.missed.map(({ count }) => count)).toEqual([2, 2, 2]);
    expect(rig.startedS).toEqual([600]);
  });

  it('does not report paused slots if the clock is set forward, up to a bound', async () => {
    const nightly = pause(0, 60, { repeatInterval: 1 });
    begin([checkOf('a', 60, 5)], [nightly]);
    rig.clock.stepWall(400 * DAY);
    await rig.clock.advance(SECOND);
    expect(rig.missed).toHaveLength(100);
    // In the first minute of each hour but the first.
    const firstOfDay = T0 + HOUR + 30 * SECOND;
    expect(rig.missed[0]).toMatchObject({ count: 23, slot: firstOfDay });
    expect(rig.missed[98]).toMatchObject({ count: 23, slot: firstOfDay + 98 * DAY });
    expect(rig.missed[99]).toMatchObject({
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
    await rig.clock.advance(90 * SECOND);
    rig.clock.stepWall(2 * MINUTE);
    set([], []);
    expect(rig.missedS).toEqual([['a', 120, 180, 'agent_asleep']]);
  });
});
