import type { Store, Transaction, TransactionOptions } from './store.ts';
import { StoreError } from './store-errors.ts';

const ROLLED_BACK = new Error('the work of a dry run is rolled back');

/**
 * A store for features whose writes are to have no effect: its transactions do their work, are rolled
 * back, and resolve as if they had been committed. It refuses statements outside of transactions, which
 * would take effect.
 */
export function dryRunOf(store: Store): Store {
  async function transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> {
    const done: T[] = [];
    try {
      await store.transaction(async (tx) => {
        // The store may try again.
        done.length = 0;
        done.push(await work(tx));
        throw ROLLED_BACK;
      }, options);
    } catch (error) {
      if (error !== ROLLED_BACK) throw error;
    }
    return done[0] as T;
  }
  const refuse = async (): Promise<never> => {
    const message = 'a dry run was used outside of a transaction, where it would take effect';
    throw new StoreError('internal', 'STORE_USE', message);
  };
  return { kind: store.kind, query: refuse, transaction, listen: refuse, close: async () => {} };
}
