import { Socket } from 'node:net';
import { type ClientConfig, Pool, type PoolClient, type QueryConfig } from 'pg';
import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { namedRows } from '../rows.ts';
import type { Param, Row, Store, Transaction, TransactionOptions } from '../store.ts';
import {
  classifyError,
  commitUnknown,
  StoreError,
  silentRollback,
  storeClosedError,
} from '../store-errors.ts';
import {
  OpenTransaction,
  refuseInsideTransaction,
  runInside,
  withRetries,
} from '../transactions.ts';
import { encodeParam, parserOf } from '../values.ts';
import { PostgresListener } from './postgres-listener.ts';
import { readPostgresUrl } from './postgres-url.ts';
import { replicaName } from './replica-name.ts';

export interface PostgresOptions {
  readonly databaseUrl: string;
  /** For the connection that listens, which needs a session of its own; null for `databaseUrl`. */
  readonly directUrl?: string | null;
  /** Maximum number of connections, in addition to the one for LISTEN. */
  readonly poolSize: number;
  /** The server cancels a longer statement. */
  readonly statementTimeoutMs: number;
  /** The names of the keys that this replica decrypts with, as its connections show them. */
  readonly keyNames?: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long to wait until a connection is established or free. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Added to the statement timeout, for a server that does not answer at all. */
const NO_ANSWER_MS = 5000;
/** Ends the transaction of a process that hangs: others wait for its locks. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const IDLE_CONNECTION_MS = 30_000;
/** Connections are replaced after this time, so that they reach a database that has moved or follow load balancing. */
const CONNECTION_LIFETIME_S = 1800;
/** Maximum number of statements that wait for a connection. Further ones would be answered too late anyway. */
const MAX_WAITING = 5000;
const CLOSE_TIMEOUT_MS = 5000;

/** A store on PostgreSQL 14 or newer with a pool of connections. */
export class PostgresStore implements Store {
  readonly kind = 'postgres';
  readonly #options: PostgresOptions;
  readonly #pool: Pool;
  readonly #listener: PostgresListener;
  readonly #sockets = new Set<Socket>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(options: PostgresOptions) {
    const { clock, log } = options;
    this.#options = options;
    const config = this.#clientConfig(options.databaseUrl);
    this.#pool = new Pool({
      ...config,
      max: options.poolSize,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      maxLifetimeSeconds: CONNECTION_LIFETIME_S,
    });
    // The pool has already removed the connection; the next statement gets another.
    this.#pool.on('error', (thrown) => {
      log.debug(`an idle connection to the database ended: ${classifyError(thrown).error.message}`);
    });
    this.#listener = new PostgresListener({
      config: this.#clientConfig(options.directUrl ?? options.databaseUrl),
      clock,
      log,
    });
  }

  async query<R extends Row = Row>(text: string, params: readonly Param[] = []) {
    refuseInsideTransaction(this);
    return this.#withConnection((connection) => connection.query<R>(text, params));
  }

  async transaction<T>(
    work: (tx: Transaction) => Promise<T>,
    options: TransactionOptions = {},
  ): Promise<T> {
    refuseInsideTransaction(this);
    return withRetries(this.#options.clock, this.#closing.signal, () =>
      this.#withConnection((connection) => transact(this, connection, work, options)),
    );
  }

  async listen(
    channel: string,
    onNotify: (payload: string) => void,
    onGap?: () => void,
    onLost?: () => void,
  ) {
    return this.#listener.listen(channel, {
      onNotify,
      onGap: onGap ?? (() => onNotify('')),
      onLost: onLost ?? (() => {}),
    });
  }

  /** Ends all connections at once, also those that are being established: their statements fail. */
  disconnect(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const done = new AbortController();
    const isLate = sleep(this.#options.clock, CLOSE_TIMEOUT_MS, done.signal);
    // `pool.end` drops statements that still wait for a connection.
    const end = Promise.allSettled(this.#running)
      .then(() => Promise.all([this.#listener.close(), this.#pool.end()]))
      .then(() => false);
    const wasLate = await Promise.race([end, isLate]).finally(() => done.abort());
    if (!wasLate) return;
    // A connection to a server that no longer answers never closes by itself.
    this.disconnect();
    this.#options.log.warn('the database was still in use when it was closed');
  }

  #clientConfig(url: string): ClientConfig {
    const { statementTimeoutMs, keyNames = [] } = this.#options;
    const { connectionString, ssl, options } = readPostgresUrl(url);
    return {
      connectionString,
      ssl,
      application_name: replicaName(keyNames),
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs + NO_ANSWER_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
      types: { getTypeParser: (oid: number) => parserOf(oid) },
      // Compiling a statement takes longer than any of ours runs: 2 s for a list of 10,000 checks that
      // takes 0.1 s. values.ts parses only this form of times.
      options: ['-c jit=off', options, '-c TimeZone=UTC -c DateStyle=ISO'].join(' '),
      stream: () => {
        const socket = new Socket();
        this.#sockets.add(socket);
        socket.once('close', () => this.#sockets.delete(socket));
        return socket;
      },
    };
  }

  async #withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      const connection = await this.#checkOut();
      try {
        return await work(connection);
      } finally {
        connection.release();
      }
    };
    const running = run();
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #checkOut(): Promise<Connection> {
    if (this.#closing.signal.aborted) throw storeClosedError();
    if (this.#pool.waitingCount >= MAX_WAITING) {
      const message = `${MAX_WAITING} statements wait for a connection to the database already`;
      throw new StoreError('unavailable', 'STORE_BUSY', message);
    }
    try {
      return new Connection(await this.#pool.connect(), this.#options.statementTimeoutMs);
    } catch (thrown) {
      throw classifyError(thrown).error;
    }
  }
}

/** One connection of the pool while it is in use. */
class Connection implements Transaction {
  readonly #client: PoolClient;
  readonly #onError = (): void => {
    this.#broken = true;
  };
  #broken = false;
  #timeoutMs: number;

  constructor(client: PoolClient, statementTimeoutMs: number) {
    this.#client = client;
    this.#timeoutMs = statementTimeoutMs;
    // A connection lost between two statements: without a listener, the error would end the process.
    client.on('error', this.#onError);
  }

  get isBroken(): boolean {
    return this.#broken;
  }

  async query<R extends Row>(text: string, params: readonly Param[] = []): Promise<readonly R[]> {
    const { fields, rows } = await this.#run({
      text,
      values: params.map(encodeParam),
      // Extended: the server accepts only one statement, also without parameters.
      ...{ queryMode: 'extended' },
    });
    return namedRows<R>(fields, rows);
  }

  async script(text: string): Promise<void> {
    await this.#run({ text });
  }

  /** The command tag of the server, for example COMMIT. */
  async command(text: string): Promise<string> {
    return (await this.#run({ text })).command;
  }

  async limitStatements(timeoutMs: number): Promise<void> {
    this.#timeoutMs = timeoutMs;
    await this.command(`set local statement_timeout = ${Math.ceil(timeoutMs)}`);
  }

  release(): void {
    this.#client.off('error', this.#onError);
    this.#client.release(this.#broken);
  }

  async #run(query: QueryConfig) {
    try {
      return await this.#client.query<unknown[]>({
        ...query,
        rowMode: 'array',
        // pg accepts it for each query, which its types omit.
        ...{ query_timeout: this.#timeoutMs + NO_ANSWER_MS },
      });
    } catch (thrown) {
      const { error, broken } = classifyError(thrown);
      this.#broken ||= broken;
      throw error;
    }
  }
}

async function transact<T>(
  store: Store,
  connection: Connection,
  work: (tx: Transaction) => Promise<T>,
  { statementTimeoutMs }: TransactionOptions,
): Promise<T> {
  await connection.command('begin');
  try {
    if (statementTimeoutMs !== undefined) await connection.limitStatements(statementTimeoutMs);
    const result = await runInside(store, new OpenTransaction(connection), work);
    if ((await commit(connection)) === 'ROLLBACK') throw silentRollback();
    return result;
  } catch (thrown) {
    // A failed rollback marks the connection as broken; the first error is reported.
    if (!connection.isBroken) await connection.command('rollback').catch(() => {});
    throw thrown;
  }
}

/**
 * @returns the command tag of the server
 * @throws StoreError; that of `commitUnknown` if the connection is lost before the answer
 */
async function commit(connection: Connection): Promise<string> {
  // On a connection that was lost before, COMMIT is not sent.
  const wasBroken = connection.isBroken;
  try {
    return await connection.command('commit');
  } catch (thrown) {
    const isLost = connection.isBroken && !wasBroken;
    throw isLost && thrown instanceof StoreError ? commitUnknown(thrown) : thrown;
  }
}
