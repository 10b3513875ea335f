import { readdir } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Clock } from '../../../runtime/clock.ts';
import { readInputText } from '../../../runtime/files/read-input-text.ts';
import { isInTime, sleep } from '../../../runtime/wait.ts';
import { fileKindOf, fileStamp } from '../file/file-stamp.ts';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { MAX_CHARS } from './target-document.ts';
import {
  type FoundDocument,
  type KnownDocument,
  MAX_BYTES,
  READ_LIMIT_MS,
  type TargetReader,
} from './target-reader.ts';

/** Interval of the scans of files. */
const FILE_PERIOD_MS = 10_000;
/** A change is read after the files stayed the same for this time: half of a list may be valid. */
const SETTLE_MS = 1_000;
/** After this many scans, files that keep changing are read. */
const MAX_UNSETTLED_SCANS = 10;
const MAX_FILES = 1_000;

type Stamps = ReadonlyMap<string, string>;
type Known = ReadonlyMap<string, KnownDocument>;

/** Reads files of file_sd, only those that changed. */
export class FileReader implements TargetReader {
  readonly periodMs = FILE_PERIOD_MS;
  readonly name: string;
  readonly #clock: Clock;
  /**
   * Shared by all readers: a file on a dead mount blocks one of the process's few threads for files
   * forever.
   */
  readonly #limiter: ConcurrencyLimit;
  #active: Promise<unknown> | null = null;

  constructor(path: string, { clock, limiter }: { clock: Clock; limiter: ConcurrencyLimit }) {
    this.name = path;
    this.#clock = clock;
    this.#limiter = limiter;
  }

  async find(known: Known, signal: AbortSignal): Promise<readonly FoundDocument[]> {
    let stamps = await this.#inTime(() => stampsOf(this.name), signal);
    if (isKnown(stamps, known)) return unchanged(stamps);
    for (let scans = 1; ; scans += 1) {
      if (!(await sleep(this.#clock, SETTLE_MS, signal))) throw signal.reason;
      const isLast = scans >= MAX_UNSETTLED_SCANS;
      const now = await this.#inTime(() => stampsOf(this.name), signal);
      if (isLast || isSame(now, stamps)) {
        const found = await this.#inTime(() => readChanged(now, known), signal);
        const after = await this.#inTime(() => stampsOf(this.name), signal);
        if (isLast || isSame(after, now)) return found;
      }
      stamps = now;
    }
  }

  /** Opening and listing cannot be cancelled. While one is in progress, no second one begins. */
  async #inTime<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const late = `${this.name} cannot be read within ${READ_LIMIT_MS / 1000} s`;
    if (this.#active !== null) throw new Error(late);
    const limit = new AbortController();
    const cancel = this.#clock.after(READ_LIMIT_MS, () => limit.abort());
    const done = this.#limiter.run(work).finally(() => {
      this.#active = null;
    });
    this.#active = done;
    try {
      const isDone = await isInTime(done, AbortSignal.any([limit.signal, signal]));
      if (isDone) return await done;
    } finally {
      cancel();
    }
    signal.throwIfAborted();
    throw new Error(late);
  }
}

/** The stamps of the files by their paths. */
async function stampsOf(path: string): Promise<Stamps> {
  const stamps = new Map<string, string>();
  // One after the other: all at once could block all threads for files.
  for (const file of await pathsOf(path)) stamps.set(file, await fileStamp([file]));
  return stamps;
}

async function readChanged(stamps: Stamps, known: Known): Promise<readonly FoundDocument[]> {
  const found: FoundDocument[] = [];
  let chars = 0;
  for (const [path, stamp] of stamps) {
    const before = known.get(path);
    const text = before?.stamp === stamp ? null : await readText(path);
    chars += text?.length ?? before?.chars ?? 0;
    if (chars > MAX_CHARS && stamps.size > 1) {
      throw new Error(`${path} and the files before it have more than ${MAX_CHARS} characters`);
    }
    found.push({ name: path, language: languageOf(path), stamp, text });
  }
  return found;
}

async function readText(path: string): Promise<string> {
  // Opening a pipe waits for its writer, possibly forever.
  if ((await fileKindOf(path)) === 'other') throw new Error(`${path} is not a regular file`);
  const input = { kind: 'a list of targets', code: 'TARGETS_UNREADABLE', maxBytes: MAX_BYTES };
  return readInputText(path, input);
}

function unchanged(stamps: Stamps): readonly FoundDocument[] {
  return [...stamps].map(([name, stamp]) => ({
    name,
    language: languageOf(name),
    stamp,
    text: null,
  }));
}

function languageOf(path: string): 'JSON' | 'YAML' {
  return extname(path) === '.json' ? 'JSON' : 'YAML';
}

function isKnown(stamps: Stamps, known: Known): boolean {
  if (stamps.size !== known.size) return false;
  return [...stamps].every(([path, stamp]) => known.get(path)?.stamp === stamp);
}

function isSame(one: Stamps, other: Stamps): boolean {
  return one.size === other.size && [...one].every(([path, stamp]) => other.get(path) === stamp);
}

/** The files that a path with `*` matches, sorted. */
async function pathsOf(path: string): Promise<readonly string[]> {
  const name = basename(path);
  if (!name.includes('*')) return [path];
  const [start = '', ...ends] = name.split('*');
  const matches = (file: string): boolean => {
    if (!file.startsWith(start)) return false;
    let at = start.length;
    for (const [index, part] of ends.entries()) {
      const isLast = index === ends.length - 1;
      const found = isLast ? file.length - part.length : file.indexOf(part, at);
      if (found < at || !file.startsWith(part, found)) return false;
      at = found + part.length;
    }
    return true;
  };
  const folder = dirname(path);
  const found = (await readdir(folder)).filter(matches).sort();
  // Files that are all gone at once were not deleted on purpose: a mount is lost, or a tool is
  // replacing them.
  if (found.length === 0) throw new Error(`${path} matches no file`);
  if (found.length > MAX_FILES) throw new Error(`${path} matches more than ${MAX_FILES} files`);
  return found.map((file) => join(folder, file));
}
