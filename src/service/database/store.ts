/**
 * One row. Its keys are the column names in camelCase (`created_at` is `createdAt`); the keys inside
 * a JSON value stay as they are. Both databases give the same JavaScript values:
 *
 * | SQL | JavaScript |
 * |---|---|
 * | smallint, integer, bigint | number; a bigint beyond 2^53 is an error |
 * | real, double precision | number |
 * | boolean | boolean |
 * | timestamptz | Date (milliseconds) |
 * | json, jsonb | the parsed value |
 * | bytea | Buffer |
 * | arrays of these and of text | array, null for a NULL in it |
 * | all else, numeric, date and interval too | the text that PostgreSQL writes |
 */
export type Row = Readonly<Record<string, unknown>>;

/**
 * A parameter for `$1`, `$2` …: null or undefined, text, numbers, booleans, bigints, Dates, bytes,
 * arrays for SQL arrays, and objects for json and jsonb. A JSON value that is no object must go
 * through `jsonText`, since an array could mean either.
 */
export type Param = unknown;

export interface Sql {
  /**
   * Runs one statement with its parameters.
   *
   * @throws StoreError for any failure of the database or the connection
   */
  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<readonly R[]>;
}

export interface Transaction extends Sql {
  /** Runs any number of statements without parameters. For migrations. */
  script(text: string): Promise<void>;
}

export interface TransactionOptions {
  /** Replaces the store's own limit for a statement, for long work. */
  readonly statementTimeoutMs?: number;
}

export interface Store extends Sql {
  readonly kind: 'pglite' | 'postgres';
  /**
   * Runs `work` in a transaction and commits when it resolves; rolls back and rejects with the same
   * reason when it rejects. Tries up to five times when the database aborts it because of another
   * transaction (SQLSTATE 40001, 40P01), so `work` must have no other effects. `work` must use the
   * `tx`: the store itself refuses statements meanwhile. If the connection is lost during the commit,
   * whether it took effect is unknown (`mayHaveCommitted`), so the work should be idempotent.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Calls `onNotify` with the payload of each NOTIFY on the channel, in a later tick of the event
   * loop. Reconnects after a lost connection; notifications sent meanwhile are lost, so it then
   * calls `onGap`, or where that is left out `onNotify` with an empty payload. Calls `onLost` when it
   * notices that the connection is lost, within 10 s.
   *
   * @param channel lower-case letters, digits and `_`, at most 63
   * @returns stops listening, and never rejects
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onGap?: () => void,
    onLost?: () => void,
  ): Promise<() => Promise<void>>;
  /** Waits up to 5 s for running work, and refuses further work. */
  close(): Promise<void>;
}
