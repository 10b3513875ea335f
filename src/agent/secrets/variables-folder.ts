import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { fileStamp } from '../source/file/file-stamp.ts';
import { type Listing, listFolder, readValue } from './read-variable-files.ts';

/** After this many scans, reads a folder that keeps changing. */
const MAX_UNSETTLED_SCANS = 10;
/**
 * Retries failed reads: the stamp does not change when memory or descriptors are available again.
 */
const RETRY_MS = 60_000;
/** Maximum number of lines logged per read of the folder. */
const MAX_LINES_LOGGED = 20;

export interface FolderOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The values in a folder that is read again when it changes (VARIABLES_DIR). Polls the folder, and
 * reads a change once two consecutive scans find the same state, as createFileSource does.
 *
 * If the folder or a file cannot be read, the last values stay in use, which is logged once. Log
 * lines contain no part of a value.
 */
export class VariablesFolder {
  readonly #options: FolderOptions;
  #values: ReadonlyMap<string, string> = new Map();
  /** The state of the folder at the last reading. */
  #readStamp: string | null = null;
  /** A new state that only one scan has found. */
  #newStamp: string | null = null;
  #unsettledScans = 0;
  #retryAtMs = Number.POSITIVE_INFINITY;
  /** The problems that were logged last. */
  #loggedProblems: ReadonlySet<string> = new Set();

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  /** The values of the last read by name. */
  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /** Reads the folder. Never rejects. */
  async read(): Promise<void> {
    const listed = await this.#list();
    this.#readStamp = await this.#stamp(listed);
    await this.#take(listed);
  }

  /** Scans the folder and reads it if it has changed. Never rejects. */
  async scan(): Promise<void> {
    const listed = await this.#list();
    const stamp = await this.#stamp(listed);
    const isSame = stamp === this.#readStamp;
    if (isSame && this.#options.clock.monotonicMs() < this.#retryAtMs) {
      this.#newStamp = null;
      this.#unsettledScans = 0;
      return;
    }
    const settled = isSame || stamp === this.#newStamp;
    if (!settled && this.#unsettledScans < MAX_UNSETTLED_SCANS) {
      this.#newStamp = stamp;
      this.#unsettledScans += 1;
      return;
    }
    this.#newStamp = null;
    this.#unsettledScans = 0;
    this.#readStamp = stamp;
    await this.#take(listed);
  }

  /** Returns a text if the folder cannot be listed: the reason. */
  async #list(): Promise<Listing | string> {
    try {
      return await listFolder(this.#options.folder);
    } catch (error) {
      return systemCodeOf(error) ?? messageOf(error);
    }
  }

  async #stamp(listed: Listing | string): Promise<string> {
    if (typeof listed === 'string') return listed;
    const { folder } = this.#options;
    return fileStamp([folder, ...listed.names.map((name) => join(folder, name))]);
  }

  async #take(listed: Listing | string): Promise<void> {
    const { folder, clock } = this.#options;
    this.#retryAtMs = Number.POSITIVE_INFINITY;
    if (typeof listed === 'string') {
      this.#retryAtMs = clock.monotonicMs() + RETRY_MS;
      this.#logProblems([`it cannot be read (${listed}): its last values stay in use`]);
      return;
    }
    const problems = [...listed.notes];
    const values = new Map<string, string>();
    for (const name of listed.names) {
      const read = await readValue(folder, name);
      const last = this.#values.get(name);
      if (read?.ok === true) values.set(name, read.value);
      if (read === null || read.ok) continue;
      if (last !== undefined) values.set(name, last);
      if (read.isOfSystem) this.#retryAtMs = clock.monotonicMs() + RETRY_MS;
      const instead = last === undefined ? 'it is skipped' : 'its last value stays in use';
      problems.push(`the file ${name} ${read.problem}: ${instead}`);
    }
    this.#values = values;
    this.#logProblems(problems);
  }

  #logProblems(problems: readonly string[]): void {
    const { folder, log } = this.#options;
    const fresh = problems.filter((problem) => !this.#loggedProblems.has(problem));
    for (const problem of fresh.slice(0, MAX_LINES_LOGGED)) {
      log.warn({ folder }, `VARIABLES_DIR: ${problem}`);
    }
    const rest = fresh.length - MAX_LINES_LOGGED;
    if (rest > 0) log.warn({ folder, files: rest }, 'VARIABLES_DIR: more files have such problems');
    // At the level of the problem: whoever saw it must also see its end.
    if (problems.length === 0 && this.#loggedProblems.size > 0) {
      log.warn({ folder }, 'VARIABLES_DIR: the folder can be used again');
    }
    this.#loggedProblems = new Set(problems);
  }
}
