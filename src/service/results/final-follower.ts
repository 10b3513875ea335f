import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { Sql } from '../database/port.ts';

/** FINALs of one account and location that were not stored before, in no order. */
export interface NewFinals {
  readonly accountId: string;
  /** The slug of where they were run. */
  readonly location: string;
  /** One at least. */
  readonly finals: readonly ReceivedResult[];
  /**
   * Those of them that came in time to say how their checks do now. The others are history: they
   * change neither a status nor an alert, so that a spool of three days pages nobody.
   */
  readonly current: ReadonlySet<ReceivedResult>;
  /** Epoch milliseconds: when they were taken in. */
  readonly atMs: number;
}

/**
 * What follows from new FINALs, in the transaction that stores them. Their checks are locked until
 * it ends, so nobody else takes in results of them meanwhile. A rejection loses the whole batch,
 * which is then sent again: so only a fault of the database may reject.
 */
export type FinalFollower = (tx: Sql, batch: NewFinals) => Promise<void>;

/** How late a result may come and say how its check does: two periods of it, and so long at least. */
const MIN_CURRENT_MS = 15 * 60_000;

/**
 * The FINALs that came in time.
 *
 * @param atMs now, by the clock of the agent; epoch milliseconds
 * @param frequencyOf the check's period in minutes, by its id
 */
export function currentOf(
  finals: readonly ReceivedResult[],
  {
    atMs,
    frequencyOf,
  }: {
    readonly atMs: number;
    readonly frequencyOf: (checkId: string) => number;
  },
): ReadonlySet<ReceivedResult> {
  return new Set(
    finals.filter(({ checkId, checkRunId }) => {
      const currentForMs = Math.max(MIN_CURRENT_MS, 2 * frequencyOf(checkId) * 60_000);
      return atMs - checkRunId <= currentForMs;
    }),
  );
}
