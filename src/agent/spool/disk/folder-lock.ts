import { VedetteError } from '../../../runtime/errors.ts';
import { tryFlock } from '../../../runtime/files/flock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { DiskFile } from './disk.ts';

/**
 * Locks the folder for this process until the handle is closed. Warns where it cannot be locked.
 *
 * @throws VedetteError of kind `environment` and code DATA_DIR_IN_USE where another process has it
 */
export async function lockFolder(
  handle: Pick<DiskFile, 'fd'>,
  dataDir: string,
  log: Logger,
): Promise<void> {
  const lock = await tryFlock(handle.fd);
  if (lock.state === 'locked') return;
  if (lock.state === 'held') {
    throw new VedetteError(
      'environment',
      'DATA_DIR_IN_USE',
      `DATA_DIR is ${JSON.stringify(dataDir)}, which another agent uses: give each agent a folder of its own`,
    );
  }
  log.warn(
    { reason: lock.reason },
    'the folder of DATA_DIR cannot be locked here: see to it that only one agent uses it',
  );
}
