import { expect, it } from 'vitest';
import { elapsedMs, type Moment, momentOf } from '../../../../src/runtime/boot-clock.ts';
import { everyMinute, gate, MINUTE, SchedulerFixture, SECOND, T0 } from './scheduler-fixture.ts';

/** A fixture that holds its slots after each standstill until the test lets them go. */
function heldFixture(concurrency = 10, durationMs = 0) {
  const answered = gate();
  const asked: Moment[] = [];
  const fixture = new SchedulerFixture({
    concurrency,
    durationMs: () => durationMs,
    onStoodStill(since) {
      asked.push(since);
      return answered.opened;
    },
  });
  return { fixture, asked, answer: answered.open };
}

it('starts nothing after a standstill until the assignment is known', async () => {
  const { fixture, asked, answer } = heldFixture();
  fixture.begin(
    everyMinute('gone'),
    everyMinute('back'),
    everyMinute('mine'),
    everyMinute('alone'),
  );
  await fixture.clock.advance(50 * SECOND);
  const before = momentOf(fixture.clock);
  fixture.clock.spend(15 * SECOND);
  await fixture.clock.advance(3 * SECOND);
  // Once, however many ticks pass.
  expect(asked).toEqual([before]);
  expect(fixture.startedS).toEqual([]);
  expect(fixture.clock.monotonicMs() - fixture.scheduler.lastTickMs).toBeLessThanOrEqual(SECOND);

  const left = [everyMinute('back'), everyMinute('mine'), everyMinute('alone')];
  const answeredUntil = new Map([
    ['back', T0 + 64 * SECOND],
    // No other agent answered for it after this.
    ['alone', T0 + 47 * SECOND],
  ]);
  fixture.scheduler.setChecks(left, new Map(), undefined, answeredUntil);
  answer();
  await fixture.clock.advance(0);
  const started = fixture.starts.map(({ id, slotS, lateMs }) => `${id} ${slotS} ${lateMs}`);
  expect(new Set(started)).toEqual(new Set(['alone 60 8000', 'mine 60 8000']));
  // If another agent also reports a slot, its report takes precedence.
  expect(new Set(fixture.missedS)).toEqual(
    new Set([
      ['back', 60, 60, 'agent_asleep'],
      ['gone', 60, 60, 'agent_asleep'],
    ]),
  );
  await fixture.clock.advance(MINUTE);
  const later = fixture.starts.slice(2).map(({ id, slotS }) => `${id} ${slotS}`);
  expect(new Set(later)).toEqual(new Set(['alone 120', 'back 120', 'mine 120']));
});

it('continues at once if there is nothing to wait for', async () => {
  const fixture = new SchedulerFixture({ onStoodStill: () => null });
  fixture.begin(everyMinute('a'));
  await fixture.clock.advance(50 * SECOND);
  fixture.clock.spend(15 * SECOND);
  await fixture.clock.advance(0);
  expect(fixture.startedS).toEqual([60]);
});

it('waits after the machine slept, but not after it was busy for a while', async () => {
  const { fixture, asked } = heldFixture();
  fixture.begin(everyMinute('a'));
  await fixture.clock.advance(10 * SECOND);
  fixture.clock.spend(900);
  await fixture.clock.advance(2 * SECOND);
  expect(asked).toEqual([]);
  // The monotonic clock stops during a sleep. The clocks of a paused virtual machine show no gap.
  for (const stand of [
    () => fixture.clock.suspend(30 * SECOND),
    () => fixture.clock.stepWall(30 * SECOND),
  ]) {
    const before = momentOf(fixture.clock);
    stand();
    await fixture.clock.advance(2 * SECOND);
    const last = asked.pop() ?? { bootMs: 0, wallMs: 0 };
    expect(asked).toEqual([]);
    // The last tick before, and ticks are at most a second apart.
    expect(elapsedMs(last, before)).toBeLessThanOrEqual(SECOND);
  }
});

it('still ticks if it is drained while it waits', async () => {
  const { fixture, answer } = heldFixture(1, 90 * SECOND);
  fixture.begin(everyMinute('a'));
  await fixture.clock.advance(70 * SECOND);
  fixture.clock.spend(15 * SECOND);
  await fixture.clock.advance(0);
  const drained = fixture.scheduler.drain(new AbortController().signal);
  answer();
  await fixture.clock.advance(30 * SECOND);
  expect(fixture.clock.monotonicMs() - fixture.scheduler.lastTickMs).toBeLessThanOrEqual(SECOND);
  await fixture.clock.advance(60 * SECOND);
  await drained;
  expect(fixture.clock.pendingTimers).toBe(0);
});

it('waits for the later answer after another standstill', async () => {
  const [first, second] = [gate(), gate()];
  const answers = [first.opened, second.opened];
  const fixture = new SchedulerFixture({ onStoodStill: () => answers.shift() ?? null });
  fixture.begin(everyMinute('a'));
  await fixture.clock.advance(50 * SECOND);
  for (let time = 0; time < 2; time += 1) await fixture.clock.stall(6 * SECOND);
  first.open();
  await fixture.clock.advance(SECOND);
  expect(fixture.startedS).toEqual([]);
  second.open();
  await fixture.clock.advance(0);
  expect(fixture.startedS).toEqual([60]);
});

it.each([
  ['drops it where it is answered for', 62],
  ['starts it where it is not', 59],
])('holds a slot that waited for a permit, too, and %s', async (_, answeredS) => {
  const { fixture, answer } = heldFixture(1, 20 * SECOND);
  const checks = [everyMinute('a'), everyMinute('b')];
  fixture.begin(...checks);
  // Both are due at 60 s; the run of one takes the permit until 80 s.
  await fixture.clock.advance(70 * SECOND);
  const [first = ''] = fixture.starts.map(({ id }) => id);
  const second = first === 'a' ? 'b' : 'a';
  expect([fixture.starts.length, fixture.scheduler.queued]).toEqual([1, 1]);
  fixture.clock.spend(12 * SECOND);
  await fixture.clock.advance(SECOND);
  expect([fixture.starts.length, fixture.scheduler.running]).toEqual([1, 0]);
  const answered = new Map(checks.map(({ id }) => [id, T0 + answeredS * SECOND]));
  fixture.scheduler.setChecks(checks, new Map(), undefined, answered);
  answer();
  await fixture.clock.advance(0);
  const isDropped = answeredS > 60;
  expect(fixture.starts.slice(1).map(({ id }) => id)).toEqual(isDropped ? [] : [second]);
  expect(fixture.missedS).toEqual(isDropped ? [[second, 60, 60, 'agent_busy']] : []);
});

it('retains a waiting slot in the future of the clock, whatever slots others answer for', async () => {
  const fixture = new SchedulerFixture({ concurrency: 1, durationMs: () => 20 * SECOND });
  const checks = [everyMinute('a'), everyMinute('b')];
  fixture.begin(...checks);
  // Both are due at 60 s; then the clock is set back to before that.
  await fixture.clock.advance(61 * SECOND);
  expect([fixture.starts.length, fixture.scheduler.queued]).toEqual([1, 1]);
  fixture.clock.stepWall(-30 * SECOND);
  const ahead = new Map(checks.map(({ id }) => [id, T0 + 75 * SECOND]));
  fixture.scheduler.setChecks(checks, new Map(), undefined, ahead);
  await fixture.clock.advance(20 * SECOND);
  expect(fixture.startedS).toEqual([60, 60]);
  expect(fixture.missedS).toEqual([]);
});

it('reports due slots and ends if it is drained while it waits', async () => {
  const { fixture, answer } = heldFixture();
  fixture.begin(everyMinute('a'));
  await fixture.clock.advance(50 * SECOND);
  fixture.clock.spend(15 * SECOND);
  await fixture.clock.advance(0);
  await fixture.scheduler.drain(new AbortController().signal);
  expect(fixture.missedS).toEqual([['a', 60, 60, 'agent_stopped']]);
  answer();
  await fixture.clock.advance(MINUTE);
  expect(fixture.startedS).toEqual([]);
  expect(fixture.clock.pendingTimers).toBe(0);
});
