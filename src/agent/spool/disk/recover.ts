import { systemCodeOf, VedetteError } from '../../../runtime/errors.ts';
import type { Entry, LogPriority, Segment } from '../entry.ts';
import { decodeKeys, findFrame, isTornWrite, lostKeyOf, readFrame } from '../frame.ts';
import { closeQuietly, type Disk } from './disk.ts';
import { type KnownNumbers, type LostRecords, lostRecords, missingNumbers } from './lost-frames.ts';
import { type NotedFrame, readManifest } from './manifest.ts';
import {
  countNumbers,
  hasNumber,
  mergeRanges,
  missingFrom,
  type NumberRange,
  within,
} from './number-ranges.ts';
import {
  asidePath,
  type FoundFile,
  manifestPath,
  type SpoolFolder,
  segmentPath,
} from './spool-folder.ts';

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
  readonly lost: readonly LostRecords[];
  /** Numbers of frames that the next start is not to tell of again. */
  readonly toForget: readonly NumberRange[];
  /** Segments that must stay until then: their manifests tell what is lost. `live` counts them once more. */
  readonly held: readonly Segment[];
}

/** A file of the log, or its manifest where the file itself is gone. */
interface Part {
  readonly segment: Segment;
  /** Of its name. */
  readonly number: number;
  /** null where the file is gone or could not be read. */
  readonly scan: Scan | null;
  readonly isGone: boolean;
}

interface OrderedPart extends Part {
  /** The number that it begins with. */
  readonly first: number;
  /** Up to the next part. */
  readonly share: NumberRange;
}

/**
 * Reads a log back after any end of the process. The rest of a write that was cut short at the end
 * of a file was never reported as committed and is passed over in silence. Whatever else is not
 * as it was written is damage: what is whole is kept, and what is lost is counted, and named as far as
 * the manifests tell. It is the numbers of the frames that count, not the names of the files.
 *
 * @throws VedetteError of kind `config` and code DATA_DIR_UNUSABLE where a file may not be read
 */
export async function recoverLog(folder: SpoolFolder, lot: LogPriority): Promise<RecoveredLog> {
  const files = (await folder.files()).filter(({ log }) => log === lot);
  const manifests = new Manifests(
    files.filter(({ type }) => type === 'manifest'),
    folder,
  );
  const records = new FoundRecords();
  const found = await findParts(files, { folder, manifests, records });
  const seen = mergeRanges(found.flatMap(({ scan }) => scan?.ranges ?? []));
  const parts = inOrder(found, seen);
  const known = mergeRanges(records.lostNumbers.map((from) => ({ from, end: from + 1 })));
  const { expected, tornFrom } = await expectedNumbers(parts, seen, manifests);
  const { damaged, news, toForget } = missingNumbers({ seen, expected, tornFrom, known });
  const noted = await manifests.notesWithin(damaged);
  for (const each of noted) if (each.kind === 'removal') records.remove(each.keys);

  const lost: LostRecords[] = [];
  const held: Segment[] = [];
  const segments: Segment[] = [];
  let damagedFiles = 0;
  for (const part of parts) {
    const { segment, scan, share } = part;
    const own = within(news, share);
    const ownLost = lostRecords(own, { lot, noted, isThere: (key) => records.knows(key) });
    const isUnwhole = scan === null ? !part.isGone : scan.damagedBytes > 0;
    segment.damaged = isUnwhole || within(damaged, share).length > 0;
    if (isUnwhole || own.length > 0) {
      damagedFiles += 1;
      logDamaged(part, ownLost, folder);
    }
    lost.push(...ownLost);
    if (!(await isKept(part, manifests, folder))) continue;
    segments.push(segment);
    if (own.length > 0) held.push(segment);
  }
  const entries = [...records.waiting.values()].sort((one, other) => one.key - other.key);
  for (const { segment } of [...entries, ...held.map((segment) => ({ segment }))]) {
    segment.live += 1;
  }
  const lastKey = Math.max(records.lastKey, manifests.lastKey);
  const nextNumber = expected.end;
  return { segments, entries, nextNumber, lastKey, damagedFiles, lost, toForget, held };
}

/** Reads all files, and finds those that are gone by their manifests. */
async function findParts(
  files: readonly FoundFile[],
  {
    folder,
    manifests,
    records,
  }: {
    readonly folder: SpoolFolder;
    readonly manifests: Manifests;
    readonly records: FoundRecords;
  },
): Promise<readonly Part[]> {
  const parts: Part[] = [];
  const reader = new WholeFileReader(folder.disk);
  const newSegment = async (path: string, bytes: number): Promise<Segment> => {
    const manifestBytes = await manifests.bytesOf(path);
    return { path, bytes, manifestBytes, live: 0, damaged: false };
  };
  for (const { path, number, type } of files) {
    if (type === 'manifest') continue;
    const contents = await contentsOf(path, folder, reader);
    const segment = await newSegment(path, contents?.length ?? 0);
    const scan = contents === null ? null : scanFile(contents, segment);
    if (scan !== null) records.take(scan);
    parts.push({ segment, number, scan, isGone: false });
  }
  const there = new Set(parts.map(({ segment }) => segment.path));
  for (const { path, number } of manifests.files) {
    const gone = segmentPath(path);
    if (there.has(gone)) continue;
    parts.push({ segment: await newSegment(gone, 0), number, scan: null, isGone: true });
  }
  return parts;
}

/** Each part with the numbers that are its own, by the frames in it. */
function inOrder(found: readonly Part[], seen: readonly NumberRange[]): readonly OrderedPart[] {
  const ordered = found
    .map((part) => ({ ...part, first: firstNumberOf(part, seen) }))
    // A manifest must not outlive another file that has its frames.
    .sort((one, other) => one.first - other.first || Number(other.isGone) - Number(one.isGone));
  return ordered.map((part, index) => {
    const from = index === 0 ? 0 : part.first;
    return { ...part, share: { from, end: ordered[index + 1]?.first ?? Number.MAX_VALUE } };
  });
}

/** By its name, unless other files have the frames that it is named by. */
function firstNumberOf({ number, scan }: Part, seen: readonly NumberRange[]): number {
  const first = scan?.ranges[0]?.from ?? number;
  if (first <= number) return first;
  const before = { from: number, end: first };
  return countNumbers(missingFrom(seen, before)) === first - number ? number : first;
}

async function expectedNumbers(
  parts: readonly OrderedPart[],
  seen: readonly NumberRange[],
  manifests: Manifests,
): Promise<Pick<KnownNumbers, 'expected' | 'tornFrom'>> {
  const firstManifest = manifests.files[0]?.number ?? Number.POSITIVE_INFINITY;
  const lastManifest = manifests.files.at(-1);
  const firstNumber = parts[0]?.first ?? 0;
  const firstSeen = seen[0]?.from ?? firstNumber;
  const notedEnd = lastManifest === undefined ? 0 : await manifests.endOf(lastManifest);
  const seenEnd = seen.at(-1)?.end ?? 0;
  // Where nothing else tells, as with files of releases that wrote no manifests: a file is made when all
  // before it is on disk.
  const isToldByNames = lastManifest === undefined;
  const named = parts.filter(({ scan }) => isToldByNames && (scan?.frames ?? 0) === 0);
  const lastPart = parts.at(-1);
  const tellsAll =
    lastPart !== undefined && lastManifest?.path === manifestPath(lastPart.segment.path);
  return {
    expected: {
      from: firstManifest <= firstSeen ? firstManifest : firstNumber,
      end: Math.max(notedEnd, seenEnd, ...named.map(({ number }) => number)),
    },
    tornFrom: tellsAll ? notedEnd : Number.POSITIVE_INFINITY,
  };
}

/** Puts away what has no frames. Whether the segment is one of the log still, if only for its manifest. */
async function isKept(
  { segment, scan }: Part,
  manifests: Manifests,
  folder: SpoolFolder,
): Promise<boolean> {
  if (scan !== null && scan.frames > 0) return true;
  if (scan !== null) await setAside(segment, folder);
  segment.bytes = 0;
  segment.damaged = false;
  if (!manifests.has(segment.path)) return false;
  if ((await manifests.notesOf(segment.path)).length > 0) return true;
  await folder.disk.unlink(manifestPath(segment.path)).catch(() => {});
  return false;
}

function logDamaged(
  { segment: { path }, scan, isGone }: Part,
  lost: readonly LostRecords[],
  { log }: SpoolFolder,
): void {
  const missingRecords = lost.reduce((sum, { count }) => sum + count, 0);
  if (isGone) {
    log.error({ file: path, missingRecords }, 'the spool is damaged: this file is gone');
    return;
  }
  log.error(
    {
      file: path,
      wholeRecords: scan?.frames ?? 0,
      missingRecords,
      damagedBytes: scan?.damagedBytes ?? null,
    },
    `the spool is damaged: what is whole in this file is used, and the file is moved aside as ${asidePath('', path)}`,
  );
}

/** The records of all files: what is removed anywhere does not wait, in whatever order they are read. */
class FoundRecords {
  readonly waiting = new Map<number, RecoveredEntry>();
  readonly #removed = new Set<number>();
  /** The highest; -1 where there was none. */
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

  /** Whether a record with this key waits, or left. */
  knows(key: number): boolean {
    return this.waiting.has(key) || this.#removed.has(key);
  }
}

/** The manifests of a log, by the paths of their segments. Each is read when it is asked for. */
class Manifests {
  /** In the order of their numbers. */
  readonly files: readonly FoundFile[];
  /** In those that were read; -1 where there was none. */
  lastKey = -1;
  readonly #folder: SpoolFolder;
  readonly #paths: ReadonlySet<string>;

  constructor(files: readonly FoundFile[], folder: SpoolFolder) {
    this.files = files;
    this.#folder = folder;
    this.#paths = new Set(files.map(({ path }) => path));
  }

  has(path: string): boolean {
    return this.#paths.has(manifestPath(path));
  }

  async bytesOf(path: string): Promise<number> {
    if (!this.has(path)) return 0;
    const found = await this.#folder.disk.stat(manifestPath(path)).catch(() => null);
    return found?.size ?? 0;
  }

  async notesOf(path: string): Promise<readonly NotedFrame[]> {
    return this.has(path) ? await this.#read(manifestPath(path)) : [];
  }

  /** The number after the last that it has. */
  async endOf({ path, number }: FoundFile): Promise<number> {
    const notes = await this.#read(path);
    return notes.reduce((end, noted) => Math.max(end, noted.number + 1), number);
  }

  /** Of all manifests. */
  async notesWithin(ranges: readonly NumberRange[]): Promise<readonly NotedFrame[]> {
    if (ranges.length === 0) return [];
    const found: NotedFrame[] = [];
    for (const { path } of this.files) {
      for (const noted of await this.#read(path)) {
        if (hasNumber(ranges, noted.number)) found.push(noted);
      }
    }
    return found;
  }

  async #read(path: string): Promise<readonly NotedFrame[]> {
    try {
      const notes = await readManifest(path, this.#folder.disk);
      for (const noted of notes) {
        if (noted.kind !== 'removal') this.lastKey = Math.max(this.lastKey, noted.key);
      }
      return notes;
    } catch (error) {
      throw unusable(path, systemCodeOf(error), error);
    }
  }
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
      await closeQuietly(handle);
    }
  }
}

interface Scan {
  /** Whole ones. */
  readonly frames: number;
  /** Their numbers. */
  readonly ranges: readonly NumberRange[];
  readonly entries: readonly RecoveredEntry[];
  /** Keys of records that left. */
  readonly removed: readonly number[];
  readonly damagedBytes: number;
  readonly lastKey: number;
}

function scanFile(bytes: Buffer, segment: Segment): Scan {
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

/** Null where the file cannot be read for damage; it is out of the way then. */
async function contentsOf(
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
      throw unusable(path, code, error);
    }
  }
  try {
    await folder.disk.rename(path, asidePath(folder.path, path));
  } catch (error) {
    const code = systemCodeOf(error);
    // Its records would be read again one day, when their keys are others'.
    if (code !== 'ENOENT') throw unusable(path, code, error);
  }
  return null;
}

/** A file with nothing in it that is whole must go: the next one may need its name. */
async function setAside({ path, damaged }: Segment, folder: SpoolFolder): Promise<void> {
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
