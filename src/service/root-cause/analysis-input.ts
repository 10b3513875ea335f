import type { Check } from '../../model/check/check.ts';
import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { Neighbour, OtherLocation, PassedRun } from './evidence.sql.ts';

export type { Neighbour, OtherLocation, PassedRun } from './evidence.sql.ts';

/** What happened around a failure, as far as it is stored. */
export interface Surroundings {
  /** How far back was looked. */
  readonly lookedBackMs: number;
  /** The latest runs in the same location that passed, the latest first. */
  readonly passed: readonly PassedRun[];
  /** Failures in the same location since the last run that passed, this one included. */
  readonly failing: { readonly runs: number; readonly firstSlotMs: number | null };
  /** The nearest run of each other location. */
  readonly others: readonly OtherLocation[];
  /** Other checks of the same host that ran about then. */
  readonly neighbours: readonly Neighbour[];
}

/** All that an analysis is made from. */
export interface AnalysisInput {
  readonly accountId: string;
  readonly result: ReceivedResult;
  /** As it is now, which need not be how it was then; null where it is gone. */
  readonly check: Check | null;
  readonly surroundings: Surroundings;
}

export const NO_SURROUNDINGS: Surroundings = {
  lookedBackMs: 0,
  passed: [],
  failing: { runs: 0, firstSlotMs: null },
  others: [],
  neighbours: [],
};
