import { type FileHandle, open, unlink } from 'node:fs/promises';
import { messageOf, systemCodeOf, VedetteError } from '../runtime/errors.ts';

/** A new file for a key that is shown only once. Only its owner may read it. */
export class KeyFile {
  readonly #path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /** @throws the error of the file system if the file exists or cannot be created */
  static async create(path: string): Promise<KeyFile> {
    return new KeyFile(path, await open(path, 'wx', 0o600));
  }

  /**
   * Writes the key to the disk, and closes the file.
   *
   * @throws the error of the file system; the file is then removed
   */
  async save(key: string): Promise<void> {
    try {
      await this.#handle.writeFile(`${key}\n`);
      await this.#handle.sync();
      await this.#handle.close();
    } catch (thrown) {
      await this.discard();
      throw thrown;
    }
  }

  /** Removes the file. */
  async discard(): Promise<void> {
    await this.#handle.close().catch(() => {});
    await unlink(this.#path).catch(() => {});
  }
}

/**
 * The error for a file that could not be created or written.
 *
 * @param consequence what the user must know, such as `no account was created`
 */
export function keyFileError(path: string, thrown: unknown, consequence: string): VedetteError {
  const message =
    systemCodeOf(thrown) === 'EEXIST'
      ? `--key-file ${path} exists: choose another name, or remove it first; ${consequence}`
      : `--key-file ${path} cannot be written: ${messageOf(thrown)}; ${consequence}`;
  return new VedetteError('environment', 'KEY_FILE_FAILED', message, { cause: thrown });
}
