import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { stampOf } from '../source/file/file-stamp.ts';
import { type Listing, listFolder, readValue } from './read-folder.ts';

/** After this many scans a folder that keeps changing is read as it is. */
const MAX_UNSETTLED_SCANS = 10;
/** A file that could not be read for lack of memory or descriptors does not change when it can be. */
const RETRY_MS = 60_000;
/** Of one reading. */
const MAX_LINES_LOGGED = 20;

export interface FolderOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Values from a folder that is read again when it changes (VARIABLES_DIR). It is polled, and a
 * change counts once two consecutive scans find the same state: see createFileSource.
 *
 * Where the folder is gone, or a file in it is refused, the last values stay in force, and that is
 * logged once. No log line contains any part of a value.
 */
export class VariablesFolder {
  readonly #options: FolderOptions;
  #values: ReadonlyMap<string, string> = new Map();
  /** The state of the folder that was read last. */
  #readStamp: string | null = null;
  /** A new state, not yet known to be settled. */
  #newStamp: string | null = null;
  #unsettledScans = 0;
  #retryAtMs = Number.POSITIVE_INFINITY;
  /** The problems that were logged last. */
  #loggedProblems: ReadonlySet<string> = new Set();

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  /** By name, as they were read last. */
  get values(): ReadonlyMap<string, string> {
    return this.#values;
  }

  /** Reads it as it is now. Never rejects. */
  async read(): Promise<void> {
    const listed = await this.#list();
    this.#readStamp = await this.#stamp(listed);
    await this.#take(listed);
  }

  /** Scans the folder, and reads it where it has changed. Never rejects. */
  async look(): Promise<void> {
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

  /** The text is why it cannot be listed. */
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
    return stampOf([folder, ...listed.names.map((name) => join(folder, name))]);
  }

  async #take(listed: Listing | string): Promise<void> {
    const { folder, clock } = this.#options;
    this.#retryAtMs = Number.POSITIVE_INFINITY;
    if (typeof listed === 'string') {
      this.#retryAtMs = clock.monotonicMs() + RETRY_MS;
      this.#logProblems([`it cannot be read (${listed}), and its last values stay in place`]);
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
      const instead = last === undefined ? 'it is left out' : 'its last value stays in place';
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
    if (rest > 0) log.warn({ folder, files: rest }, 'VARIABLES_DIR: and further files like these');
    // At the problem's level: a reader who saw the problem must also see its end.
    if (problems.length === 0 && this.#loggedProblems.size > 0) {
      log.warn({ folder }, 'VARIABLES_DIR: everything in it can be used again');
    }
    this.#loggedProblems = new Set(problems);
  }
}
