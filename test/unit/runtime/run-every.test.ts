import { afterEach, describe, expect, it } from 'vitest';
import { type RunEveryOptions, runEvery } from '../../../src/runtime/run-every.ts';
import { WakeSignal } from '../../../src/runtime/wake-signal.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';
import { captureLog, type LogCapture } from '../../support/log-capture.ts';

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const messages = ({ records }: LogCapture) => records().map(({ msg }) => msg);

/** Runs `work` with the number of the run, from 1. */
function running(
  work: (run: number) => Promise<boolean | undefined>,
  more: Partial<RunEveryOptions> = {},
) {
  const clock = new FakeClock();
  const logged = captureLog();
  const ending = new AbortController();
  const runs = { count: 0 };
  const options = {
    everyMs: 1000,
    maxMs: 4000,
    failure: 'no sweep',
    kindOf: (error: unknown) => (error as Error).name,
    log: logged.log,
    random: () => 0.5,
    ...more,
  };
  const ended = runEvery(
    clock,
    options,
    () => {
      runs.count += 1;
      return work(runs.count);
    },
    ending.signal,
  );
  async function end(): Promise<void> {
    ending.abort();
    await ended;
    expect(clock.pendingTimers).toBe(0);
  }
  open.push(end);
  /** The next `count` waits, each to its end. */
  async function waits(count: number): Promise<(number | null)[]> {
    const seen: (number | null)[] = [];
    for (let index = 0; index < count; index += 1) {
      await settle();
      seen.push(clock.nextTimerInMs);
      await clock.advance(clock.nextTimerInMs ?? 0);
    }
    return seen;
  }
  return { clock, logged, ending, runs, waits, ended };
}

describe('runEvery', () => {
  it.each([
    { random: 0, waitMs: 750 },
    { random: 0.5, waitMs: 1000 },
    { random: 0.75, waitMs: 1125 },
  ])(
    'runs at once and then about every second: after $waitMs ms where chance is $random',
    async ({ random, waitMs }) => {
      const { runs, waits } = running(async () => undefined, { random: () => random });
      expect(runs.count).toBe(1);
      expect(await waits(2)).toEqual([waitMs, waitMs]);
      expect(runs.count).toBe(3);
    },
  );

  it('runs again without a wait while the work has more to do', async () => {
    const { clock, runs } = running(async (run) => run < 3);
    await settle();
    expect(runs.count).toBe(3);
    expect(clock.nextTimerInMs).toBe(1000);
  });

  it('backs off up to its maximum while the work fails, and starts anew after a success', async () => {
    const { waits } = running(async (run) => {
      if (run !== 4) throw new Error('away');
      return false;
    });
    expect(await waits(6)).toEqual([1500, 3000, 3000, 1000, 1500, 3000]);
  });

  it('logs a failure once until its kind changes or a run succeeds', async () => {
    const outcomes = [new Error('a'), new Error('b'), new TypeError('c'), null, new TypeError('d')];
    const { logged, waits } = running(async (run) => {
      const outcome = outcomes[run - 1] ?? null;
      if (outcome !== null) throw outcome;
      return false;
    });
    await waits(5);
    expect(messages(logged)).toEqual(['no sweep: a', 'no sweep: c', 'no sweep: d']);
  });

  it('ends a wait early when it is woken', async () => {
    const wake = new WakeSignal();
    const { runs } = running(async () => undefined, { wake });
    await settle();
    wake.ring();
    await settle();
    expect(runs.count).toBe(2);
  });

  it('does not log a failure that comes after the abort', async () => {
    const { logged, ending, ended } = running(async () => {
      await settle();
      ending.abort();
      throw new Error('closed');
    });
    await ended;
    expect(messages(logged)).toEqual([]);
  });

  it('never runs the work when the signal is already aborted', async () => {
    const clock = new FakeClock();
    const { log } = captureLog();
    let runs = 0;
    const options = { everyMs: 1000, maxMs: 4000, failure: 'no sweep', kindOf: String, log };
    await runEvery(
      clock,
      options,
      async () => {
        runs += 1;
      },
      AbortSignal.abort(),
    );
    expect(runs).toBe(0);
  });
});
