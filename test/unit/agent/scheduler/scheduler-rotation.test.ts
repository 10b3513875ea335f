import { afterEach, describe, expect, it } from 'vitest';
import type { Check } from '../../../../src/model/check/check.ts';
import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import {
  nextOwnSlotAfter,
  type RotationRule,
  rotationRuleOf,
} from '../../../../src/model/schedule/rotation.ts';
import { slotRuleOf } from '../../../../src/model/schedule/slot-rule.ts';
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

const NO_RULE: RotationRule = { periodMs: 1, phaseMs: 0, stride: 1, index: 0 };

const LOCATIONS = ['north', 'south', 'west'];

/** The slots of the check where these locations rotate and this is number `index` of them. */
function turn(check: Check, index: number, locations = LOCATIONS): Map<string, RotationRule> {
  const slots = slotRuleOf(check.id, check.frequency, check.frequencyOffset);
  const rule = rotationRuleOf(slots, false, locations, locations[index] ?? '');
  if (rule === null) throw new Error('no such location');
  return new Map([[check.id, rule]]);
}

describe('Scheduler, with rotations', () => {
  let fixture = new SchedulerFixture();

  afterEach(async () => {
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(fixture.clock.pendingTimers).toBe(0);
    expect(fixture.unfinished.size).toBe(0);
  });

  function begin(check: Check, turns: ReadonlyMap<string, RotationRule>): void {
    fixture.scheduler.setChecks([check], turns);
    fixture.scheduler.start();
  }

  /** All slots that were missed, one by one: minutes from T0. */
  function missedMinutes(missed: readonly MissedSlots[]): number[] {
    return missed.flatMap(({ slot, lastSlot, count }) => {
      const everyMs = count === 1 ? 0 : (lastSlot - slot) / (count - 1);
      return Array.from({ length: count }, (_, n) => ((slot + n * everyMs) / MINUTE) % (24 * 60));
    });
  }

  it('runs each slot in one of the locations in rotation', async () => {
    const check = everyMinute('a');
    const started: number[] = [];
    for (let index = 0; index < LOCATIONS.length; index += 1) {
      fixture = new SchedulerFixture();
      begin(check, turn(check, index));
      await fixture.clock.advance(9 * MINUTE);
      const minutes = fixture.startedS.map((s) => s / 60);
      expect(minutes).toHaveLength(3);
      expect(new Set(minutes.map((minute) => minute % 3)).size).toBe(1);
      started.push(...minutes);
      await fixture.scheduler.drain(AbortSignal.abort());
    }
    expect(started.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('runs a check every second if its rotation says so, whatever its frequency (trust model SC7)', async () => {
    fixture = new SchedulerFixture();
    const hourly = checkOf('a', 60, 10);
    begin(hourly, new Map([['a', { periodMs: SECOND, phaseMs: 0, stride: 1, index: 0 }]]));
    await fixture.clock.advance(5 * SECOND);
    expect(fixture.startedS).toEqual([1, 2, 3, 4, 5]);
  });

  it('runs every slot without a rotation, also beside a check with one', async () => {
    fixture = new SchedulerFixture();
    const [a, b] = [everyMinute('a'), everyMinute('b')];
    fixture.scheduler.setChecks([a, b], turn(b, 1));
    fixture.scheduler.start();
    await fixture.clock.advance(6 * MINUTE);
    expect(fixture.starts.filter(({ id }) => id === 'a')).toHaveLength(6);
    expect(fixture.starts.filter(({ id }) => id === 'b')).toHaveLength(2);
  });

  it("lets a slot wait half of the check's own period, however long the rotation is", async () => {
    const busy = gate();
    fixture = new SchedulerFixture({ concurrency: 1, run: () => busy.opened });
    const check = checkOf('a', 0, 10);
    const turns = turn(check, 0);
    const slotMs = nextOwnSlotAfter(turns.get('a') ?? NO_RULE, T0);
    begin(check, turns);
    fixture.ask(everyMinute('long'));
    await fixture.clock.advance(slotMs - T0 + 5 * SECOND);
    expect(fixture.scheduler.queued).toBe(1);
    await fixture.clock.advance(2 * SECOND);
    expect(fixture.missed).toMatchObject([{ slot: slotMs, reason: 'agent_busy', count: 1 }]);
    busy.open();
  });

  it('reports only its own slots as missed, evenly spaced', async () => {
    fixture = new SchedulerFixture();
    const check = everyMinute('a');
    begin(check, turn(check, 1));
    await fixture.clock.advance(10 * MINUTE);
    const before = fixture.startedS.map((s) => s / 60);
    await fixture.clock.stall(HOUR + 30 * SECOND);
    await fixture.clock.advance(3 * MINUTE);
    const minutes = [...fixture.startedS.map((s) => s / 60), ...missedMinutes(fixture.missed)];
    expect(fixture.missed).toHaveLength(1);
    expect(fixture.missed[0]?.count).toBeGreaterThan(15);
    const first = before[0] ?? 0;
    expect(minutes.toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: minutes.length }, (_, n) => first + 3 * n),
    );
  });

  it('retains its next slot if it gets the same rotation again', async () => {
    fixture = new SchedulerFixture();
    const check = everyMinute('a');
    begin(check, turn(check, 0));
    await fixture.clock.advance(9 * MINUTE + 30 * SECOND);
    const started = fixture.startedS;
    for (let reload = 0; reload < 540; reload += 1) {
      fixture.scheduler.setChecks([{ ...check }], turn(check, 0));
      await fixture.clock.advance(SECOND);
    }
    expect(fixture.startedS).toEqual([...started, ...started.map((s) => s + 540)]);
  });

  it('switches to another rotation at once, and runs no common slot twice', async () => {
    fixture = new SchedulerFixture();
    const check = everyMinute('a');
    begin(check, turn(check, 0));
    await fixture.clock.advance(6 * MINUTE);
    const before = fixture.startedS.map((s) => s / 60);
    // At the instant of a slot, changes to a rotation with the same slot, and back.
    fixture.scheduler.setChecks([check]);
    fixture.scheduler.setChecks([check], turn(check, 0, ['north', 'south']));
    fixture.scheduler.setChecks([check], turn(check, 1, ['north', 'south']));
    fixture.scheduler.setChecks([check]);
    await fixture.clock.advance(3 * MINUTE);
    expect(fixture.startedS.map((s) => s / 60)).toEqual([...before, 7, 8, 9]);
    expect(fixture.missed).toEqual([]);
  });

  it('still runs a slot that is due when its rotation changes', async () => {
    fixture = new SchedulerFixture();
    const check = everyMinute('a');
    begin(check, new Map());
    await fixture.clock.advance(2 * MINUTE - 1);
    fixture.clock.stepWall(1);
    // One of these has the slot of this minute.
    const both = ['north', 'south'].map((_, index) => turn(check, index, ['north', 'south']));
    const having = both.find((turns) => {
      const { index = -1 } = turns.get('a') ?? {};
      return (fixture.clock.wallMs() / MINUTE) % 2 === index;
    });
    fixture.scheduler.setChecks([check], having ?? new Map());
    await fixture.clock.advance(3 * MINUTE);
    expect(fixture.startedS.map((s) => s / 60)).toEqual([1, 2, 4]);
  });
});
