import { afterEach, describe, expect, it } from 'vitest';
import {
  checkOf,
  everyMinute,
  gate,
  HOUR,
  MINUTE,
  SchedulerFixture,
  SECOND,
} from './scheduler-fixture.ts';

describe('Scheduler, when its checks change', () => {
  let fixture = new SchedulerFixture();

  afterEach(async () => {
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  it('retains every phase, however often it gets the same checks', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(checkOf('a', 1, null));
    await fixture.clock.advance(MINUTE);
    const [first] = fixture.startedS;
    for (let reload = 0; reload < 180; reload += 1) {
      fixture.scheduler.setChecks([checkOf('a', 1, null)]);
      await fixture.clock.advance(SECOND);
    }
    expect(fixture.startedS.map((s) => s - (first ?? 0))).toEqual([0, 60, 120, 180]);
    expect(fixture.missed).toEqual([]);
  });

  it('runs a slot once when it reloads at the same instant', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE);
    fixture.scheduler.setChecks([everyMinute('a')]);
    await fixture.clock.advance(0);
    fixture.scheduler.setChecks([]);
    fixture.scheduler.setChecks([everyMinute('a')]);
    await fixture.clock.advance(30 * SECOND);
    expect(fixture.startedS).toEqual([60]);
  });

  it('starts a slot that was due before the reload and not yet taken', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('same'), everyMinute('slower'));
    await fixture.clock.advance(2 * MINUTE - 1);
    fixture.starts.length = 0;
    fixture.clock.stepWall(1);
    fixture.scheduler.setChecks([everyMinute('same'), checkOf('slower', 2, 20)]);
    await fixture.clock.advance(1);
    expect(new Map(fixture.starts.map(({ id, slotS }) => [id, slotS]))).toEqual(
      new Map([
        ['same', 120],
        ['slower', 120],
      ]),
    );
    expect(fixture.starts).toHaveLength(2);
  });

  it('runs a slot once when checks and clock change while it starts others', async () => {
    fixture = new SchedulerFixture({
      run: () => {
        if (fixture.starts.length > 1) return Promise.resolve();
        fixture.clock.spend(5); // the tick is over, and goes on later
        fixture.clock.stepWall(-10 * SECOND);
        fixture.scheduler.setChecks([checkOf('a', 2, 20), checkOf('b', 2, 20)]);
        return Promise.resolve();
      },
    });
    fixture.clock.stepWall(MINUTE);
    fixture.begin(everyMinute('a'), everyMinute('b'));
    await fixture.clock.advance(4 * MINUTE);
    expect(
      fixture.starts
        .map(({ id, slotS }) => `${id} ${slotS}`)
        .toSorted((x, y) => x.localeCompare(y)),
    ).toEqual(['a 120', 'a 240', 'b 120', 'b 240']);
    expect(fixture.missed).toEqual([]);
  });

  it('gives a new check its first slot after now, without misses before', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(HOUR + 30 * SECOND);
    fixture.scheduler.setChecks([everyMinute('a'), everyMinute('b')]);
    await fixture.clock.advance(MINUTE);
    expect(fixture.starts.filter(({ id }) => id === 'b')).toMatchObject([{ slotS: 61 * 60 }]);
    expect(fixture.missed).toEqual([]);
    expect(fixture.scheduler.checks).toBe(2);
  });

  it('continues with the new slots of a check, and runs none twice', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(10 * MINUTE);
    fixture.scheduler.setChecks([checkOf('a', 5, 50)]);
    await fixture.clock.advance(11 * MINUTE);
    fixture.scheduler.setChecks([everyMinute('a')]);
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.startedS.slice(8).map((s) => s / 60)).toEqual([9, 10, 15, 20, 22, 23]);
  });

  it('reports the waiting slot of a removed check, and lets its active run end', async () => {
    const runs = new Map([
      ['a', gate()],
      ['b', gate()],
    ]);
    fixture = new SchedulerFixture({
      concurrency: 1,
      run: ({ id }) => runs.get(id)?.opened ?? Promise.resolve(),
    });
    fixture.begin(everyMinute('a'), everyMinute('b'));
    await fixture.clock.advance(MINUTE);
    const runningId = fixture.starts[0]?.id ?? '';
    const waitingId = runningId === 'a' ? 'b' : 'a';
    expect(fixture.scheduler.queued).toBe(1);
    fixture.scheduler.setChecks([]);
    expect([fixture.scheduler.running, fixture.scheduler.queued]).toEqual([1, 0]);
    runs.get(runningId)?.open();
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.starts).toHaveLength(1);
    expect(fixture.missedS).toEqual([[waitingId, 60, 60, 'agent_busy']]);
    expect(fixture.scheduler.running).toBe(0);
  });

  it('reports slots of a removed check that were due and not yet taken', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('moved'), everyMinute('stays'));
    await fixture.clock.advance(MINUTE + SECOND);
    // The event loop was blocked: no tick ran meanwhile, and the new checks arrive before one.
    fixture.clock.spend(2 * MINUTE);
    fixture.scheduler.setChecks([everyMinute('stays')]);
    await fixture.clock.advance(MINUTE);
    expect(fixture.missedS).toContainEqual(['moved', 120, 180, 'agent_asleep']);
    expect(fixture.missedS.filter(([id]) => id === 'moved')).toHaveLength(1);
    fixture.scheduler.setChecks([]);
    expect(fixture.missedS.filter(([id]) => id === 'moved')).toHaveLength(1);
  });

  it('counts a run in progress as the previous one of a check that was changed or came back', async () => {
    fixture = new SchedulerFixture({ durationMs: () => 130 * SECOND });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE);
    fixture.scheduler.setChecks([]);
    fixture.scheduler.setChecks([{ ...everyMinute('a'), name: 'renamed' }]);
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.startedS).toEqual([60]);
    expect(fixture.missedS).toEqual([
      ['a', 120, 120, 'previous_run_active'],
      ['a', 180, 180, 'previous_run_active'],
    ]);
  });

  it('runs waiting slots with the newest definition', async () => {
    const busy = gate();
    const names: string[] = [];
    fixture = new SchedulerFixture({
      concurrency: 1,
      run: ({ id, name }) => {
        names.push(name);
        return names.length === 1 ? busy.opened : Promise.resolve(void id);
      },
    });
    const checks = [everyMinute('a'), everyMinute('b')];
    fixture.begin(...checks);
    await fixture.clock.advance(MINUTE);
    fixture.scheduler.setChecks(checks.map((check) => ({ ...check, name: 'new' })));
    busy.open();
    await fixture.clock.advance(0);
    expect(names.slice(1)).toEqual(['new']);
  });

  it('does not run a deactivated check until it is activated', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(MINUTE);
    fixture.scheduler.setChecks([{ ...everyMinute('a'), activated: false }]);
    await fixture.clock.advance(5 * MINUTE);
    fixture.scheduler.setChecks([everyMinute('a')]);
    await fixture.clock.advance(MINUTE);
    expect(fixture.startedS).toEqual([60, 420]);
    expect(fixture.missed).toEqual([]);
  });

  it('skips slots of a new check from before it was added', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(10 * MINUTE + SECOND);
    fixture.clock.stepWall(-5 * MINUTE);
    await fixture.clock.advance(SECOND);
    fixture.scheduler.setChecks([everyMinute('b')]);
    await fixture.clock.advance(6 * MINUTE);
    expect(fixture.starts.filter(({ id }) => id === 'b').map(({ slotS }) => slotS)).toEqual([660]);
    expect(fixture.missed).toEqual([]);
  });
});
