import { AsyncLocalStorage } from 'node:async_hooks';
import type { Param, Row, Store, Transaction, TransactionOptions } from './store.ts';

/** Records what a request writes. */
export interface WriteRecorder {
  /** Runs the work of a transaction, and stores a record of its changes in the same transaction. */
  record<T>(tx: Transaction, work: () => Promise<T>): Promise<T>;
  /** Returns a recorder for the part of the request that concerns one resource; null for a new resource. */
  of(resourceId: string | null): WriteRecorder;
}

/** The statements of a request that writes, or of a read that is part of a transaction. */
type Scope = { readonly recorder: WriteRecorder } | { readonly tx: Transaction } | null;

const scopes = new AsyncLocalStorage<Scope>();

/** Matches statements that may write; others need no transaction. */
const MAY_WRITE = /\b(?:insert into|update|delete from)\b/;

/** Passes each transaction of `work`, and each writing statement outside of a transaction, to the recorder. */
export function withRecorder<T>(recorder: WriteRecorder, work: () => Promise<T>): Promise<T> {
  return scopes.run({ recorder }, work);
}

/** Names the resource that the work concerns, for a request with many resources; null for a new resource. */
export function recordingOf<T>(resourceId: string | null, work: () => Promise<T>): Promise<T> {
  const scope = scopes.getStore() ?? null;
  if (scope === null || 'tx' in scope) return work();
  return scopes.run({ recorder: scope.recorder.of(resourceId) }, work);
}

/** Runs a part of a request that changes no resource. */
export function withoutRecorder<T>(work: () => Promise<T>): Promise<T> {
  return scopes.run(null, work);
}

/** Makes reads of `work` from the store see what the transaction has written. */
export function readingIn<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  return scopes.run({ tx }, work);
}

/**
 * Wraps the store that all features use. All writes of a request pass through it, so no feature can forget to
 * record them.
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
