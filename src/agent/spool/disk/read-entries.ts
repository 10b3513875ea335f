import { messageOf, systemCodeOf, VedetteError } from '../../../runtime/errors.ts';
import {
  closeQuietly,
  type FileSystem,
  type OpenFile,
  readFully,
} from '../../../runtime/files/file-system.ts';
import type { Content, Entry, Segment } from '../entry.ts';
import { readFrame } from '../frame.ts';
import type { SpoolSlots } from '../spool.ts';
import { readManifest } from './manifest.ts';
import { manifestPath } from './spool-folder.ts';

/** Entries with a gap of at most this many bytes between them on disk are read at once. */
const MAX_GAP_BYTES = 64 * 1024;
/** Bytes of one read: longer ones would block the event loop. */
const MAX_RUN_BYTES = 512 * 1024;

interface Run {
  readonly from: number;
  end: number;
  readonly entries: Entry[];
}

/**
 * The contents of these entries, from memory or disk; null for a damaged one.
 *
 * @throws VedetteError of code SPOOL_UNREADABLE if the disk cannot be read for now
 */
export async function readEntryContents(
  entries: readonly Entry[],
  disk: FileSystem,
): Promise<ReadonlyMap<Entry, Content | null>> {
  const contents = new Map<Entry, Content | null>();
  for (const entry of entries) if (entry.content !== null) contents.set(entry, entry.content);
  for (const [{ path }, runs] of runsOf(entries)) {
    const handle = await openFile(path, disk);
    try {
      for (const run of runs) await readRun(run, handle, contents);
    } finally {
      await closeQuietly(handle);
    }
  }
  return contents;
}

/** The logs alternate in a batch, but the entries of each are in order. */
function runsOf(entries: readonly Entry[]): ReadonlyMap<Segment, readonly Run[]> {
  const runs = new Map<Segment, Run[]>();
  for (const entry of entries) {
    const { content, segment, offset } = entry;
    if (content !== null || segment === null) continue;
    const end = offset + entry.bytes;
    const ofSegment = runs.get(segment) ?? [];
    const run = ofSegment.at(-1);
    const isNear = run !== undefined && offset >= run.end && offset - run.end <= MAX_GAP_BYTES;
    if (isNear && end - run.from <= MAX_RUN_BYTES) {
      run.end = end;
      run.entries.push(entry);
      continue;
    }
    ofSegment.push({ from: offset, end, entries: [entry] });
    runs.set(segment, ofSegment);
  }
  return runs;
}

async function readRun(
  run: Run,
  handle: OpenFile | null,
  contents: Map<Entry, Content | null>,
): Promise<void> {
  const bytes = handle === null ? null : await readRange(handle, run.from, run.end);
  for (const entry of run.entries) {
    const { offset } = entry;
    let content = bytes === null ? null : contentAt(bytes, offset - run.from, entry);
    // One bad sector must not lose the other entries.
    if (bytes === null && handle !== null && run.entries.length > 1) {
      const own = await readRange(handle, offset, offset + entry.bytes);
      content = own === null ? null : contentAt(own, 0, entry);
    }
    contents.set(entry, content);
  }
}

function contentAt(bytes: Buffer, offset: number, entry: Entry): Content | null {
  const frame = readFrame(bytes, offset)?.frame;
  if (frame?.key !== entry.key || frame.id !== entry.id) return null;
  return { atMs: frame.atMs, body: frame.body };
}

/** null if the file is gone or permanently unreadable. */
async function openFile(path: string, disk: FileSystem): Promise<OpenFile | null> {
  try {
    return await disk.open(path, 'r');
  } catch (error) {
    return nullWhereGone(error);
  }
}

/** The bytes of a range; fewer than requested if the file ends before. */
async function readRange(handle: OpenFile, from: number, end: number): Promise<Buffer | null> {
  const bytes = Buffer.allocUnsafe(end - from);
  try {
    return bytes.subarray(0, await readFully(handle, bytes, from));
  } catch (error) {
    return nullWhereGone(error);
  }
}

/**
 * The slots of these entries on disk, from the manifests of their segments.
 *
 * @throws VedetteError of code SPOOL_UNREADABLE if the disk cannot be read for now
 */
export async function readSlots(
  entries: readonly Entry[],
  disk: FileSystem,
): Promise<ReadonlyMap<Entry, SpoolSlots | null>> {
  const slots = new Map<Entry, SpoolSlots | null>();
  for (const { path } of new Set(entries.flatMap(({ segment }) => segment ?? []))) {
    const byKey = new Map(
      entries.filter(({ segment }) => segment?.path === path).map((entry) => [entry.key, entry]),
    );
    for (const noted of await readManifest(manifestPath(path), disk).catch(throwUnreadable)) {
      const entry = noted.kind === 'removal' ? undefined : byKey.get(noted.key);
      if (entry !== undefined && noted.kind !== 'removal') slots.set(entry, noted.slots);
    }
  }
  return slots;
}

function nullWhereGone(error: unknown): null {
  const code = systemCodeOf(error);
  if (code === 'ENOENT' || code === 'EIO') return null;
  return throwUnreadable(error);
}

function throwUnreadable(error: unknown): never {
  throw new VedetteError(
    'environment',
    'SPOOL_UNREADABLE',
    `the spool cannot be read for now: ${messageOf(error)}`,
    { cause: error },
  );
}
