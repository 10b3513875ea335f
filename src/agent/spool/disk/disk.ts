import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';

/** A file that is open. All of it throws the system's error, with its `code`. */
export interface DiskFile {
  /** The process's number of it, for what the system offers beside: locks. */
  readonly fd: number;
  /**
   * So many bytes, from `position` in the file on, to
   * `offset` in the buffer. May be fewer; none at the end of the file.
   */
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  /** The other way. May be fewer, too. */
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesWritten: number }>;
  /** Returns when the contents are on disk, and as much of the rest as reading them needs. */
  datasync(): Promise<void>;
  /** The same with all of the rest. For a folder: the names in it. */
  sync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  stat(): Promise<{ readonly size: number }>;
  close(): Promise<void>;
}

/**
 * All that the spool and the artifacts beside it ask of a file system, with the meaning that the
 * functions of these names have in `node:fs/promises`. Nothing goes past it but the lock of the folder.
 */
export interface Disk {
  open(path: string, flags: 'r' | 'w', mode?: number): Promise<DiskFile>;
  /** With `recursive`, resolves with the first folder that had to be made. */
  mkdir(
    path: string,
    options: { readonly recursive?: boolean; readonly mode: number },
  ): Promise<string | undefined>;
  readdir(path: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>;
}

/** The machine's own. */
export const systemDisk: Disk = { open, mkdir, readdir, rename, unlink, stat };

/** Closes a file of which nothing more is wanted: what was read or synced is so, whatever closing says. */
export async function closeQuietly(file: DiskFile | null): Promise<void> {
  await file?.close().catch(() => {});
}
