import type { RunResult } from './run-result.ts';

/**
 * The state of a check, the most urgent first. The first row that applies decides
 * (src/service/checks/check-filter.sql.ts does, so that lists can be filtered and sorted by it):
 *
 * | state | when |
 * |---|---|
 * | paused | the check or its group is not activated |
 * | unknown | see UNKNOWN_REASONS |
 * | failing, degraded, passing | the state of the latest slot with a run that judged the target |
 */
export const CHECK_STATES = ['failing', 'degraded', 'unknown', 'passing', 'paused'] as const;
export type CheckState = (typeof CHECK_STATES)[number];

/**
 * Why the state of a check is unknown: no agent of any of its private locations polls, or no run has
 * judged its target yet.
 */
export const UNKNOWN_REASONS = ['location_silent', 'no_result'] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** A state that a run, or a slot with its runs, can have. */
export type RunState = Extract<CheckState, 'failing' | 'degraded' | 'passing'>;

const STATE_OF_RUN: Readonly<Record<RunResult, RunState | null>> = {
  passed: 'passing',
  degraded: 'degraded',
  failed: 'failing',
  error: null,
  cancelled: null,
};

/** null for a run without a verdict: it was cancelled, or ended by a fault of the agent. */
export function stateOfRun(result: RunResult): RunState | null {
  return STATE_OF_RUN[result];
}

/** Consecutive slots in one state. */
export interface StateStretch {
  readonly state: RunState;
  /** The first slot; epoch milliseconds. */
  readonly sinceMs: number;
}

/**
 * The state of the latest slot and of the slots before it. No more is needed to compute the
 * beginning of the current stretch, whatever arrives later.
 */
export interface StateHistory {
  readonly state: RunState;
  /** The latest slot; epoch milliseconds. */
  readonly slotMs: number;
  /** The stretch that ends right before the latest slot; null if there is no earlier slot. */
  readonly before: StateStretch | null;
}

/** The first slot of the current stretch; epoch milliseconds. */
export function sinceOf({ state, slotMs, before }: StateHistory): number {
  return before !== null && before.state === state ? before.sinceMs : slotMs;
}

/**
 * The history after one more run. The state of a slot is the worst of its runs. The result depends
 * neither on the order of the runs nor on repetitions.
 *
 * @returns null if the history must be computed anew from all runs: the run is late, and it may
 *   interrupt or prolong the stretch before the latest slot
 */
export function withRun(
  history: StateHistory | null,
  { state, slotMs }: { readonly state: RunState; readonly slotMs: number },
): StateHistory | null {
  if (history === null) return { state, slotMs, before: null };
  if (slotMs > history.slotMs) {
    return { state, slotMs, before: { state: history.state, sinceMs: sinceOf(history) } };
  }
  if (slotMs === history.slotMs) return { ...history, state: worse(state, history.state) };
  const { before } = history;
  if (before === null) return { ...history, before: { state, sinceMs: slotMs } };
  const isWithin = slotMs >= before.sinceMs;
  return isWithin === (state === before.state) ? history : null;
}

function worse(one: RunState, other: RunState): RunState {
  return CHECK_STATES.indexOf(one) < CHECK_STATES.indexOf(other) ? one : other;
}
