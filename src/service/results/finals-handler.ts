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
   * The finals recent enough to change the current status of their checks. The others change neither a
   * status nor an alert: a spool of three days pages nobody.
   */
  readonly current: ReadonlySet<ReceivedResult>;
  /** When the service received them, in epoch milliseconds. */
  readonly atMs: number;
}

/**
 * Handles new FINALs in the transaction that stores them. Their checks are locked until it ends, so no
 * other transaction stores results of them. A rejection loses the whole batch, which the agent then
 * resends: only a fault of the database may reject.
 */
export type FinalsHandler = (tx: Sql, batch: NewFinals) => Promise<void>;
