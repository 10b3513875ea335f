import { expect, it } from 'vitest';
import type { CpuAccount } from '../../../../../src/agent/run/starvation/cpu-accounting.ts';
import { LoadShedding } from '../../../../../src/agent/run/starvation/load-shedding.ts';
import { causeOf } from '../../../../../src/agent/run/starvation/starvation-cause.ts';
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
  const shedding = new LoadShedding({ clock, log, meter, readAccount: () => seen.account });
  /** A window in which the agent was starved for this share of the time. */
  const pass = async (share: number): Promise<void> => {
    seen.starvedMs += share * 5000;
    await clock.advance(5000);
  };
  return { clock, records, seen, shedding, pass };
}

it.each([
  [0.2, false, false, false],
  [0.4, true, false, false],
  [0.7, true, true, false],
  [0.95, true, true, true],
])(
  'starved for %d of the time it leaves out: evidence %s, detail %s, runs %s',
  async (share, evidence, detail, run) => {
    const { shedding, pass } = setUp();
    await pass(share);
    expect(shedding.sheds('evidence')).toBe(evidence);
    expect(shedding.sheds('detail')).toBe(detail);
    expect(shedding.shedsRunOf('a')).toBe(run);
  },
);

it('skips every second run of each check, for half of the checks at a time', async () => {
  const { shedding, pass } = setUp();
  await pass(0.95);
  const slots = [1, 2, 3, 4].map(() => ['a', 'b', 'c'].map((id) => shedding.shedsRunOf(id)));
  expect(slots).toEqual([
    [true, false, true],
    [false, true, false],
    [true, false, true],
    [false, true, false],
  ]);
});

it('does not skip the slot after a run without a verdict, once in a row', async () => {
  const { shedding, pass } = setUp();
  await pass(0.95);
  const skipped = [1, 2, 3, 4, 5, 6, 7].map(() => {
    const isShed = shedding.shedsRunOf('a');
    if (!isShed) shedding.hadNoVerdict('a');
    return isShed;
  });
  expect(skipped).toEqual([true, false, false, true, false, false, true]);
});

it('skips as usual again after a run that had a verdict', async () => {
  const { shedding, pass } = setUp();
  await pass(0.95);
  expect([shedding.shedsRunOf('a'), shedding.shedsRunOf('a')]).toEqual([true, false]);
  shedding.hadNoVerdict('a');
  expect(shedding.shedsRunOf('a')).toBe(false);
  const slots = [1, 2, 3].map(() => shedding.shedsRunOf('a'));
  expect(slots).toEqual([true, false, true]);
});

it('gives each of many checks without verdicts as many runs', async () => {
  const { shedding, pass } = setUp();
  await pass(0.95);
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const runs = new Map(ids.map((id) => [id, 0]));
  for (let slot = 0; slot < 30; slot += 1) {
    for (const id of ids) {
      if (shedding.shedsRunOf(id)) continue;
      runs.set(id, (runs.get(id) ?? 0) + 1);
      shedding.hadNoVerdict(id);
    }
  }
  expect([...runs.values()]).toEqual([20, 20, 20, 20, 20]);
});

it('does not skip the slot after a run without a verdict that was made before it skipped any', async () => {
  const { shedding, pass } = setUp();
  expect(shedding.shedsRunOf('a')).toBe(false);
  shedding.hadNoVerdict('a');
  expect(shedding.shedsRunOf('b')).toBe(false);
  await pass(0.95);
  expect(shedding.shedsRunOf('a')).toBe(false);
  expect(shedding.shedsRunOf('a')).toBe(true);
});

it('skips nothing when there is CPU again', async () => {
  const { shedding, pass } = setUp();
  await pass(0.95);
  expect(shedding.shedsRunOf('a')).toBe(true);
  await pass(0);
  expect(shedding.sheds('evidence')).toBe(false);
  expect(shedding.shedsRunOf('a')).toBe(false);
});

it('logs once a minute that it skips runs, with the cause and the remedy', async () => {
  const { clock, records, seen, shedding, pass } = setUp();
  seen.account = { ...NOTHING, throttledMs: 4000 };
  await pass(0.95);
  for (let attempt = 0; attempt < 50; attempt += 1) shedding.starved();
  expect(records()).toMatchObject([
    { level: 'warn', cause: 'quota', sharePercent: 95, leftOut: 'evidence, detail, run', count: 1 },
  ]);
  expect(records()[0]?.msg).toContain('raise the CPU limit');
  await clock.advance(60_000);
  shedding.starved();
  expect(records()).toHaveLength(2);
});

it.each([
  ['quota', 1000, { ...NOTHING, throttledMs: 900 }],
  ['neighbours', 1000, NOTHING],
  ['own load', 0, NOTHING],
])('names %s as the cause in the first seconds, too', async (cause, starvedMs, account) => {
  const { clock, records, seen, shedding } = setUp();
  await clock.advance(2000);
  Object.assign(seen, { starvedMs, account });
  shedding.starved();
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
