import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { messageOf, VedetteError } from '../../../runtime/errors.ts';
import { tryFlock } from '../../../runtime/files/flock.ts';
import { restrictToOwner } from '../../../runtime/files/private-folder.ts';
import type { Logger } from '../../../runtime/logger.ts';

const NAME = 'database';

export interface DataFolder {
  /** The folder of the database's own files. */
  readonly database: string;
  release(): void;
}

/** Whether the folder has an embedded database. */
export function hasDatabase(folder: string): boolean {
  return existsSync(join(folder, NAME));
}

/**
 * Prepares a folder for the embedded database and locks it: `database.lock`, and `database`, which
 * appears only when it is complete. A first start that was interrupted leaves `database.new`, which
 * the next one replaces.
 *
 * @param create creates a new database in the folder and closes it
 * @throws VedetteError `environment`, one line
 */
export async function openDataFolder(
  folder: string,
  log: Logger,
  create: (path: string) => Promise<void>,
): Promise<DataFolder> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(folder, error);
  }
  const release = await lockOrExplain(folder, log);
  try {
    const database = join(folder, NAME);
    if (!hasDatabase(folder)) {
      const unfinished = join(folder, 'database.new');
      rmSync(unfinished, { recursive: true, force: true });
      await create(unfinished);
      // PGlite makes its files writable for everybody, regardless of the umask.
      await restrictToOwner(unfinished);
      renameSync(unfinished, database);
    }
    return { database, release };
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

function unusable(folder: string, error: unknown): VedetteError {
  const why = messageOf(error).replaceAll(/\s+/g, ' ');
  const message = `the embedded database cannot be made in ${folder}: ${why}`;
  return new VedetteError('environment', 'STORE_FOLDER_UNUSABLE', message);
}
