import { systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { type Disk, letGo } from './disk.ts';
import type { Entry, Segment } from './entry.ts';
import { decodeKeys, findFrame, isTornWrite, readFrame } from './frame.ts';
import { asidePath, type FoundFile, type SpoolFolder } from './spool-folder.ts';

/** No file of ours grows near this. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

export interface RecoveredEntry extends Pick<Entry, 'kind' | 'id' | 'key' | 'bytes' | 'offset'> {
  readonly atMs: number;
  readonly segment: Segment;
}

export interface RecoveredLog {
  readonly segments: readonly Segment[];
  /** What waits, oldest first. The segments' `live` counts it already. */
  readonly entries: readonly RecoveredEntry[];
  readonly nextNumber: number;
  /** The highest key ever seen; -1 where there was none. */
  readonly lastKey: number;
  readonly damagedFiles: number;
}

/**
 * Reads a log back after any end of the process. The rest of a write that was cut short at the end
 * of a file was never reported as committed and is passed over in silence. Whatever else is not
 * as it was written is damage: the log line counts what is missing, what is whole is kept.
 *
 * @throws VedetteError of kind `config` and code DATA_DIR_UNUSABLE where a file may not be read
 */
export async function recoverLog(folder: SpoolFolder, name: string): Promise<RecoveredLog> {
  const files = (await folder.files()).filter(({ log }) => log === name);
  const waiting = new Map<number, RecoveredEntry>();
  const segments: Segment[] = [];
  let nextNumber = 0;
  let lastKey = -1;
  let damagedFiles = 0;
  const reader = new WholeFileReader(folder.disk);
  for (const [index, file] of files.entries()) {
    // A file that a failed write made the log leave may repeat its last numbers in the next one.
    const missingBefore = index === 0 ? 0 : Math.max(0, file.number - nextNumber);
    const contents = await contentsOf(file, folder, reader);
    const segment = { path: file.path, bytes: contents?.length ?? 0, live: 0, damaged: false };
    const scan = contents === null ? null : scanFile(contents, file.number, segment, waiting);
    nextNumber = Math.max(nextNumber, file.number, scan?.nextNumber ?? 0);
    lastKey = Math.max(lastKey, scan?.lastKey ?? -1);
    if (missingBefore > 0) {
      damagedFiles += 1;
      folder.log.error(
        { file: file.path, missingRecords: missingBefore },
        'the spool is damaged: what stood before this file is cut short or gone',
      );
    }
    if (scan === null || scan.damagedBytes > 0 || scan.missing > 0) {
      damagedFiles += 1;
      segment.damaged = true;
      folder.log.error(
        {
          file: file.path,
          wholeRecords: scan?.frames ?? 0,
          missingRecords: scan?.missing ?? null,
          damagedBytes: scan?.damagedBytes ?? null,
        },
        `the spool is damaged: what is whole in this file is used, and the file is moved aside as ${asidePath('', file.path)}`,
      );
    }
    if (scan !== null && scan.frames > 0) segments.push(segment);
    else if (scan !== null) await putAway(segment, folder);
  }
  const entries = [...waiting.values()].sort((one, other) => one.key - other.key);
  for (const { segment } of entries) segment.live += 1;
  return { segments, entries, nextNumber, lastKey, damagedFiles };
}

/** Reads file after file into the same memory. What it gave last is good until the next read. */
class WholeFileReader {
  readonly #disk: Disk;
  #memory = Buffer.alloc(0);

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Null where the file is too large to be ours. */
  async read(path: string): Promise<Buffer | null> {
    const handle = await this.#disk.open(path, 'r');
    try {
      const { size } = await handle.stat();
      if (size > MAX_FILE_BYTES) return null;
      if (size > this.#memory.length) this.#memory = Buffer.allocUnsafeSlow(size);
      let done = 0;
      while (done < size) {
        const { bytesRead } = await handle.read(this.#memory, done, size - done, done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return this.#memory.subarray(0, done);
    } finally {
      await letGo(handle);
    }
  }
}

interface Scan {
  readonly frames: number;
  /** Frames that should stand between others and do not. */
  readonly missing: number;
  readonly damagedBytes: number;
  readonly nextNumber: number;
  readonly lastKey: number;
}

function scanFile(
  bytes: Buffer,
  firstNumber: number,
  segment: Segment,
  waiting: Map<number, RecoveredEntry>,
): Scan {
  let [frames, missing, damagedBytes, lastKey] = [0, 0, 0, -1];
  let nextNumber = firstNumber;
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
    missing += Math.max(0, number - nextNumber);
    nextNumber = number + 1;
    lastKey = Math.max(lastKey, key);
    frames += 1;
    if (type === 'removal') for (const removed of decodeKeys(body)) waiting.delete(removed);
    else {
      waiting.set(key, { kind: type, id, key, atMs, bytes: found.bytes, segment, offset });
    }
    offset += found.bytes;
  }
  return { frames, missing, damagedBytes, nextNumber, lastKey };
}

/** Null where the file cannot be read for damage; it is out of the way then. */
async function contentsOf(
  file: FoundFile,
  folder: SpoolFolder,
  reader: WholeFileReader,
): Promise<Buffer | null> {
  try {
    const contents = await reader.read(file.path);
    if (contents !== null) return contents;
  } catch (error) {
    const code = systemCodeOf(error);
    if (code !== 'EIO' && code !== 'EISDIR' && code !== 'ENOENT') {
      throw unusable(file.path, code, error);
    }
  }
  try {
    await folder.disk.rename(file.path, asidePath(folder.path, file.path));
  } catch (error) {
    const code = systemCodeOf(error);
    // Its records would be read again one day, when their keys are others'.
    if (code !== 'ENOENT') throw unusable(file.path, code, error);
  }
  return null;
}

/** A file with nothing in it that is whole must go: the next one may need its name. */
async function putAway({ path, damaged }: Segment, folder: SpoolFolder): Promise<void> {
  try {
    if (damaged) await folder.disk.rename(path, asidePath(folder.path, path));
    else await folder.disk.unlink(path);
  } catch (error) {
    throw unusable(path, systemCodeOf(error), error);
  }
}

function unusable(path: string, code: string | null, cause: unknown): VedetteError {
  return new VedetteError(
    'config',
    'DATA_DIR_UNUSABLE',
    `the spool's file ${path} cannot be read or replaced (${code ?? 'unknown error'}): give the agent the right to, or name another folder in DATA_DIR`,
    { cause },
  );
}
