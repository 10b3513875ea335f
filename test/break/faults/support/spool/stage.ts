import { FakeClock } from '../../../../support/fake-clock.ts';
import type { LogCapture } from '../../../../support/log-capture.ts';
import type { FaultyDisk } from './disk.ts';
import { Ledger } from './ledger.ts';

const PATIENCE_MS = 3_000;

/** The process ended during the call. */
export class Died extends Error {}

export type Settled<T> =
  | { readonly state: 'done'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'open' };

/** The environment of a scenario: a folder and its disk, a clock, and a ledger. */
export interface Stage {
  readonly dataDir: string;
  readonly disk: FaultyDisk;
  readonly clock: FakeClock;
  readonly ledger: Ledger;
  /** Problems that callers received, with the code. */
  readonly reported: Set<string>;
  readonly logs: LogCapture[];
  /** The records of all processes. */
  readonly numbers: { last: number };
  /** From here on the scenario damages files. */
  isDamaged: boolean;
}

export function newStage(dataDir: string, disk: FaultyDisk, before: Stage | null = null): Stage {
  const { ledger = new Ledger(), reported = new Set<string>() } = before ?? {};
  const { logs = [], numbers = { last: 0 } } = before ?? {};
  const clock = new FakeClock(before?.clock.wallMs());
  const { isDamaged = false } = before ?? {};
  return { dataDir, disk, clock, ledger, reported, logs, numbers, isDamaged };
}

/** Runs everything that can continue, and advances the clock for waiters, up to a limit. */
export async function settle<T>(stage: Stage, work: Promise<T>): Promise<Settled<T>> {
  const { disk, clock, ledger, reported } = stage;
  let settled: Settled<T> = { state: 'open' };
  work.then(
    (value) => {
      settled = { state: 'done', value };
    },
    (error: unknown) => {
      settled = { state: 'failed', error };
    },
  );
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    await quiet(disk);
    if (disk.fired !== null && disk.refuses === null && ledger.isFailing) reported.add('failing');
    if (disk.isDead) throw new Died();
    if ((settled as Settled<T>).state !== 'open') return settled;
    const nextMs = clock.nextTimerInMs;
    if (nextMs === null || clock.monotonicMs() + nextMs > endMs) return settled;
    await clock.advance(nextMs);
  }
}

/** The same when nothing else can continue: then answers the stalled call. */
export async function must<T>(
  stage: Stage,
  work: Promise<T>,
): Promise<Exclude<Settled<T>, { state: 'open' }>> {
  let settled = await settle(stage, work);
  if (settled.state === 'open') {
    stage.disk.release();
    settled = await settle(stage, work);
  }
  if (settled.state !== 'open') return settled;
  stage.ledger.problems.push('something does not end');
  throw new Error('it hangs');
}

/** Waits until only time and stalled calls remain. */
export async function quiet(disk: FaultyDisk): Promise<void> {
  for (let still = 0, before = -1; still < 3 && !disk.isDead; ) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const isStill = disk.busy === 0 && disk.calls.length === before;
    still = isStill ? still + 1 : 0;
    before = disk.calls.length;
  }
}
