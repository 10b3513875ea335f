import { type FileHandle, open } from 'node:fs/promises';
import { messageOf, systemCodeOf, VedetteError } from '../errors.ts';

const MAX_FILE_BYTES = 32 * 1024 * 1024;
const READ_BYTES = 64 * 1024;

/** The kind of a file for messages, and the code of its errors. */
export interface InputKind {
  /** With an article. */
  readonly kind: string;
  readonly code: string;
  /** Default: MAX_FILE_BYTES. */
  readonly maxBytes?: number;
}

/**
 * The text of a file of the user, which may also be a pipe.
 *
 * @throws VedetteError of kind `input` if the file does not exist, cannot be read, is larger than
 *   `maxBytes` or is not UTF-8
 */
export async function readInputText(file: string, input: InputKind): Promise<string> {
  const unusable = (message: string): VedetteError =>
    new VedetteError('input', input.code, message);
  const bytes = await readBytes(file, input, unusable);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable(`${file} is not UTF-8 text`);
  }
}

type Unusable = (message: string) => VedetteError;

async function readBytes(
  file: string,
  { kind, maxBytes = MAX_FILE_BYTES }: InputKind,
  unusable: Unusable,
): Promise<Buffer> {
  try {
    const handle = await open(file, 'r');
    try {
      return await readBounded(handle, maxBytes, () =>
        unusable(`${file} is larger than ${maxBytes / 1024 / 1024} MiB`),
      );
    } finally {
      await handle.close();
    }
  } catch (thrown) {
    if (thrown instanceof VedetteError) throw thrown;
    const code = systemCodeOf(thrown);
    if (code === 'ENOENT') throw unusable(`${file}: there is no such file`);
    if (code === 'EACCES' || code === 'EPERM') throw unusable(`${file}: this user may not read it`);
    if (code === 'EISDIR') throw unusable(`${file} is a directory, not ${kind}`);
    throw unusable(`${file} cannot be read (${code ?? messageOf(thrown)})`);
  }
}

/** Does not use the size from `stat`: pipes and devices have none. */
async function readBounded(
  handle: FileHandle,
  maxBytes: number,
  tooLarge: () => VedetteError,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let totalBytes = 0; ; ) {
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    const { bytesRead } = await handle.read(chunk, 0, READ_BYTES, null);
    if (bytesRead === 0) return Buffer.concat(chunks);
    totalBytes += bytesRead;
    if (totalBytes > maxBytes) throw tooLarge();
    chunks.push(chunk.subarray(0, bytesRead));
  }
}
