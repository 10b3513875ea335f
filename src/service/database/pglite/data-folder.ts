import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, VedetteError } from '../../../runtime/errors.ts';
import { closeToOthers } from '../../../runtime/files/private-folder.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { lockFile } from './folder-lock.ts';

const NAME = 'database';

export interface DataFolder {
  /** Where the database's own files are. */
  readonly database: string;
  release(): void;
}

/** Whether a start has made the embedded database in the folder. */
export function hasDatabase(folder: string): boolean {
  return existsSync(join(folder, NAME));
}

/**
 * Makes a folder ready for the embedded database and locks it: `database.lock`, and `database`,
 * which appears only when it is whole. A first start that was broken off leaves `database.new`,
 * which the next one replaces.
 * @param create makes a new database in the folder it is given, and closes it
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
      // Whatever the umask, PGlite lets all write what it makes here.
      await closeToOthers(unfinished);
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

function unusable(folder: string, error: unknown): VedetteError {
  const why = messageOf(error).replaceAll(/\s+/g, ' ');
  const message = `the embedded database cannot be made in ${folder}: ${why}`;
  return new VedetteError('environment', 'STORE_FOLDER_UNUSABLE', message);
}
