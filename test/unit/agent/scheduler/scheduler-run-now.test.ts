import { afterEach, describe, expect, it } from 'vitest';
import { everyMinute, gate, MINUTE, Rig, SECOND, T0 } from './rig.ts';

describe('Scheduler.runNow', () => {
  let rig = new Rig();

  afterEach(async () => {
    await rig.scheduler.drain(AbortSignal.abort());
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('runs a check at once, named by the present instant, and leaves its slots as they are', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(10 * SECOND + 7);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    expect(rig.starts).toMatchObject([
      { slotMs: T0 + 10 * SECOND + 7, lateMs: 0, kind: 'one_off' },
      { slotMs: T0 + MINUTE, lateMs: 0, kind: 'slot' },
    ]);
  });

  it('runs a check that is not scheduled', async () => {
    rig = new Rig();
    rig.begin();
    rig.scheduler.runNow({ ...everyMinute('a'), activated: false });
    await rig.clock.advance(0);
    expect(rig.starts).toMatchObject([{ id: 'a', kind: 'one_off' }]);
  });

  it('waits for the start', async () => {
    rig = new Rig();
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(SECOND);
    expect(rig.starts).toEqual([]);
    expect(rig.scheduler.queued).toBe(1);
    rig.begin(everyMinute('a'));
    await rig.clock.advance(SECOND);
    expect(rig.starts).toMatchObject([{ kind: 'one_off' }]);
  });

  it('does not double a run that is running or waiting', async () => {
    rig = new Rig({ concurrency: 1, durationMs: () => 5 * SECOND });
    rig.begin();
    for (let round = 0; round < 3; round += 1) {
      rig.scheduler.runNow(everyMinute('a'));
      rig.scheduler.runNow(everyMinute('b'));
      await rig.clock.advance(SECOND);
    }
    await rig.clock.advance(20 * SECOND);
    expect(rig.starts.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('never takes the name of a slot', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(SECOND);
    expect(rig.starts.map(({ slotMs, kind }) => [slotMs - T0, kind])).toEqual([
      [MINUTE, 'slot'],
      [MINUTE - 1, 'one_off'],
    ]);
  });

  it('lets a slot wait for it that comes while it is running', async () => {
    rig = new Rig({ durationMs: () => 20 * SECOND });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(50 * SECOND);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(10 * SECOND);
    expect([rig.scheduler.running, rig.scheduler.queued]).toEqual([1, 1]);
    await rig.clock.advance(30 * SECOND);
    expect(rig.starts).toMatchObject([
      { kind: 'one_off' },
      { kind: 'slot', slotS: 60, lateMs: 10 * SECOND },
    ]);
    expect(rig.most.ofOneCheck).toBe(1);
    expect(rig.missed).toEqual([]);
  });

  it('lets one slot wait for it, and reports another that the clock leaps to', async () => {
    rig = new Rig({ durationMs: () => 20 * SECOND });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(50 * SECOND);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(10 * SECOND);
    rig.clock.stepWall(MINUTE);
    await rig.clock.advance(SECOND);
    expect(rig.scheduler.queued).toBe(1);
    await rig.clock.advance(10 * SECOND);
    expect(rig.starts).toMatchObject([{ kind: 'one_off' }, { slotS: 60, lateMs: 10 * SECOND }]);
    expect(rig.missedS).toEqual([['a', 120, 120, 'previous_run_active']]);
  });

  it('runs the slot that waited for it by the newest definition', async () => {
    rig = new Rig({ durationMs: () => 20 * SECOND });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(50 * SECOND);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(15 * SECOND);
    rig.scheduler.setChecks([{ ...everyMinute('a'), name: 'new' }]);
    await rig.clock.advance(10 * SECOND);
    expect(rig.starts.map(({ check }) => check.name)).toEqual(['a', 'new']);
  });

  it('makes a slot wait no longer than its tolerance', async () => {
    rig = new Rig({ durationMs: () => 3 * MINUTE });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(50 * SECOND);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(43 * SECOND);
    expect(rig.missedS).toEqual([['a', 60, 60, 'previous_run_active']]);
    expect(rig.scheduler.queued).toBe(0);
  });

  it('does not start a slot that became too old just before the run ended', async () => {
    rig = new Rig({ durationMs: () => 40_500 });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(50 * SECOND);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(40_500);
    expect(rig.scheduler.running).toBe(0);
    expect(rig.starts).toHaveLength(1);
    expect(rig.missedS).toEqual([['a', 60, 60, 'previous_run_active']]);
  });

  it('gives a waiting slot up with the check that is no more', async () => {
    rig = new Rig({ durationMs: () => 20 * SECOND });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(50 * SECOND);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(15 * SECOND);
    rig.scheduler.setChecks([]);
    await rig.clock.advance(MINUTE);
    expect(rig.starts).toHaveLength(1);
    expect(rig.missed).toEqual([]);
  });

  it('becomes the slot that comes while it is waiting', async () => {
    const busy = gate();
    rig = new Rig({
      concurrency: 1,
      run: ({ id }) => (id === 'a' ? Promise.resolve() : busy.opened),
    });
    rig.begin(everyMinute('a'));
    rig.scheduler.runNow(everyMinute('long'));
    await rig.clock.advance(50 * SECOND);
    rig.scheduler.runNow(everyMinute('a'));
    await rig.clock.advance(15 * SECOND);
    busy.open();
    await rig.clock.advance(SECOND);
    expect(rig.starts.slice(1)).toMatchObject([{ slotS: 60, kind: 'slot', lateMs: 5 * SECOND }]);
    expect(rig.missed).toEqual([]);
  });

  it('waits for a place as long as it has to, and is forgotten with its check', async () => {
    const busy = gate();
    rig = new Rig({ concurrency: 1, run: () => busy.opened });
    rig.begin();
    for (const id of ['long', 'a', 'b']) rig.scheduler.runNow(everyMinute(id));
    await rig.clock.advance(10 * MINUTE);
    expect(rig.scheduler.queued).toBe(2);
    rig.scheduler.setChecks([{ ...everyMinute('b') }]);
    rig.scheduler.setChecks([]);
    expect(rig.scheduler.queued).toBe(1);
    busy.open();
    await rig.clock.advance(0);
    expect(rig.starts.map(({ id, lateMs }) => [id, lateMs])).toEqual([
      ['long', 0],
      ['a', 10 * MINUTE],
    ]);
    expect(rig.missed).toEqual([]);
  });

  it('goes by the newest definition, and not at all where the check is no more', async () => {
    rig = new Rig();
    rig.scheduler.setChecks([everyMinute('kept'), everyMinute('gone')]);
    rig.scheduler.runNow(everyMinute('kept'));
    rig.scheduler.runNow(everyMinute('gone'));
    rig.begin({ ...everyMinute('kept'), name: 'new' });
    await rig.clock.advance(SECOND);
    expect(rig.starts.map(({ check }) => check.name)).toEqual(['new']);
  });

  it('is no missed slot when a drain finds it waiting', async () => {
    const busy = gate();
    rig = new Rig({ concurrency: 1, run: () => busy.opened });
    rig.begin();
    for (const id of ['running', 'waiting']) rig.scheduler.runNow(everyMinute(id));
    await rig.clock.advance(SECOND);
    const drained = rig.scheduler.drain(new AbortController().signal);
    busy.open();
    await drained;
    expect(rig.starts.map(({ id }) => id)).toEqual(['running']);
    expect(rig.missed).toEqual([]);
  });

  it('does nothing any more once a drain has begun', async () => {
    rig = new Rig();
    rig.begin();
    const drained = rig.scheduler.drain(new AbortController().signal);
    rig.scheduler.runNow(everyMinute('a'));
    await drained;
    await rig.clock.advance(SECOND);
    expect(rig.starts).toEqual([]);
    expect(rig.scheduler.queued).toBe(0);
  });
});
