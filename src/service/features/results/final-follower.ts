import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { Sql } from '../../store/port.ts';

/** FINALs of one account and location that were not stored before, in no order. */
export interface NewFinals {
  readonly accountId: string;
  /** The slug of where they were run. */
  readonly location: string;
  /** One at least. */
  readonly finals: readonly ReceivedResult[];
  /** Epoch milliseconds: when they were taken in. */
  readonly atMs: number;
}

/**
 * What follows from new FINALs, in the transaction that stores them. Their checks are locked until
 * it ends, so nobody else takes in results of them meanwhile. A rejection loses the whole batch,
 * which is then sent again: so only a fault of the database may reject.
 */
export type FinalFollower = (tx: Sql, batch: NewFinals) => Promise<void>;
