import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { stampOf } from '../source/file/file-stamp.ts';
import { type Listing, listFolder, readValue } from './read-folder.ts';

/** A folder that never stands still is taken as it is after so many looks. */
const MAX_UNSETTLED_LOOKS = 10;
/** What could not be read for want of memory or descriptors changes nothing when it could be again. */
const RETRY_MS = 60_000;
/** Of one reading. */
const MAX_LINES_LOGGED = 20;

export interface FolderOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Values from a folder that is read again when it changes (VARIABLES_DIR). It is looked at rather
 * than watched by the system's notifications, and a change counts once it has stood still from one
 * look to the next: see createFileSource.
 *
 * Where the folder is gone, or a file of it is refused, what was read last stays in place and the
 * log says so once. No line of the log has anything of a value.
 */
export class VariablesFolder {
  readonly #options: FolderOptions;
  #values: ReadonlyMap<string, string> = new Map();
  /** The state of the folder that was read last. */
  #readStamp: string | null = null;
  /** A new state, not yet known to be settled. */
  #newStamp: string | null = null;
  #unsettledLooks = 0;
  #retryAtMs = Number.POSITIVE_INFINITY;
  /** What the log was last told to be wrong. */
  #told: ReadonlySet<string> = new Set();

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

  /** Looks whether it changed, and reads it where it did. Never rejects. */
  async look(): Promise<void> {
    const listed = await this.#list();
    const stamp = await this.#stamp(listed);
    const isSame = stamp === this.#readStamp;
    if (isSame && this.#options.clock.monotonicMs() < this.#retryAtMs) {
      this.#newStamp = null;
      this.#unsettledLooks = 0;
      return;
    }
    const settled = isSame || stamp === this.#newStamp;
    if (!settled && this.#unsettledLooks < MAX_UNSETTLED_LOOKS) {
      this.#newStamp = stamp;
      this.#unsettledLooks += 1;
      return;
    }
    this.#newStamp = null;
    this.#unsettledLooks = 0;
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
      this.#tell([`it cannot be read (${listed}), and its last values stay in place`]);
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
    this.#tell(problems);
  }

  #tell(problems: readonly string[]): void {
    const { folder, log } = this.#options;
    const fresh = problems.filter((problem) => !this.#told.has(problem));
    for (const problem of fresh.slice(0, MAX_LINES_LOGGED)) {
      log.warn({ folder }, `VARIABLES_DIR: ${problem}`);
    }
    const rest = fresh.length - MAX_LINES_LOGGED;
    if (rest > 0) log.warn({ folder, files: rest }, 'VARIABLES_DIR: and further files like these');
    // As loud as the problem was: whoever saw that one waits for its end.
    if (problems.length === 0 && this.#told.size > 0) {
      log.warn({ folder }, 'VARIABLES_DIR: everything in it can be used again');
    }
    this.#told = new Set(problems);
  }
}
