import { afterEach, describe, expect, it } from 'vitest';
import { checkOf, everyMinute, gate, HOUR, MINUTE, Rig, SECOND } from './rig.ts';

describe('Scheduler, when its checks change', () => {
  let rig = new Rig();

  afterEach(async () => {
    await rig.scheduler.drain(AbortSignal.abort());
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it('retains every phase, however often it gets the same checks', async () => {
    rig = new Rig();
    rig.begin(checkOf('a', 1, null));
    await rig.clock.advance(MINUTE);
    const [first] = rig.startedS;
    for (let reload = 0; reload < 180; reload += 1) {
      rig.scheduler.setChecks([checkOf('a', 1, null)]);
      await rig.clock.advance(SECOND);
    }
    expect(rig.startedS.map((s) => s - (first ?? 0))).toEqual([0, 60, 120, 180]);
    expect(rig.missed).toEqual([]);
  });

  it('runs a slot once when it reloads at the same instant', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    rig.scheduler.setChecks([everyMinute('a')]);
    await rig.clock.advance(0);
    rig.scheduler.setChecks([]);
    rig.scheduler.setChecks([everyMinute('a')]);
    await rig.clock.advance(30 * SECOND);
    expect(rig.startedS).toEqual([60]);
  });

  it('starts a slot that was due before the reload and not yet taken', async () => {
    rig = new Rig();
    rig.begin(everyMinute('same'), everyMinute('slower'));
    await rig.clock.advance(2 * MINUTE - 1);
    rig.starts.length = 0;
    rig.clock.stepWall(1);
    rig.scheduler.setChecks([everyMinute('same'), checkOf('slower', 2, 20)]);
    await rig.clock.advance(1);
    expect(new Map(rig.starts.map(({ id, slotS }) => [id, slotS]))).toEqual(
      new Map([
        ['same', 120],
        ['slower', 120],
      ]),
    );
    expect(rig.starts).toHaveLength(2);
  });

  it('runs a slot once when checks and clock change while it starts others', async () => {
    rig = new Rig({
      run: () => {
        if (rig.starts.length > 1) return Promise.resolve();
        rig.clock.spend(5); // the turn is over, and goes on later
        rig.clock.stepWall(-10 * SECOND);
        rig.scheduler.setChecks([checkOf('a', 2, 20), checkOf('b', 2, 20)]);
        return Promise.resolve();
      },
    });
    rig.clock.stepWall(MINUTE);
    rig.begin(everyMinute('a'), everyMinute('b'));
    await rig.clock.advance(4 * MINUTE);
    expect(
      rig.starts.map(({ id, slotS }) => `${id} ${slotS}`).toSorted((x, y) => x.localeCompare(y)),
    ).toEqual(['a 120', 'a 240', 'b 120', 'b 240']);
    expect(rig.missed).toEqual([]);
  });

  it('gives a new check its first slot after now, without misses before', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(HOUR + 30 * SECOND);
    rig.scheduler.setChecks([everyMinute('a'), everyMinute('b')]);
    await rig.clock.advance(MINUTE);
    expect(rig.starts.filter(({ id }) => id === 'b')).toMatchObject([{ slotS: 61 * 60 }]);
    expect(rig.missed).toEqual([]);
    expect(rig.scheduler.checks).toBe(2);
  });

  it('continues with the new slots of a check, and runs none twice', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(10 * MINUTE);
    rig.scheduler.setChecks([checkOf('a', 5, 50)]);
    await rig.clock.advance(11 * MINUTE);
    rig.scheduler.setChecks([everyMinute('a')]);
    await rig.clock.advance(2 * MINUTE);
    expect(rig.startedS.slice(8).map((s) => s / 60)).toEqual([9, 10, 15, 20, 22, 23]);
  });

  it('reports the waiting slot of a removed check, and lets its active run end', async () => {
    const runs = new Map([
      ['a', gate()],
      ['b', gate()],
    ]);
    rig = new Rig({ concurrency: 1, run: ({ id }) => runs.get(id)?.opened ?? Promise.resolve() });
    rig.begin(everyMinute('a'), everyMinute('b'));
    await rig.clock.advance(MINUTE);
    const runningId = rig.starts[0]?.id ?? '';
    const waitingId = runningId === 'a' ? 'b' : 'a';
    expect(rig.scheduler.queued).toBe(1);
    rig.scheduler.setChecks([]);
    expect([rig.scheduler.running, rig.scheduler.queued]).toEqual([1, 0]);
    runs.get(runningId)?.open();
    await rig.clock.advance(2 * MINUTE);
    expect(rig.starts).toHaveLength(1);
    expect(rig.missedS).toEqual([[waitingId, 60, 60, 'agent_busy']]);
    expect(rig.scheduler.running).toBe(0);
  });

  it('reports slots of a removed check that were due and not yet taken', async () => {
    rig = new Rig();
    rig.begin(everyMinute('moved'), everyMinute('stays'));
    await rig.clock.advance(MINUTE + SECOND);
    // The event loop was held: no turn came since then, and the news of the move is next in line.
    rig.clock.spend(2 * MINUTE);
    rig.scheduler.setChecks([everyMinute('stays')]);
    await rig.clock.advance(MINUTE);
    expect(rig.missedS).toContainEqual(['moved', 120, 180, 'agent_asleep']);
    expect(rig.missedS.filter(([id]) => id === 'moved')).toHaveLength(1);
    rig.scheduler.setChecks([]);
    expect(rig.missedS.filter(([id]) => id === 'moved')).toHaveLength(1);
  });

  it('counts a run in progress as the previous one of a check that was changed or came back', async () => {
    rig = new Rig({ durationMs: () => 130 * SECOND });
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    rig.scheduler.setChecks([]);
    rig.scheduler.setChecks([{ ...everyMinute('a'), name: 'renamed' }]);
    await rig.clock.advance(2 * MINUTE);
    expect(rig.startedS).toEqual([60]);
    expect(rig.missedS).toEqual([
      ['a', 120, 120, 'previous_run_active'],
      ['a', 180, 180, 'previous_run_active'],
    ]);
  });

  it('runs waiting slots with the newest definition', async () => {
    const busy = gate();
    const names: string[] = [];
    rig = new Rig({
      concurrency: 1,
      run: ({ id, name }) => {
        names.push(name);
        return names.length === 1 ? busy.opened : Promise.resolve(void id);
      },
    });
    const checks = [everyMinute('a'), everyMinute('b')];
    rig.begin(...checks);
    await rig.clock.advance(MINUTE);
    rig.scheduler.setChecks(checks.map((check) => ({ ...check, name: 'new' })));
    busy.open();
    await rig.clock.advance(0);
    expect(names.slice(1)).toEqual(['new']);
  });

  it('does not run a deactivated check until it is activated', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(MINUTE);
    rig.scheduler.setChecks([{ ...everyMinute('a'), activated: false }]);
    await rig.clock.advance(5 * MINUTE);
    rig.scheduler.setChecks([everyMinute('a')]);
    await rig.clock.advance(MINUTE);
    expect(rig.startedS).toEqual([60, 420]);
    expect(rig.missed).toEqual([]);
  });

  it('skips slots of a new check from before it was added', async () => {
    rig = new Rig();
    rig.begin(everyMinute('a'));
    await rig.clock.advance(10 * MINUTE + SECOND);
    rig.clock.stepWall(-5 * MINUTE);
    await rig.clock.advance(SECOND);
    rig.scheduler.setChecks([everyMinute('b')]);
    await rig.clock.advance(6 * MINUTE);
    expect(rig.starts.filter(({ id }) => id === 'b').map(({ slotS }) => slotS)).toEqual([660]);
    expect(rig.missed).toEqual([]);
  });
});
