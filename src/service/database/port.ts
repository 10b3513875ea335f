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
 * What a statement may be given for `$1`, `$2` …: null (undefined counts as it), text, numbers,
 * booleans, bigints, Dates, bytes, arrays for SQL arrays, and objects for json and jsonb. A JSON
 * value that is no object must go through `jsonText`, since an array could mean either.
 */
export type Param = unknown;

export interface Sql {
  /**
   * Runs one statement with its parameters.
   * @throws StoreError, always, whatever went wrong in the database or on the way to it.
   */
  query<R extends Row = Row>(text: string, params?: readonly Param[]): Promise<readonly R[]>;
}

export interface Transaction extends Sql {
  /** Runs any number of statements without parameters. For migrations. */
  script(text: string): Promise<void>;
}

export interface TransactionOptions {
  /** In place of the store's own limit for a statement, for work that is known to take longer. */
  readonly statementTimeoutMs?: number;
}

export interface Store extends Sql {
  readonly kind: 'pglite' | 'postgres';
  /**
   * Runs `work` in a transaction and commits when it resolves; rolls back when it rejects, and
   * rejects with the same. It is run again, five times in all, when the database breaks it off
   * because of another transaction (SQLSTATE 40001, 40P01), so it must have no other effects.
   * `work` uses the `tx` that it is given: the store itself is refused meanwhile. A connection lost
   * in the commit leaves open whether it took effect, so what it does should be repeatable.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /**
   * Calls `onNotify` with the payload of each NOTIFY on the channel, in a turn of the event loop
   * of its own. Where the connection was lost, it is made again; notifications sent meanwhile are
   * lost, so `onGap` is then called, or where it is left out `onNotify` with an empty payload.
   * @param channel lower-case letters, digits and `_`, at most 63
   * @returns ends it, and never rejects
   */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onGap?: () => void,
  ): Promise<() => Promise<void>>;
  /** Waits for what runs, for 5 s at most. Everything after it is refused. */
  close(): Promise<void>;
}
