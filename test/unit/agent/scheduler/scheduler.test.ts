import { afterEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../../src/runtime/wait.ts';
import { checkOf, everyMinute, gate, HOUR, MINUTE, Rig, SECOND, T0 } from './rig.ts';

const never = new AbortController().signal;

describe('Scheduler', () => {
  let rig = new Rig();

  afterEach(async () => {
    const drained = rig.scheduler.drain(AbortSignal.abort());
    await rig.clock.advance(0);
    await drained;
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('starts a check at its slots, the first one after the start', async () => {
    rig = new Rig({ wallMs: T0 + 30 * SECOND });
    rig.begin(everyMinute('a'), checkOf('b', 1, 2));
    await rig.clock.advance(2 * MINUTE);
    expect(rig.starts.map(({ id, slotS }) => [id, slotS])).toEqual([
      ['a', 60],
      ['b', 72],
      ['a', 120],
      ['b', 132],
    ]);
    expect(rig.starts.map(({ lateMs }) => lateMs)).toEqual([0, 0, 0, 0]);
    expect(rig.missed).toEqual([]);
  });

  it('does not run a slot that is exactly now when it starts, but the next one', async () => {
    rig = new Rig({ wallMs: T0 });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    expect(rig.startedS).toEqual([60]);
  });

  it('starts nothing before start(), and reports none of that time as missed', async () => {
    rig = new Rig();
    rig.scheduler.setChecks([everyMinute('a')]);
    await rig.clock.advance(10 * MINUTE);
    expect(rig.clock.pendingTimers).toBe(0);
    rig.scheduler.start();
    await rig.clock.advance(MINUTE);
    expect(rig.startedS).toEqual([11 * 60]);
    expect(rig.missed).toEqual([]);
  });

  it('waits with one timer for any number of checks, at most a second', async () => {
    rig = new Rig();
    rig.begin(...Array.from({ length: 500 }, (_, n) => checkOf(`check ${n}`, 1440, null)));
    expect(rig.clock.pendingTimers).toBe(1);
    expect(rig.clock.nextTimerInMs).toBeLessThanOrEqual(SECOND);
    const firstTurnMs = rig.scheduler.lastTickMs;
    await rig.clock.advance(HOUR / 60);
    expect(rig.clock.monotonicMs() - rig.scheduler.lastTickMs).toBeLessThanOrEqual(SECOND);
    expect(rig.scheduler.lastTickMs).toBeGreaterThan(firstTurnMs);
  });

  it('ignores deactivated checks', async () => {
    rig = new Rig();
    rig.begin({ ...everyMinute('off'), activated: false }, everyMinute('on'));
    expect(rig.scheduler.checks).toBe(1);
    await rig.clock.advance(MINUTE);
    expect(rig.starts.map(({ id }) => id)).toEqual(['on']);
  });

  it('starts checks that share a slot in the same order, however they were listed', async () => {
    const checks = Array.from({ length: 30 }, (_, n) => everyMinute(`check ${n}`));
    const orders: string[][] = [];
    for (const listed of [checks, checks.toReversed()]) {
      rig = new Rig({ concurrency: 100 });
      rig.begin(...listed);
      await rig.clock.advance(MINUTE);
      orders.push(rig.starts.map(({ id }) => id));
    }
    expect(orders[0]).toHaveLength(30);
    expect(orders[1]).toEqual(orders[0]);
  });

  it('runs as many at once as there are permits, and reports how long a slot waited (trust model SN19)', async () => {
    rig = new Rig({ concurrency: 2, durationMs: () => 4 * SECOND });
    rig.begin(...['a', 'b', 'c', 'd', 'e'].map(everyMinute));
    await rig.clock.advance(MINUTE);
    expect([rig.scheduler.running, rig.scheduler.queued]).toEqual([2, 3]);
    await rig.clock.advance(30 * SECOND);
    expect(rig.starts.map(({ lateMs }) => lateMs)).toEqual([0, 0, 4000, 4000, 8000]);
    expect(rig.most.running).toBe(2);
    expect([rig.scheduler.running, rig.scheduler.queued]).toEqual([0, 0]);
    expect(rig.missed).toEqual([]);
  });

  it('starts due runs beside runs that wait for their peers, up to the limit (trust model SN19)', async () => {
    const busy = gate();
    rig = new Rig({
      concurrency: 1,
      maxWaiting: 1,
      run: (_check, _slotMs, _signal, place) =>
        place.attempt((waits) => {
          waits();
          return busy.opened;
        }),
    });
    rig.begin(...['a', 'b', 'c'].map(everyMinute));
    await rig.clock.advance(MINUTE);
    const { running, waiting, queued, isWaitingFull } = rig.scheduler;
    expect({ running, waiting, queued, isWaitingFull }).toEqual({
      running: 1,
      waiting: 1,
      queued: 1,
      isWaitingFull: true,
    });
    await rig.clock.advance(MINUTE / 2 + 2 * SECOND);
    expect(rig.missed.map(({ reason }) => reason)).toEqual(['agent_busy']);
    busy.open();
    await rig.clock.advance(0);
    expect([rig.scheduler.running, rig.scheduler.waiting]).toEqual([0, 0]);
  });

  it('misses a slot that gets no permit within its tolerance, as agent_busy (trust model SC7)', async () => {
    const busy = gate();
    rig = new Rig({ concurrency: 1, run: () => busy.opened });
    rig.begin(everyMinute('a'), checkOf('b', 0, 10));
    await rig.clock.advance(2 * MINUTE);
    busy.open();
    await rig.clock.advance(0);
    const first = rig.starts[0]?.id;
    const other = first === 'a' ? 'b' : 'a';
    const ofOther = rig.missed.filter(({ checkId }) => checkId === other);
    expect(ofOther.length).toBeGreaterThan(0);
    expect(new Set(ofOther.map(({ reason }) => reason))).toEqual(new Set(['agent_busy']));
    expect(rig.scheduler.queued).toBeLessThanOrEqual(1);
  });

  it('starts a slot no later than half a period after it', async () => {
    const busy = gate();
    rig = new Rig({
      concurrency: 1,
      run: ({ id }) => (id === 'slow' ? busy.opened : Promise.resolve()),
    });
    rig.begin(everyMinute('slow'));
    await rig.clock.advance(MINUTE);
    rig.scheduler.setChecks([checkOf('quick', 0, 10)]);
    while (rig.scheduler.queued === 0) await rig.clock.advance(1);
    await rig.clock.advance(5 * SECOND);
    expect(rig.scheduler.queued).toBe(1);
    // A place comes free when the slot is just too old, and before anybody looked.
    await rig.clock.advance(1);
    busy.open();
    await rig.clock.advance(0);
    expect(rig.starts.map(({ id }) => id)).toEqual(['slow']);
    expect(rig.missed.map(({ checkId, reason }) => [checkId, reason])).toEqual([
      ['quick', 'agent_busy'],
    ]);
  });

  it('lets a run release its permit before its next attempt, and take it again first', async () => {
    const story: string[] = [];
    rig = new Rig({
      concurrency: 1,
      run: async ({ id }, _slotMs, signal, place) => {
        story.push(`${id} begins`);
        await sleep(rig.clock, 5 * SECOND, signal);
        if (id !== story[0]?.charAt(0)) return;
        await place.rest(() => sleep(rig.clock, 7 * SECOND, signal));
        story.push(`${id} again`);
      },
    });
    rig.begin(...['a', 'b', 'c', 'd'].map(everyMinute));
    await rig.clock.advance(MINUTE + 6 * SECOND);
    expect([rig.scheduler.running, rig.scheduler.queued]).toEqual([1, 2]);
    await rig.clock.advance(20 * SECOND);
    const [first, second, third, fourth] = rig.starts.map(({ id }) => id);
    expect(story).toEqual([
      `${first} begins`,
      `${second} begins`,
      `${third} begins`,
      `${first} again`,
      `${fourth} begins`,
    ]);
    expect(rig.starts.map(({ lateMs }) => lateMs / SECOND)).toEqual([0, 5, 10, 15]);
  });

  it('counts a run that waits for its next attempt as the previous one', async () => {
    rig = new Rig({
      run: async (_check, _slotMs, signal, place) => {
        await place.rest(() => sleep(rig.clock, 90 * SECOND, signal));
      },
    });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(2 * MINUTE);
    expect(rig.scheduler.running).toBe(0);
    expect(rig.startedS).toEqual([60]);
    expect(rig.missedS).toEqual([['a', 120, 120, 'previous_run_active']]);
  });

  it('yields to the event loop while it starts many checks at once', async () => {
    const story: string[] = [];
    rig = new Rig({
      concurrency: 1000,
      run: () => {
        story.push('start');
        if (!story.slice(-2).includes('loop')) setImmediate(() => story.push('loop'));
        rig.clock.spend(3);
        return Promise.resolve();
      },
    });
    const checks = Array.from({ length: 12 }, (_, n) => everyMinute(`check ${n}`));
    rig.begin(...checks);
    await rig.clock.advance(MINUTE);
    await rig.clock.advance(MINUTE / 2);
    expect(rig.starts).toHaveLength(12);
    expect(longestRow(story, 'start')).toBeLessThanOrEqual(3);
    expect(rig.starts.at(-1)?.lateMs).toBe(33);

    story.length = 0;
    for (const check of checks) rig.ask(check);
    await rig.clock.advance(SECOND);
    await rig.clock.advance(SECOND);
    expect(rig.starts).toHaveLength(24);
    expect(longestRow(story, 'start')).toBeLessThanOrEqual(3);
  });

  it('reports a slot that comes while the previous run is active, and runs the next', async () => {
    rig = new Rig({ durationMs: () => 150 * SECOND });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(4 * MINUTE);
    expect(rig.startedS).toEqual([60, 240]);
    expect(rig.missedS).toEqual([
      ['a', 120, 120, 'previous_run_active'],
      ['a', 180, 180, 'previous_run_active'],
    ]);
    expect(rig.most.ofOneCheck).toBe(1);
  });

  it('continues when a run throws: it reports the fault and the missed slot', async () => {
    const fault = new Error('ours');
    rig = new Rig({
      run: ({ id }) => {
        if (id === 'throws') throw fault;
        return id === 'rejects' ? Promise.reject(fault) : Promise.resolve();
      },
    });
    rig.begin(...['throws', 'rejects', 'fine'].map(everyMinute));
    await rig.clock.advance(2 * MINUTE);
    expect(rig.starts).toHaveLength(6);
    expect(rig.faults.map(({ fault: told }) => told)).toEqual([fault, fault, fault, fault]);
    const faultyIds = rig.faults.map(({ check }) => check?.id);
    expect(new Set(faultyIds)).toEqual(new Set(['throws', 'rejects']));
    for (const id of ['throws', 'rejects']) {
      expect(rig.missedS.filter(([missedId]) => missedId === id)).toEqual([
        [id, 60, 60, 'agent_fault'],
        [id, 120, 120, 'agent_fault'],
      ]);
    }
    expect(rig.scheduler.running).toBe(0);
  });

  it('continues if a listener throws', async () => {
    rig = new Rig({ durationMs: () => 90 * SECOND });
    const fault = new Error('listener');
    rig.missed.push = () => {
      throw fault;
    };
    rig.begin(everyMinute('a'));
    await rig.clock.advance(3 * MINUTE);
    expect(rig.startedS).toEqual([60, 180]);
    expect(rig.faults).toEqual([{ fault, check: null }]);
  });

  it('drains: starts nothing more, reports waiting slots, and ends with the last run', async () => {
    const first = gate();
    rig = new Rig({ concurrency: 1, run: () => first.opened });
    rig.begin(everyMinute('a'), everyMinute('b'));
    await rig.clock.advance(MINUTE);
    const waiting = rig.starts[0]?.id === 'a' ? 'b' : 'a';

    let isDrained = false;
    const drained = rig.scheduler.drain(never).then(() => {
      isDrained = true;
    });
    expect(rig.missedS).toEqual([[waiting, 60, 60, 'agent_stopped']]);
    const turnMs = rig.scheduler.lastTickMs;
    await rig.clock.advance(2 * MINUTE);
    expect(isDrained).toBe(false);
    expect(rig.starts).toHaveLength(1);
    // A long drain is no dead agent.
    expect(rig.scheduler.lastTickMs).toBeGreaterThan(turnMs + MINUTE);

    first.open();
    await drained;
    expect(rig.clock.pendingTimers).toBe(0);
    expect(rig.scheduler.running).toBe(0);
    expect(rig.missed).toHaveLength(1);
  });

  it('reports how many runs a drain waits for, including those before a retry', async () => {
    const wait = gate();
    rig = new Rig({
      concurrency: 1,
      run: ({ id }, _slotMs, _signal, place) =>
        id === 'failing' ? place.rest(() => wait.opened) : Promise.resolve(),
    });
    rig.begin(everyMinute('failing'), everyMinute('fine'));
    await rig.clock.advance(MINUTE);
    expect([rig.scheduler.running, rig.scheduler.unfinished]).toEqual([0, 1]);
    const drained = rig.scheduler.drain(never);
    expect(rig.scheduler.unfinished).toBe(1);
    wait.open();
    await drained;
    expect(rig.scheduler.unfinished).toBe(0);
  });

  it('aborts the runs when the grace of a drain is over, and not before', async () => {
    const signals: AbortSignal[] = [];
    rig = new Rig({
      run: (_check, _slotMs, signal) => {
        signals.push(signal);
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
        });
      },
    });
    rig.begin(everyMinute('a'), everyMinute('b'));
    await rig.clock.advance(MINUTE);
    const grace = new AbortController();
    const drained = rig.scheduler.drain(grace.signal);
    await rig.clock.advance(10 * SECOND);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    grace.abort();
    await drained;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('aborts the runs at once without a grace', async () => {
    rig = new Rig({ durationMs: () => HOUR });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    await rig.scheduler.drain(AbortSignal.abort());
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('reports slots that were due and not yet taken when it drains', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE - 1);
    rig.clock.stepWall(1);
    await rig.scheduler.drain(never);
    expect(rig.missedS).toEqual([['a', 60, 60, 'agent_stopped']]);
    expect(rig.starts).toEqual([]);
  });

  it('reports them also if it drains during a long tick', async () => {
    let drained = Promise.resolve();
    rig = new Rig({
      wallMs: T0 + 10 * SECOND,
      run: () => {
        // The turn is over by now, and the slot at 66 s is due before the next.
        rig.clock.spend(10 * SECOND);
        setImmediate(() => {
          drained = rig.scheduler.drain(never);
        });
        return Promise.resolve();
      },
    });
    rig.begin(everyMinute('a'), everyMinute('b'), checkOf('c', 1, 1));
    await rig.clock.advance(50 * SECOND);
    await drained;
    expect(rig.starts).toHaveLength(1);
    const other = rig.starts[0]?.id === 'a' ? 'b' : 'a';
    expect(rig.missedS).toEqual([
      [other, 60, 60, 'agent_stopped'],
      ['c', 66, 66, 'agent_stopped'],
    ]);
  });

  it('can be drained without having been started', async () => {
    rig = new Rig();
    rig.scheduler.setChecks([everyMinute('a')]);
    await rig.scheduler.drain(never);
    rig.scheduler.start();
    await rig.clock.advance(2 * MINUTE);
    expect(rig.starts).toEqual([]);
  });
});

function longestRow(story: readonly string[], word: string): number {
  let longest = 0;
  let row = 0;
  for (const entry of story) {
    row = entry === word ? row + 1 : 0;
    longest = Math.max(longest, row);
  }
  return longest;
}
