import type { Sql, Store } from './store.ts';

/**
 * Runs read statements on one snapshot of the database, so that their results are consistent.
 */
export function readSnapshot<T>(store: Store, work: (tx: Sql) => Promise<T>): Promise<T> {
  return store.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    return work(tx);
  });
}
