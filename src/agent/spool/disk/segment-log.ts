import { dirname } from 'node:path';
import { systemCodeOf } from '../../../runtime/errors.ts';
import { closeQuietly, type OpenFile, writeFully } from '../../../runtime/files/file-system.ts';
import type { Segment } from '../entry.ts';
import { encodeFrames, type Frame } from '../frame.ts';
import { asidePath } from './damaged-files.ts';
import type { NotableFrame } from './manifest.ts';
import { ManifestWriter } from './manifest-writer.ts';
import { manifestPath, type SpoolFolder } from './spool-folder.ts';

export interface SegmentLogOptions {
  readonly folder: SpoolFolder;
  /** The prefix of the file names. */
  readonly name: string;
  /** A file takes no more frames once it has this many bytes. */
  readonly segmentBytes: number;
  /** The segments found on disk, oldest first; nothing is appended to these. */
  readonly segments: readonly Segment[];
  readonly nextNumber: number;
}

/** A frame without its number, and its notes for the manifest. */
export type NewFrame = Omit<Frame, 'number'> & Pick<NotableFrame, 'slots' | 'keys'>;

interface OpenSegment {
  readonly handle: OpenFile;
  readonly segment: Segment;
  readonly manifest: ManifestWriter;
}

export interface Appended {
  readonly segment: Segment;
  /** The offset of each frame in the file. */
  readonly offsets: readonly number[];
}

/**
 * Frames in files of bounded size. Files are deleted whole, oldest first: a removal is in the same
 * file as its record or in a later one, so no record reappears. A file that cannot be deleted is
 * tried again, and later ones wait for it unless room is needed. Its manifest is deleted before it:
 * one without its segment means that the segment was lost.
 *
 * | the last file | entered by |
 * |---|---|
 * | none is open | the start, a full file, a write that failed |
 * | open | the next append |
 *
 * After a failed write or sync the contents of the file are unknown, so nothing more is written to
 * it: the same frames go to a new file, with the same keys.
 */
export class SegmentLog {
  readonly #options: SegmentLogOptions;
  readonly #segments: Segment[];
  /** Files without waiting records that could not be deleted, oldest first. */
  readonly #leftOver: Segment[] = [];
  #open: OpenSegment | null = null;
  #nextNumber: number;
  #bytes: number;

  constructor(options: SegmentLogOptions) {
    this.#options = options;
    this.#segments = [...options.segments];
    this.#nextNumber = options.nextNumber;
    this.#bytes = this.#segments.reduce((sum, segment) => sum + sizeOf(segment), 0);
  }

  /** Bytes on disk, including records that left. */
  get bytes(): number {
    return this.#bytes;
  }

  get oldest(): Segment | null {
    return this.#segments[0] ?? null;
  }

  /**
   * Numbers the frames, writes them to one file and returns when they are on disk. One call at a
   * time.
   *
   * @throws the system's error; then none of the frames is in the log
   */
  async append(frames: readonly NewFrame[]): Promise<Appended> {
    const { handle, segment, manifest } = await this.#openOne();
    const isNew = segment.bytes === 0;
    const first = this.#nextNumber;
    const numbered = frames.map((frame, index) => ({ ...frame, number: first + index }));
    const { bytes, offsets } = encodeFrames(numbered);
    const from = segment.bytes;
    try {
      await writeFully(handle, bytes, from);
      // A file whose name is not on disk is not on disk either.
      const synced = [handle.datasync(), isNew ? this.#options.folder.sync() : null];
      for (const each of await Promise.allSettled(synced)) {
        if (each.status === 'rejected') throw each.reason;
      }
    } catch (error) {
      await this.#abandon(from);
      throw error;
    }
    this.#nextNumber = first + frames.length;
    segment.bytes += bytes.length;
    await manifest.note(numbered);
    this.#bytes += bytes.length + manifest.bytes - segment.manifestBytes;
    segment.manifestBytes = manifest.bytes;
    return { segment, offsets: offsets.map((offset) => from + offset) };
  }

  /** Deletes the oldest files in which no record waits. Never throws. */
  async sweep(): Promise<void> {
    for (const each of [...this.#leftOver]) {
      // Later files may contain the removals of its records.
      if ((await this.#discard(each)) !== null) return;
      this.#leftOver.shift();
    }
    for (let oldest = this.oldest; oldest !== null; oldest = this.oldest) {
      const isOpen = this.#open?.segment === oldest;
      // An open file that is nearly empty can take the next frames.
      if (oldest.live > 0 || (isOpen && oldest.bytes < this.#options.segmentBytes / 8)) return;
      if (!(await this.removeOldest())) return;
    }
  }

  /** Deletes the oldest file, whatever is in it. False if it cannot be deleted for now. */
  async removeOldest(): Promise<boolean> {
    const oldest = this.#segments.shift();
    if (oldest === undefined) return true;
    this.#bytes -= sizeOf(oldest);
    if (this.#open?.segment === oldest) await this.#seal();
    const code = await this.#discard(oldest);
    if (code === null) return true;
    this.#leftOver.push(oldest);
    this.#logLeftOver(oldest, code);
    return false;
  }

  async close(): Promise<void> {
    await this.#seal();
    await this.sweep();
  }

  async #openOne(): Promise<OpenSegment> {
    if (this.#open !== null) {
      if (this.#open.segment.bytes < this.#options.segmentBytes) return this.#open;
      await this.#seal();
    }
    const { disk, log } = this.#options.folder;
    const path = this.#freePath();
    // An existing file of this name is left from a failed write and has no committed frame.
    const handle = await disk.open(path, 'w', 0o600);
    const segment = { path, bytes: 0, manifestBytes: 0, live: 0, damaged: false };
    const manifest = new ManifestWriter(manifestPath(path), log);
    await manifest.open(disk);
    this.#segments.push(segment);
    this.#open = { handle, segment, manifest };
    return this.#open;
  }

  /** The path for the next number, or a later one if somebody gave that name to another file. */
  #freePath(): string {
    const taken = new Set([...this.#segments, ...this.#leftOver].map(({ path }) => path));
    const { folder, name } = this.#options;
    for (let number = this.#nextNumber; ; number += 1) {
      const path = folder.file(name, number);
      if (!taken.has(path)) return path;
    }
  }

  async #seal(): Promise<void> {
    const sealed = this.#open;
    this.#open = null;
    // All frames are synced.
    await closeQuietly(sealed?.handle ?? null);
    await sealed?.manifest.close();
  }

  /** Frees the space of a failed write if possible. */
  async #abandon(keepBytes: number): Promise<void> {
    const left = this.#open;
    if (left === null) return;
    await left.handle.truncate(keepBytes).catch(() => {});
    await this.#seal();
    // The next file begins with the same number: it has the same name.
    if (keepBytes > 0) return;
    this.#segments.splice(this.#segments.indexOf(left.segment), 1);
    const code = await this.#discard(left.segment);
    if (code !== null) this.#logLeftOver(left.segment, code);
  }

  /**
   * Deletes the segment. Returns the system's error code if it cannot be deleted now, else null.
   */
  async #discard({ path, damaged }: Segment): Promise<string | null> {
    const { disk } = this.#options.folder;
    try {
      await disk.unlink(manifestPath(path)).catch(passOverGone);
      if (damaged) await disk.rename(path, asidePath(dirname(path), path));
      else await disk.unlink(path);
      return null;
    } catch (error) {
      const code = systemCodeOf(error) ?? 'unknown';
      return code === 'ENOENT' ? null : code;
    }
  }

  #logLeftOver({ path }: Segment, code: string): void {
    this.#options.folder.log.warn(
      { file: path, code },
      'a file of the spool without waiting records cannot be deleted',
    );
  }
}

function sizeOf({ bytes, manifestBytes }: Segment): number {
  return bytes + manifestBytes;
}

function passOverGone(error: unknown): void {
  if (systemCodeOf(error) !== 'ENOENT') throw error;
}
