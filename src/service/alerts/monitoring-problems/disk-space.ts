import { statfs } from 'node:fs/promises';
import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/wait.ts';

/** The file system of a folder. */
export interface DiskSpace {
  /** The space that this process can still use. */
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

/** null if it cannot be read, or reports no size, as some network file systems do. */
export async function readDiskSpace(folder: string): Promise<DiskSpace | null> {
  try {
    const { bsize, blocks, bavail } = await statfs(folder);
    return blocks > 0 ? { freeBytes: bavail * bsize, sizeBytes: blocks * bsize } : null;
  } catch {
    return null;
  }
}

/** A local disk takes milliseconds; a network disk that is unreachable may never answer. */
const MAX_READ_MS = 5_000;

/**
 * Reads the disk space; null if that takes longer than MAX_READ_MS. Starts no other read before the last one has ended:
 * each occupies one of the few threads that read files.
 */
export function timedDiskReader(
  clock: Clock,
  read: () => Promise<DiskSpace | null>,
): () => Promise<DiskSpace | null> {
  let isReading = false;
  return async () => {
    if (isReading) return null;
    isReading = true;
    const reading = read().finally(() => {
      isReading = false;
    });
    const stop = new AbortController();
    try {
      return await Promise.race([reading, sleep(clock, MAX_READ_MS, stop.signal).then(() => null)]);
    } finally {
      stop.abort();
    }
  };
}
