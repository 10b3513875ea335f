import { expect, it } from 'vitest';
import { elapsedMs, type Moment, momentOf } from '../../../../src/runtime/boot-clock.ts';
import { everyMinute, gate, MINUTE, Rig, SECOND, T0 } from './rig.ts';

/** A rig that holds its slots after each standstill until the test lets them go. */
function heldRig(concurrency = 10, durationMs = 0) {
  const answered = gate();
  const asked: Moment[] = [];
  const rig = new Rig({
    concurrency,
    durationMs: () => durationMs,
    onStoodStill(since) {
      asked.push(since);
      return answered.opened;
    },
  });
  return { rig, asked, answer: answered.open };
}

it('starts nothing after a standstill until the assignment is known', async () => {
  const { rig, asked, answer } = heldRig();
  rig.begin(everyMinute('gone'), everyMinute('back'), everyMinute('mine'), everyMinute('alone'));
  await rig.clock.advance(50 * SECOND);
  const before = momentOf(rig.clock);
  rig.clock.spend(15 * SECOND);
  await rig.clock.advance(3 * SECOND);
  // Once, however many turns go by.
  expect(asked).toEqual([before]);
  expect(rig.startedS).toEqual([]);
  expect(rig.clock.monotonicMs() - rig.scheduler.lastTickMs).toBeLessThanOrEqual(SECOND);

  const left = [everyMinute('back'), everyMinute('mine'), everyMinute('alone')];
  const answeredUntil = new Map([
    ['back', T0 + 64 * SECOND],
    // Nobody had it after this.
    ['alone', T0 + 47 * SECOND],
  ]);
  rig.scheduler.setChecks(left, new Map(), undefined, answeredUntil);
  answer();
  await rig.clock.advance(0);
  const started = rig.starts.map(({ id, slotS, lateMs }) => `${id} ${slotS} ${lateMs}`);
  expect(new Set(started)).toEqual(new Set(['alone 60 8000', 'mine 60 8000']));
  // What another tells of them counts more, where there is one.
  expect(new Set(rig.missedS)).toEqual(
    new Set([
      ['back', 60, 60, 'agent_asleep'],
      ['gone', 60, 60, 'agent_asleep'],
    ]),
  );
  await rig.clock.advance(MINUTE);
  const later = rig.starts.slice(2).map(({ id, slotS }) => `${id} ${slotS}`);
  expect(new Set(later)).toEqual(new Set(['alone 120', 'back 120', 'mine 120']));
});

it('continues at once if there is nothing to wait for', async () => {
  const rig = new Rig({ onStoodStill: () => null });
  rig.begin(everyMinute('a'));
  await rig.clock.advance(50 * SECOND);
  rig.clock.spend(15 * SECOND);
  await rig.clock.advance(0);
  expect(rig.startedS).toEqual([60]);
});

it('waits after the machine slept, but not after it was busy for a while', async () => {
  const { rig, asked } = heldRig();
  rig.begin(everyMinute('a'));
  await rig.clock.advance(10 * SECOND);
  rig.clock.spend(900);
  await rig.clock.advance(2 * SECOND);
  expect(asked).toEqual([]);
  // The monotonic clock stands still meanwhile; that of a virtual machine which is paused shows nothing.
  for (const stand of [
    () => rig.clock.suspend(30 * SECOND),
    () => rig.clock.stepWall(30 * SECOND),
  ]) {
    const before = momentOf(rig.clock);
    stand();
    await rig.clock.advance(2 * SECOND);
    const last = asked.pop() ?? { bootMs: 0, wallMs: 0 };
    expect(asked).toEqual([]);
    // Of the last turn before, which are a second apart.
    expect(elapsedMs(last, before)).toBeLessThanOrEqual(SECOND);
  }
});

it('still ticks if it is drained while it waits', async () => {
  const { rig, answer } = heldRig(1, 90 * SECOND);
  rig.begin(everyMinute('a'));
  await rig.clock.advance(70 * SECOND);
  rig.clock.spend(15 * SECOND);
  await rig.clock.advance(0);
  const drained = rig.scheduler.drain(new AbortController().signal);
  answer();
  await rig.clock.advance(30 * SECOND);
  expect(rig.clock.monotonicMs() - rig.scheduler.lastTickMs).toBeLessThanOrEqual(SECOND);
  await rig.clock.advance(60 * SECOND);
  await drained;
  expect(rig.clock.pendingTimers).toBe(0);
});

it('waits for the later answer after another standstill', async () => {
  const [first, second] = [gate(), gate()];
  const answers = [first.opened, second.opened];
  const rig = new Rig({ onStoodStill: () => answers.shift() ?? null });
  rig.begin(everyMinute('a'));
  await rig.clock.advance(50 * SECOND);
  for (let time = 0; time < 2; time += 1) await rig.clock.stall(6 * SECOND);
  first.open();
  await rig.clock.advance(SECOND);
  expect(rig.startedS).toEqual([]);
  second.open();
  await rig.clock.advance(0);
  expect(rig.startedS).toEqual([60]);
});

it.each([
  ['drops it where it is answered for', 62],
  ['starts it where it is not', 59],
])('holds a slot that waited for a place, too, and %s', async (_, answeredS) => {
  const { rig, answer } = heldRig(1, 20 * SECOND);
  const checks = [everyMinute('a'), everyMinute('b')];
  rig.begin(...checks);
  // Both are due at 60 s; the run of one takes the place until 80 s.
  await rig.clock.advance(70 * SECOND);
  const [first = ''] = rig.starts.map(({ id }) => id);
  const second = first === 'a' ? 'b' : 'a';
  expect([rig.starts.length, rig.scheduler.queued]).toEqual([1, 1]);
  rig.clock.spend(12 * SECOND);
  await rig.clock.advance(SECOND);
  expect([rig.starts.length, rig.scheduler.running]).toEqual([1, 0]);
  const answered = new Map(checks.map(({ id }) => [id, T0 + answeredS * SECOND]));
  rig.scheduler.setChecks(checks, new Map(), undefined, answered);
  answer();
  await rig.clock.advance(0);
  const isDropped = answeredS > 60;
  expect(rig.starts.slice(1).map(({ id }) => id)).toEqual(isDropped ? [] : [second]);
  expect(rig.missedS).toEqual(isDropped ? [[second, 60, 60, 'agent_busy']] : []);
});

it('retains a waiting slot in the future of the clock, whatever slots others answer for', async () => {
  const rig = new Rig({ concurrency: 1, durationMs: () => 20 * SECOND });
  const checks = [everyMinute('a'), everyMinute('b')];
  rig.begin(...checks);
  // Both are due at 60 s; then the clock is set back to before that.
  await rig.clock.advance(61 * SECOND);
  expect([rig.starts.length, rig.scheduler.queued]).toEqual([1, 1]);
  rig.clock.stepWall(-30 * SECOND);
  const ahead = new Map(checks.map(({ id }) => [id, T0 + 75 * SECOND]));
  rig.scheduler.setChecks(checks, new Map(), undefined, ahead);
  await rig.clock.advance(20 * SECOND);
  expect(rig.startedS).toEqual([60, 60]);
  expect(rig.missedS).toEqual([]);
});

it('reports due slots and ends if it is drained while it waits', async () => {
  const { rig, answer } = heldRig();
  rig.begin(everyMinute('a'));
  await rig.clock.advance(50 * SECOND);
  rig.clock.spend(15 * SECOND);
  await rig.clock.advance(0);
  await rig.scheduler.drain(new AbortController().signal);
  expect(rig.missedS).toEqual([['a', 60, 60, 'agent_stopped']]);
  answer();
  await rig.clock.advance(MINUTE);
  expect(rig.startedS).toEqual([]);
  expect(rig.clock.pendingTimers).toBe(0);
});
