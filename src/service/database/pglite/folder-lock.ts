import { closeSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { messageOf, VedetteError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';

/** flock(2): exclusive, and refused instead of waited for. The same on Linux and macOS. */
const LOCK_EX_NB = 2 | 4;

type Flock = (fd: number, operation: number) => number;

/**
 * Holds a file for this process alone until `release` or the end of the process, however it ends:
 * the kernel keeps the lock, so nothing is left behind by a crash, nor is a process id of another
 * container mistaken for a living one. Where the system has no flock, it warns and goes on.
 * @throws VedetteError `environment` where another process, or another part of this one, holds it
 */
export async function lockFile(path: string, folder: string, log: Logger): Promise<() => void> {
  const flock = await loadFlock(log);
  const fd = openSync(path, 'a+', 0o600);
  if (flock !== null && flock(fd, LOCK_EX_NB) !== 0) {
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

async function loadFlock(log: Logger): Promise<Flock | null> {
  try {
    const { default: koffi } = await import('koffi');
    return koffi.load(null).func('int flock(int, int)') as Flock;
  } catch (error) {
    log.warn(
      `this system cannot lock a file (${messageOf(error)}): make sure that no two services use one data folder`,
    );
    return null;
  }
}
