import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf, VedetteError } from '../../../runtime/errors.ts';
import { tryFlock } from '../../../runtime/files/flock.ts';
import { restrictToOwner } from '../../../runtime/files/private-folder.ts';
import type { Logger } from '../../../runtime/logger.ts';

const NAME = 'database';
/** A file in a database that is not complete yet. */
const UNFINISHED = 'vedette-unfinished';

export interface DataFolder {
  /** The folder of the database's own files. */
  readonly database: string;
  /** Whether there is no database yet: whoever opens the folder creates it there, and then calls `keep`. */
  readonly isNew: boolean;
  /** Lets later starts use the new database. One that was not kept is replaced by the next start. */
  keep(): Promise<void>;
  release(): void;
}

/** Whether the folder has an embedded database. */
export function hasDatabase(folder: string): boolean {
  const database = join(folder, NAME);
  return existsSync(database) && !existsSync(join(database, UNFINISHED));
}

/**
 * Prepares a folder for the embedded database and locks it: `database.lock`, and `database`. A first start that was
 * interrupted leaves a database with a mark, which the next one replaces (the previous release: `database.new`).
 *
 * @throws VedetteError `environment`, one line
 */
export async function openDataFolder(folder: string, log: Logger): Promise<DataFolder> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(folder, error);
  }
  const release = await lockOrExplain(folder, log);
  const database = join(folder, NAME);
  try {
    const isNew = !hasDatabase(folder);
    if (isNew) {
      for (const name of [NAME, `${NAME}.new`]) {
        rmSync(join(folder, name), { recursive: true, force: true });
      }
      mkdirSync(database, { mode: 0o700 });
      writeFileSync(join(database, UNFINISHED), '');
    }
    return {
      database,
      isNew,
      async keep() {
        // PGlite makes its files writable for everybody, regardless of the umask.
        await restrictToOwner(database);
        rmSync(join(database, UNFINISHED));
      },
      release,
    };
  } catch (error) {
    release();
    throw unusable(folder, error);
  }
}

async function lockOrExplain(folder: string, log: Logger): Promise<() => void> {
  try {
    return await lockFile(join(folder, 'database.lock'), folder, log);
  } catch (error) {
    throw error instanceof VedetteError ? error : unusable(folder, error);
  }
}

/**
 * Locks a file until the returned function is called or the process ends. If the system has no flock, only
 * logs a warning.
 *
 * @throws VedetteError `environment` where another process, or another part of this one, has locked
 *   it, or the kernel refuses the lock for another reason
 */
async function lockFile(path: string, folder: string, log: Logger): Promise<() => void> {
  const fd = openSync(path, 'a+', 0o600);
  const lock = await tryFlock(fd);
  if (lock.state === 'unavailable') {
    log.warn(
      `this system cannot lock a file (${lock.reason}): make sure that no two services use one data folder`,
    );
  } else if (lock.state !== 'locked') {
    const holder = readFileSync(path, 'utf8').trim();
    closeSync(fd);
    const who = /^\d+$/.test(holder) ? ` (process ${holder})` : '';
    throw new VedetteError(
      'environment',
      'STORE_FOLDER_IN_USE',
      `the embedded database in ${folder} is in use by another service${who}: stop that one, or give this one another folder`,
    );
  }
  ftruncateSync(fd);
  writeSync(fd, `${process.pid}\n`);
  return () => closeSync(fd);
}

export function unusable(folder: string, error: unknown): VedetteError {
  const why = messageOf(error).replaceAll(/\s+/g, ' ');
  const message = `the embedded database cannot be made in ${folder}: ${why}`;
  return new VedetteError('environment', 'STORE_FOLDER_UNUSABLE', message);
}
