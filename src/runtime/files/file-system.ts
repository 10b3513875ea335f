import { mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';

/** An open file. All methods throw the system's error, with its `code`. */
export interface OpenFile {
  /** The file descriptor, for locks. */
  readonly fd: number;
  /** Reads from `position` in the file to `offset` in the buffer. May read fewer bytes; none at the end. */
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  /** May write fewer bytes. */
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesWritten: number }>;
  /** fdatasync(2). */
  datasync(): Promise<void>;
  /** fsync(2). For a folder: the names in it. */
  sync(): Promise<void>;
  truncate(bytes: number): Promise<void>;
  stat(): Promise<{ readonly size: number }>;
  close(): Promise<void>;
}

/** The file system as in `node:fs/promises`, so that tests can make its calls fail. */
export interface FileSystem {
  open(path: string, flags: 'r' | 'w', mode?: number): Promise<OpenFile>;
  /** With `recursive`, resolves with the first folder that was created. */
  mkdir(
    path: string,
    options: { readonly recursive?: boolean; readonly mode: number },
  ): Promise<string | undefined>;
  readdir(path: string): Promise<string[]>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>;
}

export const systemFiles: FileSystem = { open, mkdir, readdir, rename, unlink, stat };

/** Closes a file that was read or synced: an error of closing changes nothing. */
export async function closeQuietly(file: OpenFile | null): Promise<void> {
  await file?.close().catch(() => {});
}

/** Fills the buffer from `position` in the file on. Returns fewer bytes only at the end of the file. */
export async function readFully(
  file: OpenFile,
  buffer: Uint8Array,
  position: number,
): Promise<number> {
  let done = 0;
  while (done < buffer.length) {
    const { bytesRead } = await file.read(buffer, done, buffer.length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

export async function writeFully(
  file: OpenFile,
  bytes: Uint8Array,
  position: number,
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const left = bytes.length - done;
    done += (await file.write(bytes, done, left, position + done)).bytesWritten;
  }
}
