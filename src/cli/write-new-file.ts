import { writeFile } from 'node:fs/promises';
import { systemCodeOf, VedetteError } from '../runtime/errors.ts';

export interface NewFileOptions {
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
  /** The alternative to replacing the file, such as `choose another name`. */
  readonly another: string;
  /** The code of the error that is thrown. */
  readonly code: string;
}

/** @throws VedetteError of kind `input` where the file exists or cannot be written */
export async function writeNewFile(
  file: string,
  text: string,
  { force, another, code }: NewFileOptions,
): Promise<void> {
  try {
    await writeFile(file, text, { flag: force ? 'w' : 'wx' });
  } catch (thrown) {
    const reason = systemCodeOf(thrown);
    const message =
      reason === 'EEXIST'
        ? `${file} exists; ${another}, or add --force to replace it`
        : `${file} cannot be written (${reason ?? 'unknown reason'})`;
    throw new VedetteError('input', code, message, { cause: thrown });
  }
}
