import { VedetteError } from '../../runtime/errors.ts';
import {
  closeQuietly,
  type FileSystem,
  readFully,
  systemFiles,
} from '../../runtime/files/file-system.ts';

/** Bytes in pieces, each valid until the next one is requested. */
export type Pieces = AsyncGenerator<Uint8Array, void, undefined>;

export interface FileRange {
  readonly fromByte: number;
  readonly bytes: number;
  /** Bytes of each piece except the last. */
  readonly pieceBytes: number;
}

/**
 * Reads a range of a file through one buffer: new ones would be collected only after tens of
 * megabytes.
 *
 * @throws the system's error, or VedetteError of code ARTIFACT_CHANGED if the file is shorter
 */
export async function* piecesOfFile(
  path: string,
  range: FileRange,
  disk: FileSystem = systemFiles,
): Pieces {
  const { fromByte, bytes, pieceBytes } = range;
  const handle = await disk.open(path, 'r');
  try {
    const buffer = Buffer.allocUnsafeSlow(Math.min(pieceBytes, bytes));
    for (let done = 0; done < bytes; ) {
      const piece = buffer.subarray(0, Math.min(pieceBytes, bytes - done));
      if ((await readFully(handle, piece, fromByte + done)) < piece.length) {
        const message = `its file has no ${fromByte + bytes} bytes any more`;
        throw new VedetteError('environment', 'ARTIFACT_CHANGED', message);
      }
      done += piece.length;
      yield piece;
    }
  } finally {
    await closeQuietly(handle);
  }
}
