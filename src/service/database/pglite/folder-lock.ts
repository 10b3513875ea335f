import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { VedetteError } from '../../../runtime/errors.ts';
import { tryFlock } from '../../../runtime/files/flock.ts';
import type { Logger } from '../../../runtime/logger.ts';

/**
 * Locks a file for this process until `release` or the end of the process. Warns and goes on where
 * the system has no flock.
 * @throws VedetteError `environment` where another process, or another part of this one, has locked
 * it, or where the kernel refuses the lock for any other reason
 */
export async function lockFile(path: string, folder: string, log: Logger): Promise<() => void> {
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
