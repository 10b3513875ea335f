import { dirname, resolve } from 'node:path';
import { systemCodeOf } from '../errors.ts';
import { closeQuietly, type FileSystem } from './file-system.ts';

/**
 * Creates a folder that only the user of the agent can access, with missing parents, and returns when its
 * name is on disk: a power cut would otherwise lose the folder with all synced files in it.
 *
 * @throws the system's error
 */
export async function makeDurableFolder(path: string, disk: FileSystem): Promise<void> {
  const whole = resolve(path);
  const highest = (await makeFolder(whole, disk)) ?? whole;
  // Existing folders, too: the process that created them may have died before the sync.
  for (let each = whole; each !== dirname(each); each = dirname(each)) {
    await syncNames(dirname(each), disk);
    if (each === highest) return;
  }
}

/**
 * Returns when the names in a folder are on disk. Skips a folder that the agent may not read, as it
 * cannot sync it.
 *
 * @throws the system's error
 */
export async function syncNames(folder: string, disk: FileSystem): Promise<void> {
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

/** Resolves with the first missing folder; undefined if that is `path` itself or no folder is missing. */
async function makeFolder(path: string, disk: FileSystem): Promise<string | undefined> {
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
