import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import type { Clock } from '../../../runtime/clock.ts';
import { messageOf, VedetteError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { sleep } from '../../../runtime/wait.ts';
import { deferred, requireChannelName } from '../notifications.ts';
import { namedRows } from '../rows.ts';
import { SerialQueue } from '../serial-queue.ts';
import type { Param, Row, Store, Transaction } from '../store.ts';
import {
  brokenDatabase,
  classifyError,
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
import { encodeParam, PARSERS } from '../values.ts';
import { type DataFolder, openDataFolder, unusable } from './data-folder.ts';
import { forbiddenEntry } from './folder-owner.ts';
import { readTemplate } from './template.ts';

interface PgliteParts {
  readonly clock: Clock;
  readonly log: Logger;
}

/** The database computes in this thread: after this time, a statement first yields to sockets and timers. */
const YIELD_AFTER_MS = 5;
/** Maximum number of waiting statements and transactions. Further ones would be answered too late anyway. */
const MAX_WAITING = 5000;
const CLOSE_TIMEOUT_MS = 5000;

/**
 * Opens the embedded database, either in a folder, which the first start creates, or in memory.
 *
 * @param folder null for memory
 * @throws VedetteError `environment` where the folder is in use or unusable
 */
export async function openPglite(folder: string | null, deps: PgliteParts): Promise<PgliteStore> {
  if (folder === null) {
    return new PgliteStore(
      await PGlite.create({ parsers: PARSERS, ...(await fromTemplate()) }),
      deps,
    );
  }
  const { clock, log } = deps;
  const data = await openDataFolder(folder, log);
  if (!data.isNew) return openExisting(folder, data, deps);
  log.info({ folder }, 'creating the embedded database (first start only)');
  const startMs = clock.monotonicMs();
  try {
    const options = { dataDir: data.database, parsers: PARSERS, ...(await fromTemplate()) };
    const db = await PGlite.create(options);
    await data.keep();
    const tookMs = Math.round(clock.monotonicMs() - startMs);
    log.info({ tookMs }, 'created the embedded database');
    return new PgliteStore(db, deps, data);
  } catch (error) {
    data.release();
    throw unusable(folder, error);
  }
}

async function openExisting(
  folder: string,
  data: DataFolder,
  deps: PgliteParts,
): Promise<PgliteStore> {
  try {
    const db = await PGlite.create({ dataDir: data.database, parsers: PARSERS });
    return new PgliteStore(db, deps, data);
  } catch (error) {
    data.release();
    const forbidden = forbiddenEntry(data.database);
    const why =
      forbidden === null
        ? `maybe because another release made it: ${messageOf(error).replaceAll(/\s+/g, ' ')}`
        : `because user ${process.geteuid?.() ?? 'of this process'} may not open ${forbidden}: a command ran as another user; make the user of the service the owner of all files again (chown -R)`;
    throw new VedetteError(
      'environment',
      'STORE_FOLDER_UNREADABLE',
      `the embedded database in ${folder} cannot be opened, ${why}`,
    );
  }
}

/** The files of a new database. PGlite creates them itself where there is no template, which takes seconds. */
async function fromTemplate(): Promise<{ readonly loadDataDir?: Blob }> {
  const template = await readTemplate();
  return template === null ? {} : { loadDataDir: template };
}

/**
 * PostgreSQL compiled to WebAssembly, in this process: one connection, so statements run one by one.
 * No statement can be cancelled, so the time limits of a statement have no effect.
 */
export class PgliteStore implements Store {
  readonly kind = 'pglite';
  readonly #db: PGlite;
  readonly #deps: PgliteParts;
  readonly #folder: DataFolder | null;
  readonly #serial = new SerialQueue();
  readonly #closing = new AbortController();
  #lastYieldMs = 0;
  #fault: StoreError | null = null;
  #closed: Promise<void> | null = null;

  constructor(db: PGlite, deps: PgliteParts, folder: DataFolder | null = null) {
    this.#db = db;
    this.#deps = deps;
    this.#folder = folder;
  }

  async query<R extends Row = Row>(text: string, params: readonly Param[] = []) {
    refuseInsideTransaction(this);
    return this.#runAlone(() => this.#query<R>(text, params));
  }

  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    refuseInsideTransaction(this);
    return withRetries(this.#deps.clock, this.#closing.signal, () =>
      this.#runAlone(() => this.#transact(work)),
    );
  }

  async listen(channel: string, onNotify: (payload: string) => void) {
    requireChannelName(channel);
    let isListening = true;
    const callback = deferred((payload: string) => {
      if (isListening) onNotify(payload);
    }, this.#deps.log);
    const end = await this.#runAlone(() => this.#guarded(() => this.#db.listen(channel, callback)));
    return async () => {
      isListening = false;
      if (this.#closing.signal.aborted) return;
      // A closed or broken database has no listeners to remove.
      await this.#runAlone(() => this.#guarded(() => end())).catch(() => {});
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    const done = new AbortController();
    const isLate = sleep(this.#deps.clock, CLOSE_TIMEOUT_MS, done.signal);
    const end = this.#serial.run(async () => {
      if (this.#fault === null) await this.#db.close();
      return false;
    });
    const wasLate = await Promise.race([end, isLate]).finally(() => done.abort());
    // A transaction that does not end still writes: keep the lock until the process ends.
    if (wasLate) this.#deps.log.warn('the embedded database was still in use when it was closed');
    else this.#folder?.release();
  }

  /** Runs one query or transaction at a time. */
  async #runAlone<T>(work: () => Promise<T>): Promise<T> {
    this.#requireUsable();
    if (this.#serial.waiting >= MAX_WAITING) {
      const message = `${MAX_WAITING} statements wait for the embedded database already`;
      throw new StoreError('unavailable', 'STORE_BUSY', message);
    }
    return this.#serial.run(async () => {
      await this.#yieldWhenDue();
      return work();
    });
  }

  async #yieldWhenDue(): Promise<void> {
    const { clock } = this.#deps;
    if (clock.monotonicMs() - this.#lastYieldMs <= YIELD_AFTER_MS) return;
    await yieldToEventLoop();
    this.#lastYieldMs = clock.monotonicMs();
  }

  async #query<R extends Row>(text: string, params: readonly Param[] = []): Promise<readonly R[]> {
    await this.#yieldWhenDue();
    const { fields, rows } = await this.#guarded(() =>
      this.#db.query<unknown[]>(text, params.map(encodeParam), { rowMode: 'array' }),
    );
    return namedRows<R>(fields, rows);
  }

  async #script(text: string): Promise<string | undefined> {
    const results = await this.#guarded(() => this.#db.exec(text));
    return results.at(-1)?.command;
  }

  async #transact<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const connection: Transaction = {
      query: (text, params) => this.#query(text, params),
      script: async (text) => void (await this.#script(text)),
    };
    await this.#script('begin');
    try {
      const result = await runInside(this, new OpenTransaction(connection), work);
      if ((await this.#script('commit')) === 'ROLLBACK') throw silentRollback();
      return result;
    } catch (thrown) {
      if (this.#fault === null) await this.#script('rollback').catch(() => {});
      throw thrown;
    }
  }

  #requireUsable(): void {
    if (this.#closing.signal.aborted) throw storeClosedError();
    if (this.#fault !== null) throw this.#fault;
  }

  /** Runs work, and refuses it after a fault of the compiled code, when its memory can be in any state. */
  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#fault !== null) throw this.#fault;
    try {
      return await work();
    } catch (thrown) {
      if (!isFatal(thrown)) throw classifyError(thrown).error;
      const message = `the embedded database broke, start the service again: ${messageOf(thrown)}`;
      this.#fault = brokenDatabase(message);
      this.#deps.log.error(message);
      throw this.#fault;
    }
  }
}

/** Whether WebAssembly trapped, or its program exited. */
function isFatal(thrown: unknown): boolean {
  if (typeof thrown !== 'object' || thrown === null || !('name' in thrown)) return false;
  return thrown.name === 'RuntimeError' || thrown.name === 'ExitStatus';
}
