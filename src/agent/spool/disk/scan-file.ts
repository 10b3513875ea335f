import { systemCodeOf } from '../../../runtime/errors.ts';
import { closeQuietly, type FileSystem, readFully } from '../../../runtime/files/file-system.ts';
import type { Entry, Segment } from '../entry.ts';
import { decodeKeys, findFrame, isTornWrite, lostKeyOf, readFrame } from '../frame.ts';
import { asidePath } from './damaged-files.ts';
import type { NumberRange } from './number-ranges.ts';
import { type SpoolFolder, unusableFile } from './spool-folder.ts';

/** Far above the size of any segment. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

export interface RecoveredEntry extends Pick<Entry, 'kind' | 'id' | 'key' | 'bytes' | 'offset'> {
  readonly atMs: number;
  readonly segment: Segment;
}

/** The frames of one file. */
export interface Scan {
  /** The number of whole frames. */
  readonly frames: number;
  /** Their numbers. */
  readonly ranges: readonly NumberRange[];
  readonly entries: readonly RecoveredEntry[];
  /** Keys of records that left. */
  readonly removed: readonly number[];
  readonly damagedBytes: number;
  readonly lastKey: number;
}

export function scanFile(bytes: Buffer, segment: Segment): Scan {
  const ranges: { from: number; end: number }[] = [];
  const entries: RecoveredEntry[] = [];
  const removals: (readonly number[])[] = [];
  let [frames, damagedBytes, lastKey] = [0, 0, -1];
  let offset = 0;
  while (offset < bytes.length) {
    const found = readFrame(bytes, offset);
    if (found === null) {
      const next = findFrame(bytes, offset + 1);
      if (next !== null || !isTornWrite(bytes, offset))
        damagedBytes += (next ?? bytes.length) - offset;
      if (next === null) break;
      offset = next;
      continue;
    }
    const { type, id, key, number, atMs, body } = found.frame;
    const last = ranges.at(-1);
    if (last?.end === number) last.end += 1;
    else ranges.push({ from: number, end: number + 1 });
    lastKey = Math.max(lastKey, key);
    frames += 1;
    if (type === 'removal') removals.push(decodeKeys(body));
    else entries.push({ kind: type, id, key, atMs, bytes: found.bytes, segment, offset });
    offset += found.bytes;
  }
  return { frames, ranges, entries, removed: removals.flat(), damagedBytes, lastKey };
}

/** The records of all files, without those that are removed in any file, in any order. */
export class FoundRecords {
  readonly waiting = new Map<number, RecoveredEntry>();
  readonly #removed = new Set<number>();
  /** The highest key; -1 if there is none. */
  lastKey = -1;

  get lostNumbers(): readonly number[] {
    return [...this.#removed].filter((key) => key < 0).map(lostKeyOf);
  }

  take({ entries, removed, lastKey }: Scan): void {
    for (const entry of entries) {
      if (!this.#removed.has(entry.key)) this.waiting.set(entry.key, entry);
    }
    this.remove(removed);
    this.lastKey = Math.max(this.lastKey, lastKey);
  }

  remove(keys: readonly number[]): void {
    for (const key of keys) {
      this.waiting.delete(key);
      this.#removed.add(key);
    }
  }

  /** Whether a record with this key waits or was removed. */
  knows(key: number): boolean {
    return this.waiting.has(key) || this.#removed.has(key);
  }
}

/** Reads file after file into the same memory: each result is valid until the next read. */
export class WholeFileReader {
  readonly #disk: FileSystem;
  #memory = Buffer.alloc(0);

  constructor(disk: FileSystem) {
    this.#disk = disk;
  }

  /** Null if the file is too large to be a segment. */
  async read(path: string): Promise<Buffer | null> {
    const handle = await this.#disk.open(path, 'r');
    try {
      const { size } = await handle.stat();
      if (size > MAX_FILE_BYTES) return null;
      if (size > this.#memory.length) this.#memory = Buffer.allocUnsafeSlow(size);
      const bytes = this.#memory.subarray(0, size);
      return bytes.subarray(0, await readFully(handle, bytes, 0));
    } finally {
      await closeQuietly(handle);
    }
  }
}

/** Null if the file is damaged and cannot be read; it is moved aside. */
export async function readWholeFile(
  path: string,
  folder: SpoolFolder,
  reader: WholeFileReader,
): Promise<Buffer | null> {
  try {
    const contents = await reader.read(path);
    if (contents !== null) return contents;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'EIO' && code !== 'EISDIR' && code !== 'ENOENT') {
      throw unusableFile(path, code, error);
    }
  }
  try {
    await folder.disk.rename(path, asidePath(folder.path, path));
  } catch (error) {
    const code = systemCodeOf(error);
    // A later start could read its records when other records have their keys.
    if (code !== 'ENOENT') throw unusableFile(path, code, error);
  }
  return null;
}
