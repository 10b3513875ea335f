import { afterEach, describe, expect, it } from 'vitest';
import {
  checkOf,
  DAY,
  everyMinute,
  HOUR,
  MINUTE,
  SchedulerFixture,
  SECOND,
  T0,
  YEAR,
} from './scheduler-fixture.ts';

describe('Scheduler, when its clocks step', () => {
  let fixture = new SchedulerFixture();

  afterEach(async () => {
    await fixture.scheduler.drain(AbortSignal.abort());
    expect(fixture.clock.pendingTimers).toBe(0);
  });

  /** A check at whole minutes that has run at 12 of them. */
  async function twelveMinutesIn(): Promise<void> {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(12 * MINUTE + 30 * SECOND);
    expect(fixture.starts).toHaveLength(12);
    fixture.starts.length = 0;
  }

  it('reports the slots of a suspension as one range and runs the next one', async () => {
    await twelveMinutesIn();
    await fixture.clock.stall(HOUR + 15 * SECOND); // 1:12:45
    await fixture.clock.advance(30 * SECOND);
    expect(fixture.missedS).toEqual([['a', 13 * 60, 72 * 60, 'agent_asleep']]);
    expect(fixture.missed[0]?.count).toBe(60);
    expect(fixture.startedS).toEqual([73 * 60]);
  });

  it('runs the last slot of a suspension if it is not too late', async () => {
    await twelveMinutesIn();
    await fixture.clock.stall(HOUR - 20 * SECOND); // 1:12:10
    expect(fixture.missedS).toEqual([['a', 13 * 60, 71 * 60, 'agent_asleep']]);
    expect(fixture.starts).toMatchObject([{ slotS: 72 * 60, lateMs: 10 * SECOND }]);
  });

  it('runs a slot late after a short suspension, and misses none', async () => {
    await twelveMinutesIn();
    await fixture.clock.stall(50 * SECOND);
    expect(fixture.starts).toMatchObject([{ slotS: 13 * 60, lateMs: 20 * SECOND }]);
    expect(fixture.missed).toEqual([]);
  });

  it('limits the delay of a slot to the tolerance of its period', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(checkOf('often', 0, 10));
    await fixture.clock.advance(10 * SECOND);
    const slotMs = fixture.starts[0]?.slotMs ?? 0;
    await fixture.clock.advance(slotMs + 10 * SECOND - 1 - fixture.clock.wallMs());
    await fixture.clock.stall(5 * SECOND + 1);
    expect(fixture.starts.at(-1)).toMatchObject({
      slotMs: slotMs + 10 * SECOND,
      lateMs: 5 * SECOND,
    });
    await fixture.clock.advance(4 * SECOND);
    await fixture.clock.stall(6 * SECOND + 2);
    expect(fixture.missed).toMatchObject([{ slot: slotMs + 20 * SECOND, reason: 'agent_asleep' }]);
  });

  it('reports that the machine slept, not that its clock was set', async () => {
    await twelveMinutesIn();
    fixture.clock.suspend(HOUR);
    await fixture.clock.advance(SECOND);
    expect(fixture.missedS).toEqual([['a', 13 * 60, 72 * 60, 'agent_asleep']]);
    expect(fixture.clockSteps).toEqual([]);
    fixture.clock.stepWall(HOUR);
    await fixture.clock.advance(SECOND);
    expect(fixture.missedS.at(-1)).toEqual(['a', 73 * 60, 132 * 60, 'clock_jump']);
    expect(fixture.clockSteps).toEqual([HOUR]);
  });

  it('reports that the clock was set forward over slots, however far', async () => {
    await twelveMinutesIn();
    fixture.clock.stepWall(50 * YEAR);
    await fixture.clock.advance(MINUTE);
    expect(fixture.missed).toEqual([
      {
        checkId: 'a',
        slot: T0 + 13 * MINUTE,
        lastSlot: T0 + 50 * YEAR + 12 * MINUTE,
        count: (50 * YEAR) / MINUTE,
        reason: 'clock_jump',
      },
    ]);
    expect(fixture.starts.map(({ slotMs }) => slotMs)).toEqual([T0 + 50 * YEAR + 13 * MINUTE]);
    expect(fixture.clockSteps).toEqual([50 * YEAR]);
  });

  it('runs no slot twice when the clock is set back, and continues after them', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(2 * HOUR + 30 * SECOND);
    fixture.starts.length = 0;
    fixture.clock.stepWall(-HOUR);
    await fixture.clock.advance(HOUR + 2 * MINUTE);
    expect(fixture.startedS).toEqual([121 * 60, 122 * 60]);
    expect(fixture.missed).toEqual([]);
    expect(fixture.clockSteps).toEqual([-HOUR]);
  });

  it('continues at once when a clock that was wrong from the start is corrected', async () => {
    fixture = new SchedulerFixture({ wallMs: T0 + YEAR });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(5 * MINUTE + 30 * SECOND);
    fixture.starts.length = 0;
    fixture.clock.stepWall(-YEAR);
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.startedS).toEqual([6 * 60, 7 * 60]);
    expect(fixture.missed).toEqual([]);

    // The slots that ran in advance do not run again when their time comes.
    fixture.starts.length = 0;
    fixture.clock.stepWall(YEAR - 10 * MINUTE);
    await fixture.clock.advance(10 * MINUTE);
    const fromYearS = fixture.starts.map(({ slotMs }) => (slotMs - T0 - YEAR) / SECOND);
    expect(fromYearS).toEqual([-2, -1, 0, 6, 7].map((minute) => minute * 60));
  });

  it('continues at once when a clock that was set forward by mistake is set back', async () => {
    await twelveMinutesIn();
    fixture.clock.stepWall(YEAR);
    await fixture.clock.advance(MINUTE);
    fixture.clock.stepWall(-YEAR);
    await fixture.clock.advance(2 * MINUTE);
    expect(fixture.starts.map(({ slotMs }) => (slotMs - T0) / MINUTE)).toEqual([
      YEAR / MINUTE + 13,
      14,
      15,
    ]);
    expect(fixture.clockSteps).toEqual([YEAR, -YEAR]);
  });

  it('reports a slot once that a clock step skipped and that is missed when it comes', async () => {
    fixture = new SchedulerFixture({ durationMs: () => 90 * SECOND });
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(2 * MINUTE - SECOND);
    fixture.clock.stepWall(HOUR);
    await fixture.clock.advance(SECOND);
    expect(fixture.missedS).toEqual([
      ['a', 2 * 60, 61 * 60, 'clock_jump'],
      ['a', 62 * 60, 62 * 60, 'previous_run_active'],
    ]);
    fixture.clock.stepWall(-HOUR);
    await fixture.clock.advance(3 * MINUTE); // 3 runs, so 4 is missed, which is known
    expect(fixture.startedS.map((s) => s / 60)).toEqual([1, 3, 5]);
    expect(fixture.missed).toHaveLength(2);
  });

  it('runs the slots of a skipped time when the clock is set back to before it', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    await fixture.clock.advance(2 * MINUTE + 30 * SECOND); // lives 0 to 2.5
    fixture.clock.stepWall(10 * MINUTE);
    await fixture.clock.advance(2 * MINUTE); // 12.5 to 14.5
    fixture.clock.stepWall(-13 * MINUTE);
    fixture.starts.length = 0;
    fixture.missed.length = 0;
    await fixture.clock.advance(14 * MINUTE); // 1.5 to 15.5
    expect(fixture.startedS.map((s) => s / 60)).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15]);
    expect(fixture.missed).toEqual([]);
  });

  it('does not run the last slot again when it is set forward to where it was', async () => {
    await twelveMinutesIn();
    fixture.clock.stepWall(-YEAR);
    await fixture.clock.advance(SECOND);
    fixture.clock.stepWall(YEAR - 20 * SECOND); // 12:11, and 12:00 was run 11 seconds ago
    await fixture.clock.advance(MINUTE);
    expect(fixture.startedS.map((s) => s / 60)).toEqual([13]);
  });

  it('loses no slot when a clock that was just set back is set back a little more', async () => {
    await twelveMinutesIn();
    fixture.clock.stepWall(-YEAR);
    await fixture.clock.advance(5 * SECOND);
    fixture.clock.stepWall(29_500 - 5 * SECOND); // half a second before the minute
    await fixture.clock.advance(100);
    fixture.clock.stepWall(-1000);
    await fixture.clock.advance(2 * SECOND);
    expect(fixture.starts.map(({ slotMs }) => slotMs)).toEqual([T0 + 13 * MINUTE - YEAR]);
  });

  it('ignores small corrections of the clock', async () => {
    fixture = new SchedulerFixture();
    fixture.begin(everyMinute('a'));
    for (let minute = 1; minute <= 20; minute += 1) {
      await fixture.clock.advance(MINUTE / 2 + 100);
      fixture.clock.stepWall(minute % 2 === 0 ? -200 : 200);
      await fixture.clock.advance(MINUTE / 2 - 100);
    }
    expect(fixture.startedS).toEqual(Array.from({ length: 20 }, (_, n) => (n + 1) * 60));
    expect(fixture.clockSteps).toEqual([]);
    expect(fixture.missed).toEqual([]);
  });

  it('measures the delay of a slot by monotonic time', async () => {
    fixture = new SchedulerFixture({ concurrency: 1, durationMs: () => 20 * SECOND });
    fixture.begin(everyMinute('a'), everyMinute('b'));
    await fixture.clock.advance(MINUTE);
    fixture.clock.stepWall(-DAY);
    await fixture.clock.advance(20 * SECOND);
    expect(fixture.starts.map(({ lateMs }) => lateMs)).toEqual([0, 20 * SECOND]);
    expect(fixture.missed).toEqual([]);
  });
});
