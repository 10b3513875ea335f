import { systemCodeOf } from '../../../runtime/errors.ts';
import { type NotedFrame, readManifest } from './manifest.ts';
import { hasNumber, type NumberRange } from './number-ranges.ts';
import { type FoundFile, manifestPath, type SpoolFolder, unusableFile } from './spool-folder.ts';

/** The manifests of a log, by the paths of their segments. Each is read on demand. */
export class FoundManifests {
  /** In the order of their numbers. */
  readonly files: readonly FoundFile[];
  /** The highest key in the manifests read so far; -1 if there is none. */
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

  /** The number after the last frame of the manifest. */
  async endOf({ path, number }: FoundFile): Promise<number> {
    const notes = await this.#read(path);
    return notes.reduce((end, noted) => Math.max(end, noted.number + 1), number);
  }

  /** The frames of all manifests with numbers in the ranges. */
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
      throw unusableFile(path, systemCodeOf(error), error);
    }
  }
}
