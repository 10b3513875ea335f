import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type RunState,
  type StateHistory,
  sinceOf,
  stateOfRun,
  withRun,
} from '../../../../src/model/result/check-state.ts';
import { caseCount } from '../../../support/nightly.ts';

interface Run {
  readonly state: RunState;
  readonly slotMs: number;
}

const WORST = ['passing', 'degraded', 'failing'] as const;

const RUNS = fc.array(
  fc.record({ state: fc.constantFrom<RunState>(...WORST), slotMs: fc.nat(6) }),
  { minLength: 1, maxLength: 12 },
);

/** The state of each slot, the latest first. */
function slotsOf(runs: readonly Run[]): readonly Run[] {
  const slots = new Map<number, RunState>();
  for (const state of WORST) {
    for (const run of runs) if (run.state === state) slots.set(run.slotMs, state);
  }
  return [...slots]
    .map(([slotMs, state]) => ({ slotMs, state }))
    .toSorted((one, other) => other.slotMs - one.slotMs);
}

/** The first of the consecutive slots with the state of the latest slot. */
function stretchOf([latest, ...earlier]: readonly Run[]) {
  if (latest === undefined) return null;
  const change = earlier.findIndex(({ state }) => state !== latest.state);
  const own = [latest, ...earlier.slice(0, change === -1 ? earlier.length : change)];
  return { state: latest.state, sinceMs: own.at(-1)?.slotMs ?? 0 };
}

/** The position by all runs, as the service reads it from its results. */
function historyOf(runs: readonly Run[]): StateHistory {
  const [latest, ...earlier] = slotsOf(runs);
  if (latest === undefined) throw new Error('there is no run');
  return { ...latest, before: stretchOf(earlier) };
}

describe('the state history of a check', () => {
  it('is the same in whatever order and however often the runs arrive', () => {
    const orders = RUNS.chain((runs) =>
      fc.shuffledSubarray([...runs, ...runs], { minLength: runs.length * 2 }),
    );
    fc.assert(
      fc.property(orders, (runs) => {
        let history: StateHistory | null = null;
        for (const [index, run] of runs.entries()) {
          const arrived = runs.slice(0, index + 1);
          history = withRun(history, run) ?? historyOf(arrived);
          expect(history).toEqual(historyOf(arrived));
          expect(sinceOf(history)).toBe(stretchOf(slotsOf(arrived))?.sinceMs);
        }
      }),
      { numRuns: caseCount(1000) },
    );
  });

  it('needs the earlier runs only for a late run that changes the stretch before the latest slot', () => {
    const history: StateHistory = {
      state: 'failing',
      slotMs: 10,
      before: { state: 'failing', sinceMs: 5 },
    };
    expect(withRun(history, { state: 'failing', slotMs: 7 })).toBe(history);
    expect(withRun(history, { state: 'passing', slotMs: 4 })).toBe(history);
    expect(withRun(history, { state: 'passing', slotMs: 7 })).toBeNull();
    expect(withRun(history, { state: 'failing', slotMs: 4 })).toBeNull();
  });

  it('is not changed by runs without a verdict', () => {
    expect(stateOfRun('error')).toBeNull();
    expect(stateOfRun('cancelled')).toBeNull();
  });
});
