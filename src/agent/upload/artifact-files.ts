import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { syncNames } from '../../runtime/files/durable-folder.ts';
import { type FileSystem, systemFiles, writeFully } from '../../runtime/files/file-system.ts';
import { type Pieces, piecesOfFile } from '../service-client/file-pieces.ts';

/** Stores the bytes of waiting artifacts in files or memory. Ids are those of `artifactIdOf`. */
export interface ArtifactFiles {
  /** Maximum bytes of all artifacts together, in addition to the spool's own bound. */
  readonly maxBytes: number;
  /** Artifacts of earlier processes, oldest first. Removes unfinished writes. */
  found(): Promise<readonly { readonly id: string; readonly bytes: number }[]>;
  /**
   * Resolves with the SHA-256, in hex, when the artifact is on disk.
   *
   * @throws the system's error, after removing what was written
   */
  write(id: string, bytes: Uint8Array): Promise<string>;
  /** Like `write`, with the first `bytes` of a file. */
  copy(id: string, path: string, bytes: number): Promise<string>;
  /** The size in bytes; null if there is no such artifact. @throws the system's error */
  size(id: string): Promise<number | null>;
  /** The `bytes` from that offset on. The pieces throw the system's error. */
  read(id: string, from: number, bytes: number): Pieces;
  /** Never throws: the next start finds a file that could not be removed. */
  remove(id: string): Promise<void>;
}

const MAX_MEMORY_BYTES = 32 * 1024 * 1024;
/** Bytes that are hashed and written at once: more would block the event loop. */
const PIECE_BYTES = 1024 * 1024;
/** Bytes that are read at once for sending: more than the buffer of any socket. */
const SENT_PIECE_BYTES = 256 * 1024;
const ID = /^[0-9a-f-]{36}$/;
const UNFINISHED = /^[0-9a-f-]{36}\.part$/;

/** Artifacts of an agent without DATA_DIR: 32 MiB together, lost with the process. */
export function memoryArtifactFiles(disk: FileSystem = systemFiles): ArtifactFiles {
  const contents = new Map<string, Uint8Array>();
  async function write(id: string, bytes: Uint8Array): Promise<string> {
    const sha256 = await digestOf(inPieces(bytes, PIECE_BYTES), () => yieldToEventLoop());
    contents.set(id, bytes);
    return sha256;
  }
  return {
    maxBytes: MAX_MEMORY_BYTES,
    found: () => Promise.resolve([]),
    write,
    async copy(id, path, bytes) {
      const copied = Buffer.allocUnsafeSlow(bytes);
      let atByte = 0;
      for await (const piece of fromStart(path, bytes, disk)) {
        copied.set(piece, atByte);
        atByte += piece.length;
      }
      return await write(id, copied);
    },
    size: (id) => Promise.resolve(contents.get(id)?.length ?? null),
    read(id, from, bytes) {
      const all = contents.get(id) ?? new Uint8Array();
      return inPieces(all.subarray(from, from + bytes), SENT_PIECE_BYTES);
    },
    remove(id) {
      contents.delete(id);
      return Promise.resolve();
    },
  };
}

/** Artifacts in DATA_DIR/artifacts, each as a whole file or not at all. */
export function diskArtifactFiles(dataDir: string, disk: FileSystem = systemFiles): ArtifactFiles {
  const folder = join(dataDir, 'artifacts');
  const pathOf = (id: string): string => join(folder, id);
  async function write(id: string, content: Pieces): Promise<string> {
    // Not when the agent starts, which it also does on a full disk.
    const made = await disk.mkdir(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) await syncNames(dataDir, disk);
    const part = `${pathOf(id)}.part`;
    try {
      const sha256 = await writeFile(part, content, disk);
      await disk.rename(part, pathOf(id));
      // The name must be on disk before the note is in the spool.
      await syncNames(folder, disk);
      return sha256;
    } catch (error) {
      for (const path of [part, pathOf(id)]) await disk.unlink(path).catch(() => {});
      throw error;
    }
  }
  return {
    maxBytes: Number.POSITIVE_INFINITY,
    found: () => findFiles(folder, disk),
    write: (id, bytes) => write(id, inPieces(bytes, PIECE_BYTES)),
    copy: (id, path, bytes) => write(id, fromStart(path, bytes, disk)),
    size: (id) => sizeOf(pathOf(id), disk),
    read: (id, from, bytes) =>
      piecesOfFile(pathOf(id), { fromByte: from, bytes, pieceBytes: SENT_PIECE_BYTES }, disk),
    remove: (id) => disk.unlink(pathOf(id)).catch(() => {}),
  };
}

async function findFiles(
  folder: string,
  disk: FileSystem,
): Promise<readonly { readonly id: string; readonly bytes: number }[]> {
  const found: { id: string; bytes: number; atMs: number }[] = [];
  try {
    for (const name of await namesIn(folder, disk)) {
      const path = join(folder, name);
      if (UNFINISHED.test(name)) await disk.unlink(path);
      if (!ID.test(name)) continue;
      const { size, mtimeMs } = await disk.stat(path);
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

async function namesIn(folder: string, disk: FileSystem): Promise<readonly string[]> {
  try {
    return await disk.readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function writeFile(path: string, content: Pieces, disk: FileSystem): Promise<string> {
  const handle = await disk.open(path, 'w', 0o600);
  try {
    let atByte = 0;
    const sha256 = await digestOf(content, async (piece) => {
      await writeFully(handle, piece, atByte);
      atByte += piece.length;
    });
    await handle.datasync();
    return sha256;
  } finally {
    await handle.close();
  }
}

async function sizeOf(path: string, disk: FileSystem): Promise<number | null> {
  try {
    return (await disk.stat(path)).size;
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

function fromStart(path: string, bytes: number, disk: FileSystem): Pieces {
  return piecesOfFile(path, { fromByte: 0, bytes, pieceBytes: PIECE_BYTES }, disk);
}

async function* inPieces(bytes: Uint8Array, pieceBytes: number): Pieces {
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    yield bytes.subarray(from, from + pieceBytes);
  }
}
