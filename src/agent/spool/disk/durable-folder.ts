import { dirname, resolve } from 'node:path';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { closeQuietly, type Disk } from './disk.ts';

/**
 * Makes a folder, for the agent's user alone, and those above it as far as they are missing, and
 * returns when its name is on disk: files whose folder is lost with the power are lost, too, however
 * often they were synced.
 *
 * @throws the system's error
 */
export async function makeDurableFolder(path: string, disk: Disk): Promise<void> {
  const whole = resolve(path);
  const highest = (await makeFolder(whole, disk)) ?? whole;
  // Also for one that was there: the process that made it may have got no further.
  for (let each = whole; each !== dirname(each); each = dirname(each)) {
    await syncNames(dirname(each), disk);
    if (each === highest) return;
  }
}

/**
 * Returns when the names in a folder are on disk. A folder that the agent may not read cannot be
 * synced by it, and is let pass.
 *
 * @throws the system's error
 */
export async function syncNames(folder: string, disk: Disk): Promise<void> {
  const handle = await disk.open(folder, 'r').catch((error: unknown) => {
    if (systemCodeOf(error) === 'EACCES') return null;
    throw error;
  });
  try {
    await handle?.sync();
  } finally {
    await closeQuietly(handle);
  }
}

/** The first one that was missing; undefined where it is only the last one, or none. */
async function makeFolder(path: string, disk: Disk): Promise<string | undefined> {
  try {
    return await disk.mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'EEXIST') return undefined;
    // Only where parents are missing: the recursive form calls a read-only mount ENOENT.
    if (code !== 'ENOENT') throw error;
    return await disk.mkdir(path, { recursive: true, mode: 0o700 });
  }
}
