import { AsyncLocalStorage } from 'node:async_hooks';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/wait.ts';
import { SerialQueue } from './serial-queue.ts';
import type { Param, Row, Store, Transaction } from './store.ts';
import { StoreError } from './store-errors.ts';

/**
 * The `tx` of a transaction. Runs statements one by one even if they are not awaited. Refuses statements after
 * the transaction: the connection is back in the pool, and they would take effect outside of it.
 */
export class OpenTransaction implements Transaction {
  readonly #execute: Transaction;
  readonly #serial = new SerialQueue();
  #over = false;

  constructor(execute: Transaction) {
    this.#execute = execute;
  }

  get isOver(): boolean {
    return this.#over;
  }

  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<readonly R[]> {
    return this.#run(() => this.#execute.query<R>(text, params));
  }

  script(text: string): Promise<void> {
    return this.#run(() => this.#execute.script(text));
  }

  /** Refuses further statements, and resolves when the running ones have ended. */
  async finish(): Promise<void> {
    this.#over = true;
    await this.#serial.settled();
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isOver) {
      const message = 'a statement came after its transaction had ended: it was not awaited';
      throw new StoreError('internal', 'STORE_USE', message);
    }
    return this.#serial.run(work);
  }
}

interface Inside {
  readonly store: Store;
  readonly transaction: OpenTransaction;
}

const current = new AsyncLocalStorage<Inside>();

/** Runs the work of a transaction and marks it for `refuseInsideTransaction`. */
export async function runInside<T>(
  store: Store,
  transaction: OpenTransaction,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await current.run({ store, transaction }, () => work(transaction));
  } finally {
    await transaction.finish();
  }
}

/**
 * Throws if the store is used inside of its own transaction. With the embedded database, which has one
 * connection, the statement would wait forever. With PostgreSQL it would take effect even after a rollback.
 */
export function refuseInsideTransaction(store: Store): void {
  const inside = current.getStore();
  if (inside === undefined || inside.store !== store || inside.transaction.isOver) return;
  const message = 'the store was used inside of a transaction: use the tx that the work was given';
  throw new StoreError('internal', 'STORE_USE', message);
}

const MAX_TRIES = 5;
const FIRST_DELAY_MS = 20;
const LONGEST_DELAY_MS = 160;
/** SQLSTATE: a serialization failure, or a deadlock. */
const CONFLICTS: ReadonlySet<string | null> = new Set(['40001', '40P01']);

/** Whether a transaction that failed with this may succeed when it is tried again at once. */
export function isRetryable(thrown: unknown): boolean {
  return thrown instanceof StoreError && CONFLICTS.has(thrown.sqlState);
}

/**
 * Retries while another transaction conflicts with this one.
 *
 * @param signal ends the waiting; the last error is then thrown
 */
export async function withRetries<T>(
  clock: Clock,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T> {
  const backoff = new Backoff({ minMs: FIRST_DELAY_MS, maxMs: LONGEST_DELAY_MS });
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (thrown) {
      if (tries >= MAX_TRIES || !isRetryable(thrown)) throw thrown;
      if (!(await sleep(clock, backoff.next(), signal))) throw thrown;
    }
  }
}
