import { systemCodeOf } from '../../../runtime/errors.ts';
import {
  closeQuietly,
  type FileSystem,
  type OpenFile,
  writeFully,
} from '../../../runtime/files/file-system.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { encodeNotes, type NotableFrame } from './manifest.ts';

/**
 * Writes the manifest of the open segment: each line after its frames are on disk, with one sync at
 * the end. After a power cut it may lack lines, but is never wrong. A failure does not affect the
 * segment.
 */
export class ManifestWriter {
  readonly #path: string;
  readonly #log: Logger;
  #handle: OpenFile | null = null;
  #bytes = 0;
  /** Lines that the disk refused; at most one per frame of the segment. */
  #unwritten: Buffer[] = [];
  #isRefused: boolean = false;

  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Creates the empty file. Its name is on disk with the next sync of the folder. */
  async open(disk: FileSystem): Promise<void> {
    try {
      this.#handle = await disk.open(this.#path, 'w', 0o600);
    } catch (error) {
      this.#logRefused(error);
    }
  }

  /** Adds a line for frames that are on disk. */
  async note(frames: readonly NotableFrame[]): Promise<void> {
    const handle = this.#handle;
    if (handle === null) return;
    const lines = Buffer.concat([...this.#unwritten, encodeNotes(frames)]);
    try {
      await writeFully(handle, lines, this.#bytes);
    } catch (error) {
      // The next write overwrites a part that was written.
      this.#unwritten = [lines];
      this.#logRefused(error);
      return;
    }
    this.#unwritten = [];
    this.#bytes += lines.length;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.datasync().catch((error: unknown) => this.#logRefused(error));
    await closeQuietly(handle);
  }

  #logRefused(error: unknown): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#log.warn(
      { file: this.#path, code: systemCodeOf(error) },
      'a manifest of the spool cannot be written: if this part of the spool is damaged later, lost results are counted, but their slots are not reported as missed',
    );
  }
}
