import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { messageOf, VedetteError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { DiskFile } from './disk.ts';

/** The same number on Linux and macOS. */
const LOCK_EXCLUSIVE = 2;
const LOCK_NOT_WAITING = 4;

/**
 * Takes the folder for this process. The kernel gives it back when the handle is closed or the
 * process ends, however it ends, so no stale lock can be left; and it holds between containers
 * that share a folder of one machine, where process ids mean nothing.
 *
 * @throws VedetteError of kind `environment` and code DATA_DIR_IN_USE where another process has it
 */
export async function lockFolder(
  handle: Pick<DiskFile, 'fd'>,
  dataDir: string,
  log: Logger,
): Promise<void> {
  const locked = await flock(handle.fd);
  if (locked.ok) return;
  if (locked.errno === constants.errno.EWOULDBLOCK) {
    throw new VedetteError(
      'environment',
      'DATA_DIR_IN_USE',
      `DATA_DIR is ${JSON.stringify(dataDir)}, which another agent uses: give each agent a folder of its own`,
    );
  }
  log.warn(
    { reason: locked.reason },
    'the folder of DATA_DIR cannot be locked here: see to it that only one agent uses it',
  );
}

async function flock(
  fd: number,
): Promise<
  { readonly ok: true } | { readonly ok: false; readonly errno: number; readonly reason: string }
> {
  try {
    // Loaded on first use: an agent without DATA_DIR needs none of it.
    const { default: koffi } = await import('koffi');
    const call = koffi.load(null).func('int flock(int, int)') as (...args: number[]) => number;
    if (call(fd, LOCK_EXCLUSIVE | LOCK_NOT_WAITING) === 0) return { ok: true };
    const errno = koffi.errno();
    return { ok: false, errno, reason: errno > 0 ? getSystemErrorName(-errno) : 'unknown' };
  } catch (error) {
    return { ok: false, errno: 0, reason: messageOf(error) };
  }
}
