import { systemCodeOf } from '../../../runtime/errors.ts';
import type { LogPriority } from '../drop-order.ts';
import type { Segment } from '../entry.ts';
import { asidePath } from './damaged-files.ts';
import { FoundManifests } from './found-manifests.ts';
import { type KnownNumbers, type LostRecords, lostRecords, missingNumbers } from './lost-frames.ts';
import {
  countNumbers,
  mergeRanges,
  missingFrom,
  type NumberRange,
  within,
} from './number-ranges.ts';
import {
  FoundRecords,
  type RecoveredEntry,
  readWholeFile,
  type Scan,
  scanFile,
  WholeFileReader,
} from './scan-file.ts';
import {
  type FoundFile,
  manifestPath,
  type SpoolFolder,
  segmentPath,
  unusableFile,
} from './spool-folder.ts';

export interface RecoveredLog {
  readonly segments: readonly Segment[];
  /** Waiting records, oldest first, already counted in the segments' `live`. */
  readonly entries: readonly RecoveredEntry[];
  readonly nextNumber: number;
  /** The highest key ever seen; -1 if there was none. */
  readonly lastKey: number;
  readonly damagedFiles: number;
  readonly lost: readonly LostRecords[];
  /** Frame numbers that the next start must not report again. */
  readonly toForget: readonly NumberRange[];
  /** Segments to keep until then: their manifests list the losses. Their `live` is one higher. */
  readonly held: readonly Segment[];
}

/** A file of the log, or its manifest if the file itself is gone. */
interface Part {
  readonly segment: Segment;
  /** The number in the file's name. */
  readonly number: number;
  /** null if the file is gone or could not be read. */
  readonly scan: Scan | null;
  readonly isGone: boolean;
}

interface OrderedPart extends Part {
  /** The number of its first frame. */
  readonly first: number;
  /** Its frame numbers, up to the first one of the next part. */
  readonly share: NumberRange;
}

/**
 * Reads a log, however the previous process ended. Ignores an unfinished write at the end of a
 * file, which was never reported as committed. Everything else that differs from what was written
 * is damage: intact frames are used, and lost ones counted, with their slots if the manifests
 * contain them. Relies on frame numbers, not on file names.
 *
 * @throws VedetteError of kind `config` and code DATA_DIR_UNUSABLE if a file may not be read
 */
export async function recoverLog(
  folder: SpoolFolder,
  priority: LogPriority,
): Promise<RecoveredLog> {
  const files = (await folder.files()).filter(({ log }) => log === priority);
  const manifests = new FoundManifests(
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
    const ownLost = lostRecords(own, { priority, noted, isThere: (key) => records.knows(key) });
    const isDamaged = scan === null ? !part.isGone : scan.damagedBytes > 0;
    segment.damaged = isDamaged || within(damaged, share).length > 0;
    if (isDamaged || own.length > 0) {
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

/** Reads all files; manifests tell which files are gone. */
async function findParts(
  files: readonly FoundFile[],
  {
    folder,
    manifests,
    records,
  }: {
    readonly folder: SpoolFolder;
    readonly manifests: FoundManifests;
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
    const contents = await readWholeFile(path, folder, reader);
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

/** The parts in the order of their first frames, each with its share of the frame numbers. */
function inOrder(found: readonly Part[], seen: readonly NumberRange[]): readonly OrderedPart[] {
  const ordered = found
    .map((part) => ({ ...part, first: firstNumberOf(part, seen) }))
    // A manifest must not outlive another file with the same frames.
    .sort((one, other) => one.first - other.first || Number(other.isGone) - Number(one.isGone));
  return ordered.map((part, index) => {
    const from = index === 0 ? 0 : part.first;
    return { ...part, share: { from, end: ordered[index + 1]?.first ?? Number.MAX_VALUE } };
  });
}

/**
 * The number in the file's name, unless other files contain any of the frames from that number to
 * the first frame found in the file.
 */
function firstNumberOf({ number, scan }: Part, seen: readonly NumberRange[]): number {
  const first = scan?.ranges[0]?.from ?? number;
  if (first <= number) return first;
  const before = { from: number, end: first };
  return countNumbers(missingFrom(seen, before)) === first - number ? number : first;
}

async function expectedNumbers(
  parts: readonly OrderedPart[],
  seen: readonly NumberRange[],
  manifests: FoundManifests,
): Promise<Pick<KnownNumbers, 'expected' | 'tornFrom'>> {
  const firstManifest = manifests.files[0]?.number ?? Number.POSITIVE_INFINITY;
  const lastManifest = manifests.files.at(-1);
  const firstNumber = parts[0]?.first ?? 0;
  const firstSeen = seen[0]?.from ?? firstNumber;
  const notedEnd = lastManifest === undefined ? 0 : await manifests.endOf(lastManifest);
  const seenEnd = seen.at(-1)?.end ?? 0;
  // Without manifests (older releases wrote none) the name counts: a file is created when all
  // frames before it are on disk.
  const areNamesUsed = lastManifest === undefined;
  const named = parts.filter(({ scan }) => areNamesUsed && (scan?.frames ?? 0) === 0);
  const lastPart = parts.at(-1);
  const isComplete =
    lastPart !== undefined && lastManifest?.path === manifestPath(lastPart.segment.path);
  return {
    expected: {
      from: firstManifest <= firstSeen ? firstManifest : firstNumber,
      end: Math.max(notedEnd, seenEnd, ...named.map(({ number }) => number)),
    },
    tornFrom: isComplete ? notedEnd : Number.POSITIVE_INFINITY,
  };
}

/** Moves files without frames away. False if the segment no longer belongs to the log. */
async function isKept(
  { segment, scan }: Part,
  manifests: FoundManifests,
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
    `the spool is damaged: recovering intact records and moving the file aside as ${asidePath('', path)}`,
  );
}

/** A file without whole frames must go: the next one may need its name. */
async function setAside({ path, damaged }: Segment, folder: SpoolFolder): Promise<void> {
  try {
    if (damaged) await folder.disk.rename(path, asidePath(folder.path, path));
    else await folder.disk.unlink(path);
  } catch (error) {
    throw unusableFile(path, systemCodeOf(error), error);
  }
}
