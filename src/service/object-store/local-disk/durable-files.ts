import { mkdir, open, rename, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { systemCodeOf } from '../../../runtime/errors.ts';

/** Accessible only for the user that runs the service. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Writes a new file and syncs it. Fails where the file exists. */
export async function writeDurably(
  path: string,
  content: string | AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(path, 'wx', FILE_MODE);
  try {
    await writeFile(handle, content, { signal });
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Syncs a folder, so that changes of its entries survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

/** Makes a folder below `root`, which exists, with its parents, and syncs them all. */
export async function makeFolders(root: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
  let path = root;
  for (const name of relative(root, folder).split(sep)) {
    await syncFolder(path);
    path = join(path, name);
  }
}

/** Null if there is no such file or folder; rejects with any other error. */
export async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Renames a folder. Returns false if a folder with the new name exists. */
export async function renameUnlessThere(from: string, to: string): Promise<boolean> {
  try {
    await renameDurably(from, to);
    return true;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
}
