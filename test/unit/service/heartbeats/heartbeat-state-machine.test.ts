import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterPing,
  countedAnew,
  type HeartbeatPosition,
  type HeartbeatState,
  judge,
  NEVER_PINGED,
  type TimeRange,
} from '../../../../src/service/heartbeats/heartbeat-state-machine.ts';
import { caseCount } from '../../../support/nightly.ts';

interface Rhythm {
  readonly periodMs: number;
  readonly graceMs: number;
}

interface Story {
  readonly rhythm: Rhythm;
  readonly pings: readonly number[];
  readonly pauses: readonly TimeRange[];
}

type Told = readonly (readonly [at: number, state: HeartbeatState])[];

/** One second here is one millisecond of the state machine. Times are whole seconds. */
const END = 400;

/**
 * As the service does it: judges at each deadline and at arbitrary other times. A ping before
 * the end of the period is not judged first.
 */
function byMachine({ rhythm, pings, pauses }: Story, looks: readonly number[]): Told {
  const told: [number, HeartbeatState][] = [];
  let position: HeartbeatPosition = NEVER_PINGED;
  let dueMs: number | null = null;
  for (let atMs = 0; atMs <= END; atMs += 1) {
    const isPing = pings.includes(atMs);
    if (isPing || looks.includes(atMs) || (dueMs !== null && dueMs <= atMs)) {
      const judged = judge(rhythm, position, pauses, atMs);
      if (judged.failedAtMs !== null) told.push([judged.failedAtMs, 'FAILING']);
      ({ position, deadlineMs: dueMs } = judged);
    }
    if (!isPing) continue;
    const after = afterPing(rhythm, position, atMs);
    told.push([atMs, after.state]);
    position = after.position;
    dueMs = atMs + rhythm.periodMs + rhythm.graceMs;
  }
  return told;
}

type Phase = 'none' | 'waiting' | 'put off' | 'late' | 'failing';

/** The reference implementation: counts second by second. */
function bySecond({ rhythm, pings, pauses }: Story): Told {
  const told: [number, HeartbeatState][] = [];
  let phase = 'none' as Phase;
  let left = 0;
  let last: number | null = null;
  for (let second = 0; second <= END; second += 1) {
    const isPaused = pauses.some(({ fromMs, toMs }) => fromMs <= second && second < toMs);
    if (phase === 'put off' && !isPaused) [phase, left] = ['waiting', rhythm.periodMs];
    if (phase === 'waiting' && left === 0) {
      phase = isPaused ? 'put off' : 'late';
      left = rhythm.graceMs;
    }
    if (phase === 'late' && left === 0) {
      phase = 'failing';
      told.push([second, 'FAILING']);
    }
    if (pings.includes(second)) {
      told.push([second, stateOf(phase, second, last)]);
      last = second;
      [phase, left] = ['waiting', rhythm.periodMs];
    }
    if (phase === 'waiting' || (phase === 'late' && !isPaused)) left -= 1;
  }
  return told;

  function stateOf(phase: Phase, second: number, last: number | null): HeartbeatState {
    if (phase === 'failing') return 'LATE';
    if (last === null) return 'RECEIVED';
    if ((second - last) * 2 < rhythm.periodMs) return 'EARLY';
    return phase === 'late' ? 'GRACE' : 'RECEIVED';
  }
}

const second = fc.nat({ max: END });
const story: fc.Arbitrary<Story> = fc.record({
  rhythm: fc.record({ periodMs: fc.integer({ min: 2, max: 60 }), graceMs: fc.nat({ max: 40 }) }),
  pings: fc.uniqueArray(second, { maxLength: 12 }),
  pauses: fc.array(
    fc
      .tuple(second, fc.integer({ min: 1, max: 80 }))
      .map(([fromMs, length]) => ({ fromMs, toMs: fromMs + length })),
    { maxLength: 5 },
  ),
});

const HOUR: Rhythm = { periodMs: 60, graceMs: 5 };
const toldOf = (pings: readonly number[], pauses: readonly TimeRange[] = [], rhythm = HOUR): Told =>
  byMachine({ rhythm, pings, pauses }, []);

describe('a heartbeat', () => {
  it('has the same states as the reference implementation', () => {
    fc.assert(
      fc.property(story, fc.array(second, { maxLength: 10 }), (drawn, looks) => {
        expect(byMachine(drawn, looks)).toEqual(bySecond(drawn));
      }),
      { numRuns: caseCount(2_000) },
    );
  });

  it('never fails before its first ping, and fails once if no other follows', () => {
    expect(toldOf([])).toEqual([]);
    expect(toldOf([10])).toEqual([
      [10, 'RECEIVED'],
      [75, 'FAILING'],
    ]);
  });

  it('passes again with the next ping', () => {
    expect(toldOf([0, 100, 160, 389])).toEqual([
      [0, 'RECEIVED'],
      [65, 'FAILING'],
      [100, 'LATE'],
      [160, 'GRACE'],
      [225, 'FAILING'],
      [389, 'LATE'],
    ]);
  });

  it.each([
    [29, 'EARLY'],
    [30, 'RECEIVED'],
    [59, 'RECEIVED'],
    [60, 'GRACE'],
    [64, 'GRACE'],
  ])('takes a ping after %d of 60 with a grace of 5 for %s', (after, state) => {
    expect(toldOf([0, after])[1]).toEqual([after, state]);
  });

  it('is late from the instant at which the grace ends', () => {
    const told = [
      [0, 'RECEIVED'],
      [65, 'FAILING'],
      [65, 'LATE'],
    ];
    expect(toldOf([0, 65]).slice(0, 3)).toEqual(told);
    expect(toldOf([0, 60], [], { periodMs: 60, graceMs: 0 })[1]).toEqual([60, 'FAILING']);
  });

  it.each([
    ['the ping was expected in it', { fromMs: 55, toMs: 100 }, 165],
    ['it begins as the ping is expected', { fromMs: 60, toMs: 100 }, 165],
    ['it is over as the ping is expected', { fromMs: 20, toMs: 60 }, 65],
    ['it is over before', { fromMs: 10, toMs: 50 }, 65],
    ['it begins in the grace', { fromMs: 62, toMs: 72 }, 75],
    ['it begins as the grace is over', { fromMs: 65, toMs: 100 }, 65],
  ])('is paused: %s', (_, pause, failsAt) => {
    expect(toldOf([0], [pause])).toEqual([
      [0, 'RECEIVED'],
      [failsAt, 'FAILING'],
    ]);
  });

  it('fails at last, although pauses repeat every day', () => {
    const rhythm = { periodMs: 24, graceMs: 36 };
    const pauses = Array.from({ length: 20 }, (_, day) => ({
      fromMs: day * 24 + 2,
      toMs: day * 24 + 3,
    }));
    const [, failed] = toldOf([0], pauses, rhythm);
    expect(failed).toEqual([62, 'FAILING']);
  });

  it('has a whole period from the instant of a restarted count, if a ping is expected', () => {
    const { position } = afterPing(HOUR, NEVER_PINGED, 0);
    expect(judge(HOUR, countedAnew(position, 40), [], 40).deadlineMs).toBe(105);
    expect(countedAnew(NEVER_PINGED, 40)).toEqual(NEVER_PINGED);
    const failed = judge(HOUR, position, [], 65).position;
    expect(countedAnew(failed, 70)).toEqual(failed);
  });
});
