import { afterEach, describe, expect, it } from 'vitest';
import { sleep } from '../../../../src/runtime/wait.ts';
import {
  checkOf,
  everyMinute,
  gate,
  HOUR,
  MINUTE,
  SchedulerFixture,
  SECOND,
  T0,
} from './scheduler-fixture.ts';

const never = new AbortController().signal;

describe('Scheduler', () => {
  let fixture = new SchedulerFixture();

  afterEach(async () => {
    const drained = fixture.scheduler.drain(AbortSignal.abort());
    await fixture.clock.advance(0);
    await drained;
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('starts a check at its slots, the first one after the start', async () => {
    fixture = new SchedulerFixture({ wallMs: T0 + 30 * SECOND });
    fixture.begin(everyMinute('a'), checkOf('b', 1, 2));
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.starts.map(({ id, slotS }) => [id, slotS])).toEqual([
      ['a', 60],
      ['b', 72],
      ['a', 120],
      ['b', 132],
    ]);
    expect(fixture.starts.map(({ lateMs }) => lateMs)).toEqual([0, 0, 0, 0]);
    expect(fixture.missed).toEqual([]);
  });

  it('does not run a slot that is exactly now when it starts, but the next one', async () => {
    fixture = new SchedulerFixture({ wallMs: T0 });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE);
    expect(fixture.startedS).toEqual([60]);
  });

  it('starts nothing before start(), and reports none of that time as missed', async () => {
    fixture = new SchedulerFixture();
    fixture.scheduler.setChecks([everyMinute('a')]);
    await fixture.clock.advance(10 * MINUTE);
    expect(fixture.clock.pendingTimers).toBe(0);
    fixture.scheduler.start();
    await fixture.clock.advance(MINUTE);
    expect(fixture.startedS).toEqual([11 * 60]);
    expect(fixture.missed).toEqual([]);
  });

  it('waits with one timer for any number of checks, at most a second', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(...Array.from({ length: 500 }, (_, n) => checkOf(`check ${n}`, 1440, null)));
    expect(fixture.clock.pendingTimers).toBe(1);
    expect(fixture.clock.nextTimerInMs).toBeLessThanOrEqual(SECOND);
    const firstTurnMs = fixture.scheduler.lastTickMs;
    await fixture.clock.advance(HOUR / 60);
    expect(fixture.clock.monotonicMs() - fixture.scheduler.lastTickMs).toBeLessThanOrEqual(SECOND);
    expect(fixture.scheduler.lastTickMs).toBeGreaterThan(firstTurnMs);
  });

  it('ignores deactivated checks', async () => {
    fixture = new SchedulerFixture();
    fixture.begin({ ...everyMinute('off'), activated: false }, everyMinute('on'));
    expect(fixture.scheduler.checks).toBe(1);
    await fixture.clock.advance(MINUTE);
    expect(fixture.starts.map(({ id }) => id)).toEqual(['on']);
  });

  it('starts checks that share a slot in the same order, however they were listed', async () => {
    const checks = Array.from({ length: 30 }, (_, n) => everyMinute(`check ${n}`));
    const orders: string[][] = [];
    for (const listed of [checks, checks.toReversed()]) {
      fixture = new SchedulerFixture({ concurrency: 100 });
      fixture.begin(...listed);
      await fixture.clock.advance(MINUTE);
      orders.push(fixture.starts.map(({ id }) => id));
    }
    expect(orders[0]).toHaveLength(30);
    expect(orders[1]).toEqual(orders[0]);
  });

  it('runs as many at once as there are permits, and reports how long a slot waited (trust model SN19)', async () => {
    fixture = new SchedulerFixture({ concurrency: 2, durationMs: () => 4 * SECOND });
    fixture.begin(...['a', 'b', 'c', 'd', 'e'].map(everyMinute));
    await fixture.clock.advance(MINUTE);
    expect([fixture.scheduler.running, fixture.scheduler.queued]).toEqual([2, 3]);
    await fixture.clock.advance(30 * SECOND);
    expect(fixture.starts.map(({ lateMs }) => lateMs)).toEqual([0, 0, 4000, 4000, 8000]);
    expect(fixture.most.running).toBe(2);
    expect([fixture.scheduler.running, fixture.scheduler.queued]).toEqual([0, 0]);
    expect(fixture.missed).toEqual([]);
  });

  it('starts due runs beside runs that wait for their peers, up to the limit (trust model SN19)', async () => {
    const busy = gate();
    fixture = new SchedulerFixture({
      concurrency: 1,
      maxWaiting: 1,
      run: (_check, _slotMs, _signal, place) =>
        place.attempt((waits) => {
          waits();
          return busy.opened;
        }),
    });
    fixture.begin(...['a', 'b', 'c'].map(everyMinute));
    await fixture.clock.advance(MINUTE);
    const { running, waiting, queued, isWaitingFull } = fixture.scheduler;
    expect({ running, waiting, queued, isWaitingFull }).toEqual({
      running: 1,
      waiting: 1,
      queued: 1,
      isWaitingFull: true,
    });
    await fixture.clock.advance(MINUTE / 2 + 2 * SECOND);
    expect(fixture.missed.map(({ reason }) => reason)).toEqual(['agent_busy']);
    busy.open();
    await fixture.clock.advance(0);
    expect([fixture.scheduler.running, fixture.scheduler.waiting]).toEqual([0, 0]);
  });

  it('misses a slot that gets no permit within its tolerance, as agent_busy (trust model SC7)', async () => {
    const busy = gate();
    fixture = new SchedulerFixture({ concurrency: 1, run: () => busy.opened });
    fixture.begin(everyMinute('a'), checkOf('b', 0, 10));
    await fixture.clock.advance(2 * MINUTE);
    busy.open();
    await fixture.clock.advance(0);
    const first = fixture.starts[0]?.id;
    const other = first === 'a' ? 'b' : 'a';
    const ofOther = fixture.missed.filter(({ checkId }) => checkId === other);
    expect(ofOther.length).toBeGreaterThan(0);
    expect(new Set(ofOther.map(({ reason }) => reason))).toEqual(new Set(['agent_busy']));
    expect(fixture.scheduler.queued).toBeLessThanOrEqual(1);
  });

  it('starts a slot no later than half a period after it', async () => {
    const busy = gate();
    fixture = new SchedulerFixture({
      concurrency: 1,
      run: ({ id }) => (id === 'slow' ? busy.opened : Promise.resolve()),
    });
    fixture.begin(everyMinute('slow'));
    await fixture.clock.advance(MINUTE);
    fixture.scheduler.setChecks([checkOf('quick', 0, 10)]);
    while (fixture.scheduler.queued === 0) await fixture.clock.advance(1);
    await fixture.clock.advance(5 * SECOND);
    expect(fixture.scheduler.queued).toBe(1);
    // A permit comes free when the slot is just too old, and before anybody looked.
    await fixture.clock.advance(1);
    busy.open();
    await fixture.clock.advance(0);
    expect(fixture.starts.map(({ id }) => id)).toEqual(['slow']);
    expect(fixture.missed.map(({ checkId, reason }) => [checkId, reason])).toEqual([
      ['quick', 'agent_busy'],
    ]);
  });

  it('lets a run release its permit before its next attempt, and take it again first', async () => {
    const story: string[] = [];
    fixture = new SchedulerFixture({
      concurrency: 1,
      run: async ({ id }, _slotMs, signal, place) => {
        story.push(`${id} begins`);
        await sleep(fixture.clock, 5 * SECOND, signal);
        if (id !== story[0]?.charAt(0)) return;
        await place.rest(() => sleep(fixture.clock, 7 * SECOND, signal));
        story.push(`${id} again`);
      },
    });
    fixture.begin(...['a', 'b', 'c', 'd'].map(everyMinute));
    await fixture.clock.advance(MINUTE + 6 * SECOND);
    expect([fixture.scheduler.running, fixture.scheduler.queued]).toEqual([1, 2]);
    await fixture.clock.advance(20 * SECOND);
    const [first, second, third, fourth] = fixture.starts.map(({ id }) => id);
    expect(story).toEqual([
      `${first} begins`,
      `${second} begins`,
      `${third} begins`,
      `${first} again`,
      `${fourth} begins`,
    ]);
    expect(fixture.starts.map(({ lateMs }) => lateMs / SECOND)).toEqual([0, 5, 10, 15]);
  });

  it('counts a run that waits for its next attempt as the previous one', async () => {
    fixture = new SchedulerFixture({
      run: async (_check, _slotMs, signal, place) => {
        await place.rest(() => sleep(fixture.clock, 90 * SECOND, signal));
      },
    });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.scheduler.running).toBe(0);
    expect(fixture.startedS).toEqual([60]);
    expect(fixture.missedS).toEqual([['a', 120, 120, 'previous_run_active']]);
  });

  it('yields to the event loop while it starts many checks at once', async () => {
    const story: string[] = [];
    fixture = new SchedulerFixture({
      concurrency: 1000,
      run: () => {
        story.push('start');
        if (!story.slice(-2).includes('loop')) setImmediate(() => story.push('loop'));
        fixture.clock.spend(3);
        return Promise.resolve();
      },
    });
    const checks = Array.from({ length: 12 }, (_, n) => everyMinute(`check ${n}`));
    fixture.begin(...checks);
    await fixture.clock.advance(MINUTE);
    await fixture.clock.advance(MINUTE / 2);
    expect(fixture.starts).toHaveLength(12);
    expect(longestRow(story, 'start')).toBeLessThanOrEqual(3);
    expect(fixture.starts.at(-1)?.lateMs).toBe(33);

    story.length = 0;
    for (const check of checks) fixture.ask(check);
    await fixture.clock.advance(SECOND);
    await fixture.clock.advance(SECOND);
    expect(fixture.starts).toHaveLength(24);
    expect(longestRow(story, 'start')).toBeLessThanOrEqual(3);
  });

  it('reports a slot that comes while the previous run is active, and runs the next', async () => {
    fixture = new SchedulerFixture({ durationMs: () => 150 * SECOND });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(4 * MINUTE);
    expect(fixture.startedS).toEqual([60, 240]);
    expect(fixture.missedS).toEqual([
      ['a', 120, 120, 'previous_run_active'],
      ['a', 180, 180, 'previous_run_active'],
    ]);
    expect(fixture.most.ofOneCheck).toBe(1);
  });

  it('continues when a run throws: it reports the fault and the missed slot', async () => {
    const fault = new Error('ours');
    fixture = new SchedulerFixture({
      run: ({ id }) => {
        if (id === 'throws') throw fault;
        return id === 'rejects' ? Promise.reject(fault) : Promise.resolve();
      },
    });
    fixture.begin(...['throws', 'rejects', 'fine'].map(everyMinute));
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.starts).toHaveLength(6);
    expect(fixture.faults.map(({ fault: told }) => told)).toEqual([fault, fault, fault, fault]);
    const faultyIds = fixture.faults.map(({ check }) => check?.id);
    expect(new Set(faultyIds)).toEqual(new Set(['throws', 'rejects']));
    for (const id of ['throws', 'rejects']) {
      expect(fixture.missedS.filter(([missedId]) => missedId === id)).toEqual([
        [id, 60, 60, 'agent_fault'],
        [id, 120, 120, 'agent_fault'],
      ]);
    }
    expect(fixture.scheduler.running).toBe(0);
  });

  it('continues if a listener throws', async () => {
    fixture = new SchedulerFixture({ durationMs: () => 90 * SECOND });
    const fault = new Error('listener');
    fixture.missed.push = () => {
      throw fault;
    };
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(3 * MINUTE);
    expect(fixture.startedS).toEqual([60, 180]);
    expect(fixture.faults).toEqual([{ fault, check: null }]);
  });

  it('drains: starts nothing more, reports waiting slots, and ends with the last run', async () => {
    const first = gate();
    fixture = new SchedulerFixture({ concurrency: 1, run: () => first.opened });
    fixture.begin(everyMinute('a'), everyMinute('b'));
    await fixture.clock.advance(MINUTE);
    const waiting = fixture.starts[0]?.id === 'a' ? 'b' : 'a';

    let isDrained = false;
    const drained = fixture.scheduler.drain(never).then(() => {
      isDrained = true;
    });
    expect(fixture.missedS).toEqual([[waiting, 60, 60, 'agent_stopped']]);
    const turnMs = fixture.scheduler.lastTickMs;
    await fixture.clock.advance(2 * MINUTE);
    expect(isDrained).toBe(false);
    expect(fixture.starts).toHaveLength(1);
    // A long drain is no dead agent.
    expect(fixture.scheduler.lastTickMs).toBeGreaterThan(turnMs + MINUTE);

    first.open();
    await drained;
    expect(fixture.clock.pendingTimers).toBe(0);
    expect(fixture.scheduler.running).toBe(0);
    expect(fixture.missed).toHaveLength(1);
  });

  it('reports how many runs a drain waits for, including those before a retry', async () => {
    const wait = gate();
    fixture = new SchedulerFixture({
      concurrency: 1,
      run: ({ id }, _slotMs, _signal, place) =>
        id === 'failing' ? place.rest(() => wait.opened) : Promise.resolve(),
    });
    fixture.begin(everyMinute('failing'), everyMinute('fine'));
    await fixture.clock.advance(MINUTE);
    expect([fixture.scheduler.running, fixture.scheduler.unfinished]).toEqual([0, 1]);
    const drained = fixture.scheduler.drain(never);
    expect(fixture.scheduler.unfinished).toBe(1);
    wait.open();
    await drained;
    expect(fixture.scheduler.unfinished).toBe(0);
  });

  it('aborts the runs when the grace of a drain is over, and not before', async () => {
    const signals: AbortSignal[] = [];
    fixture = new SchedulerFixture({
      run: (_check, _slotMs, signal) => {
        signals.push(signal);
        return new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
        });
      },
    });
    fixture.begin(everyMinute('a'), everyMinute('b'));
    await fixture.clock.advance(MINUTE);
    const grace = new AbortController();
    const drained = fixture.scheduler.drain(grace.signal);
    await fixture.clock.advance(10 * SECOND);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    grace.abort();
    await drained;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('aborts the runs at once without a grace', async () => {
    fixture = new SchedulerFixture({ durationMs: () => HOUR });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE);
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('reports slots that were due and not yet taken when it drains', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE - 1);
    fixture.clock.stepWall(1);
    await fixture.scheduler.drain(never);
    expect(fixture.missedS).toEqual([['a', 60, 60, 'agent_stopped']]);
    expect(fixture.starts).toEqual([]);
  });

  it('reports them also if it drains during a long tick', async () => {
    let drained = Promise.resolve();
    fixture = new SchedulerFixture({
      wallMs: T0 + 10 * SECOND,
      run: () => {
        // The tick is over by now, and the slot at 66 s is due before the next.
        fixture.clock.spend(10 * SECOND);
        setImmediate(() => {
          drained = fixture.scheduler.drain(never);
        });
        return Promise.resolve();
      },
    });
    fixture.begin(everyMinute('a'), everyMinute('b'), checkOf('c', 1, 1));
    await fixture.clock.advance(50 * SECOND);
    await drained;
    expect(fixture.starts).toHaveLength(1);
    const other = fixture.starts[0]?.id === 'a' ? 'b' : 'a';
    expect(fixture.missedS).toEqual([
      [other, 60, 60, 'agent_stopped'],
      ['c', 66, 66, 'agent_stopped'],
    ]);
  });

  it('can be drained without having been started', async () => {
    fixture = new SchedulerFixture();
    fixture.scheduler.setChecks([everyMinute('a')]);
    await fixture.scheduler.drain(never);
    fixture.scheduler.start();
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.starts).toEqual([]);
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
