import { statfs } from 'node:fs/promises';

/** The file system of a folder. */
export interface DiskSpace {
  /** What this process can still write. */
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
