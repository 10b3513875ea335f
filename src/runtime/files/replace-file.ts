import { type FileHandle, open, rename, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface ReplaceOptions {
  /** Whether the file is on disk, safe from a power cut, when the promise resolves. */
  readonly durable: boolean;
}

/**
 * Replaces the file atomically: a reader, also after a crash, gets the old text or the new one. Only
 * the owner may read it.
 *
 * Allows one call at a time for each file.
 *
 * @throws the system's error; the file is then unchanged
 */
export async function replaceFile(
  path: string,
  text: string | Iterable<string> | AsyncIterable<string>,
  { durable }: ReplaceOptions,
): Promise<void> {
  const next = `${path}.new`;
  try {
    await using(await open(next, 'w', 0o600), async (handle) => {
      await writeFile(handle, text);
      if (durable) await handle.sync();
    });
    await rename(next, path);
  } catch (error) {
    await unlink(next).catch(() => {});
    throw error;
  }
  // The name is in the folder, which needs a sync of its own.
  if (durable) await using(await open(dirname(path), 'r'), (handle) => handle.sync());
}

async function using(
  handle: FileHandle,
  use: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}
