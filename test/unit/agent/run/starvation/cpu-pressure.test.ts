import { expect, it } from 'vitest';
import type { CpuAccount } from '../../../../../src/agent/run/starvation/cpu-accounting.ts';
import { CpuPressure, causeOf } from '../../../../../src/agent/run/starvation/cpu-pressure.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';

const NOTHING: CpuAccount = { throttledMs: 0, stolenMs: 0, ownMs: 0 };

function setUp() {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const seen = { starvedMs: 0, account: NOTHING };
  const meter = {
    mark: () => ({ runDelayMs: seen.starvedMs, lateMs: 0, busyMs: 0 }),
    sinceMs: (mark: { readonly runDelayMs: number }) => seen.starvedMs - mark.runDelayMs,
  };
  const pressure = new CpuPressure({ clock, log, meter, readAccount: () => seen.account });
  /** A window in which the agent was kept from its work for this share. */
  const pass = async (share: number): Promise<void> => {
    seen.starvedMs += share * 5000;
    await clock.advance(5000);
  };
  return { clock, records, seen, pressure, pass };
}

it.each([
  [0.2, false, false, false],
  [0.4, true, false, false],
  [0.7, true, true, false],
  [0.95, true, true, true],
])(
  'starved for %d of the time it leaves out: evidence %s, detail %s, runs %s',
  async (share, evidence, detail, run) => {
    const { pressure, pass } = setUp();
    await pass(share);
    expect(pressure.sheds('evidence')).toBe(evidence);
    expect(pressure.sheds('detail')).toBe(detail);
    expect(pressure.shedsRunOf('a')).toBe(run);
  },
);

it('skips every second run of each check, for half of the checks at a time', async () => {
  const { pressure, pass } = setUp();
  await pass(0.95);
  const slots = [1, 2, 3, 4].map(() => ['a', 'b', 'c'].map((id) => pressure.shedsRunOf(id)));
  expect(slots).toEqual([
    [true, false, true],
    [false, true, false],
    [true, false, true],
    [false, true, false],
  ]);
});

it('skips nothing when there is CPU again', async () => {
  const { pressure, pass } = setUp();
  await pass(0.95);
  expect(pressure.shedsRunOf('a')).toBe(true);
  await pass(0);
  expect(pressure.sheds('evidence')).toBe(false);
  expect(pressure.shedsRunOf('a')).toBe(false);
});

it('logs it once a minute, with the cause and the cure', async () => {
  const { clock, records, seen, pressure, pass } = setUp();
  seen.account = { ...NOTHING, throttledMs: 4000 };
  await pass(0.95);
  for (let attempt = 0; attempt < 50; attempt += 1) pressure.starved();
  expect(records()).toMatchObject([
    { level: 'warn', cause: 'quota', sharePercent: 95, leftOut: 'evidence, detail, run', count: 1 },
  ]);
  expect(records()[0]?.msg).toContain('raise the CPU limit');
  await clock.advance(60_000);
  pressure.starved();
  expect(records()).toHaveLength(2);
});

it.each([
  ['quota', 1000, { ...NOTHING, throttledMs: 900 }],
  ['neighbours', 1000, NOTHING],
  ['own load', 0, NOTHING],
])('names %s as the cause in the first seconds, too', async (cause, starvedMs, account) => {
  const { clock, records, seen, pressure } = setUp();
  await clock.advance(2000);
  Object.assign(seen, { starvedMs, account });
  pressure.starved();
  expect(records()).toMatchObject([{ cause }]);
});

it.each([
  ['quota', { ...NOTHING, throttledMs: 1000 }],
  ['steal', { ...NOTHING, stolenMs: 1000 }],
  ['own load', { ...NOTHING, ownMs: 4500 }],
  ['neighbours', { ...NOTHING, ownMs: 200 }],
])('names %s as the cause', (cause, after) => {
  expect(causeOf(NOTHING, after, { starvedMs: 2000, elapsedMs: 5000 })).toBe(cause);
});
