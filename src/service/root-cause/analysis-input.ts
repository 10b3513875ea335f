import type { Check } from '../../model/check/check.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { Neighbour, OtherLocation, PassedRun } from './evidence.sql.ts';

export type { Neighbour, OtherLocation, PassedRun } from './evidence.sql.ts';

/** The stored data around the time of a failure. */
export interface FailureContext {
  /** The length of the searched period. */
  readonly lookedBackMs: number;
  /** The latest runs in the same location that passed, newest first. */
  readonly passed: readonly PassedRun[];
  /** Failures in the same location since the last run that passed, this one included. */
  readonly failing: { readonly runs: number; readonly firstSlotMs: number | null };
  /** The nearest run of each other location. */
  readonly others: readonly OtherLocation[];
  /** Other checks of the same host that ran around that time. */
  readonly neighbours: readonly Neighbour[];
}

/** The input of an analysis. */
export interface AnalysisInput {
  readonly accountId: string;
  readonly result: ReceivedResult;
  /** The current check, which may have changed since the failure; null if it was deleted. */
  readonly check: Check | null;
  readonly surroundings: FailureContext;
}

export const NO_SURROUNDINGS: FailureContext = {
  lookedBackMs: 0,
  passed: [],
  failing: { runs: 0, firstSlotMs: null },
  others: [],
  neighbours: [],
};
