import { AsyncLocalStorage } from 'node:async_hooks';
import type { Param, Row, Store, Transaction, TransactionOptions } from './store.ts';

/** Records what a request writes. */
export interface WriteRecorder {
  /** Runs the work of a transaction, and stores in the same transaction what it changed. */
  record<T>(tx: Transaction, work: () => Promise<T>): Promise<T>;
  /** The same for a part of the request that is about one resource; null for a new one. */
  of(resourceId: string | null): WriteRecorder;
}

/** The statements of a request that writes, or of a read that is part of a transaction. */
type Scope = { readonly recorder: WriteRecorder } | { readonly tx: Transaction } | null;

const scopes = new AsyncLocalStorage<Scope>();

/** A statement that may write; the others need no transaction of their own. */
const MAY_WRITE = /\b(?:insert into|update|delete from)\b/;

/** Passes each transaction of `work` to the recorder, and each statement that writes without one. */
export function withRecorder<T>(recorder: WriteRecorder, work: () => Promise<T>): Promise<T> {
  return scopes.run({ recorder }, work);
}

/** Says which resource of a request with many the work is about: null for a new one. */
export function recordingOf<T>(resourceId: string | null, work: () => Promise<T>): Promise<T> {
  const scope = scopes.getStore() ?? null;
  if (scope === null || 'tx' in scope) return work();
  return scopes.run({ recorder: scope.recorder.of(resourceId) }, work);
}

/** Runs a part of a request that changes no resource. */
export function withoutRecorder<T>(work: () => Promise<T>): Promise<T> {
  return scopes.run(null, work);
}

/** Lets `work`, which reads from the store, see what the transaction has written. */
export function readingIn<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  return scopes.run({ tx }, work);
}

/**
 * The store of all features. What a request writes comes through here, so no feature can forget to
 * record it.
 */
export function recordedStore(store: Store): Store {
  const transaction = <T>(
    work: (tx: Transaction) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T> => {
    const scope = scopes.getStore() ?? null;
    if (scope === null) return store.transaction(work, options);
    if ('tx' in scope) return work(scope.tx);
    const { recorder } = scope;
    return store.transaction(
      (tx) => recorder.record(tx, () => scopes.run(null, () => work(tx))),
      options,
    );
  };
  return {
    kind: store.kind,
    query<R extends Row = Row>(text: string, params?: readonly Param[]) {
      const scope = scopes.getStore() ?? null;
      if (scope === null) return store.query<R>(text, params);
      if ('tx' in scope) return scope.tx.query<R>(text, params);
      if (!MAY_WRITE.test(text)) return store.query<R>(text, params);
      return transaction((tx) => tx.query<R>(text, params));
    },
    transaction,
    listen: (...given) => store.listen(...given),
    close: () => store.close(),
  };
}
