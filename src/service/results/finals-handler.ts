import type { ReceivedResult } from '../../wire/v1/check-result.ts';
import type { Sql } from '../database/store.ts';

/** FINALs of one account and location that were not stored before, in no order. */
export interface NewFinals {
  readonly accountId: string;
  /** The slug of the location that ran them. */
  readonly location: string;
  /** At least one. */
  readonly finals: readonly ReceivedResult[];
  /**
   * The FINALs that are recent enough to change the current status of their checks. The others change neither a
   * status nor an alert: results from a spool of three days must not page anybody.
   */
  readonly current: ReadonlySet<ReceivedResult>;
  /** When the service received them, in epoch milliseconds. */
  readonly atMs: number;
}

/**
 * Handles new FINALs in the transaction that stores them. Their checks are locked until it ends, so that no
 * other transaction stores results for them. Must reject only for a fault of the database: a rejection rolls
 * back the whole batch, which the agent then resends.
 */
export type FinalsHandler = (tx: Sql, batch: NewFinals) => Promise<void>;
