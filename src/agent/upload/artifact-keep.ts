import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { type Pieces, piecesOfFile } from './file-pieces.ts';

/** Where the bytes of artifacts wait: files, or memory. Ids are those of `artifactIdOf`. */
export interface ArtifactKeep {
  /** The most that may wait together, beside what the spool's own bound says. */
  readonly maxBytes: number;
  /** What was there before this process, oldest first; what is left of writes cut short is removed. */
  found(): Promise<readonly { readonly id: string; readonly bytes: number }[]>;
  /**
   * Resolves with the SHA-256, in hex, when all of it is on disk.
   *
   * @throws the system's error; then nothing of it is left
   */
  write(id: string, bytes: Uint8Array): Promise<string>;
  /** The same with the first so many bytes of a file. */
  copy(id: string, path: string, bytes: number): Promise<string>;
  /** How long it is; null where it is not there. @throws the system's error */
  size(id: string): Promise<number | null>;
  /** So many of its bytes from there on. The pieces throw the system's error. */
  read(id: string, from: number, bytes: number): Pieces;
  /** Never throws: what cannot be removed is found at the next start. */
  remove(id: string): Promise<void>;
}

const MAX_MEMORY_BYTES = 32 * 1024 * 1024;
/** Hashed and written at once; more would hold the event loop for too long. */
const PIECE_BYTES = 1024 * 1024;
/** Read at once to be sent; more than any socket takes before it has to be waited for. */
const SENT_PIECE_BYTES = 256 * 1024;
const ID = /^[0-9a-f-]{36}$/;
const UNFINISHED = /^[0-9a-f-]{36}\.part$/;

/** Artifacts of an agent without DATA_DIR: 32 MiB together, gone with the process. */
export function memoryKeep(): ArtifactKeep {
  const kept = new Map<string, Uint8Array>();
  async function write(id: string, bytes: Uint8Array): Promise<string> {
    const sha256 = await digestOf(inPieces(bytes, PIECE_BYTES), () => nextTurn());
    kept.set(id, bytes);
    return sha256;
  }
  return {
    maxBytes: MAX_MEMORY_BYTES,
    found: () => Promise.resolve([]),
    write,
    async copy(id, path, bytes) {
      const copied = Buffer.allocUnsafeSlow(bytes);
      let atByte = 0;
      for await (const piece of fromStart(path, bytes)) {
        copied.set(piece, atByte);
        atByte += piece.length;
      }
      return await write(id, copied);
    },
    size: (id) => Promise.resolve(kept.get(id)?.length ?? null),
    read(id, from, bytes) {
      const all = kept.get(id) ?? new Uint8Array();
      return inPieces(all.subarray(from, from + bytes), SENT_PIECE_BYTES);
    },
    remove(id) {
      kept.delete(id);
      return Promise.resolve();
    },
  };
}

/** Artifacts in DATA_DIR/artifacts, each in a file that is whole or not there at all. */
export function fileKeep(dataDir: string): ArtifactKeep {
  const folder = join(dataDir, 'artifacts');
  const pathOf = (id: string): string => join(folder, id);
  async function write(id: string, content: Pieces): Promise<string> {
    // Only when there is something for it: a disk that is full at the start is no reason not to.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const part = `${pathOf(id)}.part`;
    try {
      const sha256 = await writeFile(part, content);
      await rename(part, pathOf(id));
      await syncFolder(folder);
      return sha256;
    } catch (error) {
      await unlink(part).catch(() => {});
      throw error;
    }
  }
  return {
    maxBytes: Number.POSITIVE_INFINITY,
    found: () => findFiles(folder),
    write: (id, bytes) => write(id, inPieces(bytes, PIECE_BYTES)),
    copy: (id, path, bytes) => write(id, fromStart(path, bytes)),
    size: (id) => sizeOf(pathOf(id)),
    read: (id, from, bytes) =>
      piecesOfFile(pathOf(id), { fromByte: from, bytes, pieceBytes: SENT_PIECE_BYTES }),
    remove: (id) => unlink(pathOf(id)).catch(() => {}),
  };
}

async function findFiles(
  folder: string,
): Promise<readonly { readonly id: string; readonly bytes: number }[]> {
  const found: { id: string; bytes: number; atMs: number }[] = [];
  try {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (UNFINISHED.test(name)) await unlink(path);
      if (!ID.test(name)) continue;
      const { size, mtimeMs } = await stat(path);
      found.push({ id: name, bytes: size, atMs: mtimeMs });
    }
  } catch (error) {
    throw new VedetteError(
      'config',
      'DATA_DIR_UNUSABLE',
      `the artifacts in ${folder} cannot be read (${messageOf(error)}): give the agent the right to, or name another folder in DATA_DIR`,
      { cause: error },
    );
  }
  return found.sort((one, other) => one.atMs - other.atMs);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function writeFile(path: string, content: Pieces): Promise<string> {
  const handle = await open(path, 'w', 0o600);
  try {
    const sha256 = await digestOf(content, (piece) => writeAll(handle, piece));
    await handle.datasync();
    return sha256;
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done)).bytesWritten;
  }
}

/** The name of the file must be on disk before the spool tells of it. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function digestOf(
  content: Pieces,
  each: (piece: Uint8Array) => Promise<unknown>,
): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of content) {
    hash.update(piece);
    await each(piece);
  }
  return hash.digest('hex');
}

function fromStart(path: string, bytes: number): Pieces {
  return piecesOfFile(path, { fromByte: 0, bytes, pieceBytes: PIECE_BYTES });
}

async function* inPieces(bytes: Uint8Array, pieceBytes: number): Pieces {
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    yield bytes.subarray(from, from + pieceBytes);
  }
}
