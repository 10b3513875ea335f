import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCodeOf } from '../../runtime/errors.ts';
import type { Segment } from './entry.ts';
import { encodeFrames, type Frame } from './frame.ts';
import { asidePath, type SpoolFolder } from './spool-folder.ts';

export interface SegmentLogOptions {
  readonly folder: SpoolFolder;
  /** What the files' names begin with. */
  readonly name: string;
  /** A file takes no more frames once it has this many bytes. */
  readonly segmentBytes: number;
  /** What was found on disk, oldest first; nothing is appended to these. */
  readonly segments: readonly Segment[];
  readonly nextNumber: number;
}

export interface Appended {
  readonly segment: Segment;
  /** Where each frame begins. */
  readonly offsets: readonly number[];
}

/**
 * Frames in files of bounded size. A file goes away whole, and always the oldest first: so a
 * removal, which stands in the same file as its record or in a later one, never goes before it,
 * and nothing that left comes back.
 *
 * | the last file | entered by |
 * |---|---|
 * | none is open | the start, a full file, a write that failed |
 * | open | the next append |
 *
 * After a failed write or sync nobody knows what of it is on disk, so nothing more is written
 * there; the same frames go to a new file and are known by their keys.
 */
export class SegmentLog {
  readonly #options: SegmentLogOptions;
  readonly #segments: Segment[];
  #open: { readonly handle: FileHandle; readonly segment: Segment } | null = null;
  #nextNumber: number;
  #bytes: number;

  constructor(options: SegmentLogOptions) {
    this.#options = options;
    this.#segments = [...options.segments];
    this.#nextNumber = options.nextNumber;
    this.#bytes = this.#segments.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** On disk, with what left already. */
  get bytes(): number {
    return this.#bytes;
  }

  get oldest(): Segment | null {
    return this.#segments[0] ?? null;
  }

  /**
   * Writes the frames to one file and returns when they are on disk; their numbers are given here.
   * One call at a time.
   *
   * @throws the system's error; then none of them counts
   */
  async append(frames: readonly Omit<Frame, 'number'>[]): Promise<Appended> {
    const { handle, segment } = await this.#openOne();
    const isNew = segment.bytes === 0;
    const first = this.#nextNumber;
    const numbered = frames.map((frame, index) => ({ ...frame, number: first + index }));
    const { bytes, offsets } = encodeFrames(numbered);
    const from = segment.bytes;
    try {
      for (let done = 0; done < bytes.length; ) {
        const part = await handle.write(bytes, done, bytes.length - done, from + done);
        done += part.bytesWritten;
      }
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
    this.#bytes += bytes.length;
    return { segment, offsets: offsets.map((offset) => from + offset) };
  }

  /** Takes away the oldest files as far as none of their records waits. */
  async sweep(): Promise<void> {
    for (let oldest = this.oldest; oldest !== null; oldest = this.oldest) {
      const isOpen = this.#open?.segment === oldest;
      // An open file that is all but new is as good for what comes next as another one.
      if (oldest.live > 0 || (isOpen && oldest.bytes < this.#options.segmentBytes / 8)) return;
      await this.removeOldest();
    }
  }

  /** Takes away the oldest file, whatever is in it. */
  async removeOldest(): Promise<void> {
    const oldest = this.#segments.shift();
    if (oldest === undefined) return;
    this.#bytes -= oldest.bytes;
    if (this.#open?.segment === oldest) await this.#seal();
    await this.#discard(oldest);
  }

  async close(): Promise<void> {
    await this.#seal();
    await this.sweep();
  }

  async #openOne(): Promise<{ readonly handle: FileHandle; readonly segment: Segment }> {
    if (this.#open !== null) {
      if (this.#open.segment.bytes < this.#options.segmentBytes) return this.#open;
      await this.#seal();
    }
    const { path, handle } = await this.#createFile();
    const segment = { path, bytes: 0, live: 0, damaged: false };
    this.#segments.push(segment);
    this.#open = { handle, segment };
    return this.#open;
  }

  async #createFile(): Promise<{ readonly path: string; readonly handle: FileHandle }> {
    for (;;) {
      const path = this.#options.folder.file(this.#options.name, this.#nextNumber);
      try {
        return { path, handle: await open(path, 'wx', 0o600) };
      } catch (error) {
        // One that could not be taken away stands there.
        if (systemCodeOf(error) !== 'EEXIST') throw error;
        this.#nextNumber += 1;
      }
    }
  }

  async #seal(): Promise<void> {
    const handle = this.#open?.handle;
    this.#open = null;
    // All that counts was synced.
    await handle?.close().catch(() => {});
  }

  /** Gives the disk back what a failed write took, where that can be done. */
  async #abandon(keepBytes: number): Promise<void> {
    const left = this.#open;
    if (left === null) return;
    await left.handle.truncate(keepBytes).catch(() => {});
    await this.#seal();
    // The next file begins with the same number, and so has the same name.
    if (keepBytes > 0) return;
    this.#segments.splice(this.#segments.indexOf(left.segment), 1);
    await this.#discard(left.segment);
  }

  /** What cannot be taken away now is found at the next start, with nothing in it that waits. */
  async #discard({ path, damaged }: Segment): Promise<void> {
    try {
      if (damaged) await rename(path, asidePath(dirname(path), path));
      else await unlink(path);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return;
      this.#options.folder.log.warn(
        { file: path, code: systemCodeOf(error) },
        'a file of the spool that is done with cannot be taken away',
      );
    }
  }
}
