import { type FileHandle, open, unlink } from 'node:fs/promises';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import { addAccountToService } from '../../service/operator/database-commands.ts';
import { prepareService } from '../commands/service-command.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { EXIT, type Terminal } from '../terminal.ts';

export interface AddAccountFlags {
  readonly ifMissing: boolean;
  /** A new file for the key, which is then not printed. */
  readonly keyFile?: string;
  readonly output: OutputFormat;
}

/**
 * Creates an account, and prints its id and its first admin key, or writes the key to a file.
 *
 * @throws VedetteError if a variable, the database, the name or the file cannot be used
 */
export async function addAccountCommand(
  name: string,
  { ifMissing, keyFile, output }: AddAccountFlags,
  terminal: Terminal,
): Promise<number> {
  const { stdout, stderr } = terminal;
  let isSaved = false;
  const saveKey = async (key: string): Promise<void> => {
    // The transaction may be retried, with the same key.
    if (keyFile === undefined || isSaved) return;
    await writeKey(keyFile, key);
    isSaved = true;
  };
  const parts = prepareService(terminal);
  const { accountId, key } = await addAccountToService(parts, name, { ifMissing, saveKey }).catch(
    async (thrown: unknown) => {
      // No account was created, so the key is not valid.
      if (isSaved && keyFile !== undefined) await unlink(keyFile).catch(() => {});
      throw thrown;
    },
  );
  const shownKey = key === null || keyFile !== undefined ? {} : { key };
  const file = isSaved ? { keyFile } : {};
  if (output === 'json') {
    const account = { id: accountId, name, created: key !== null, ...shownKey, ...file };
    stdout.write(`${JSON.stringify(account)}\n`);
  } else if (key === null) {
    stdout.write(`account  ${accountId}  (already exists; nothing was changed)\n`);
  } else {
    const shownKeyOrFile = keyFile === undefined ? key : `in ${keyFile}`;
    stdout.write(
      `account  ${accountId}\nkey      ${shownKeyOrFile}  (admin; it is shown only once)\n`,
    );
  }
  if (key === null && keyFile !== undefined) {
    stderr.write(
      `vedette: --key-file ${keyFile} was not written: the account exists, and the service stores only hashes of keys\n`,
    );
  }
  return EXIT.ok;
}

/** Only its owner may read the file. */
async function writeKey(path: string, key: string): Promise<void> {
  let file: FileHandle | null = null;
  try {
    file = await open(path, 'wx', 0o600);
    await file.writeFile(`${key}\n`);
    await file.sync();
    await file.close();
  } catch (thrown) {
    if (file !== null) {
      await file.close().catch(() => {});
      await unlink(path).catch(() => {});
    }
    throw notWritten(path, thrown);
  }
}

function notWritten(path: string, thrown: unknown): VedetteError {
  const message =
    systemCodeOf(thrown) === 'EEXIST'
      ? `--key-file ${path} exists: choose another name, or remove it first; no account was created`
      : `--key-file ${path} cannot be written: ${messageOf(thrown)}; no account was created`;
  return new VedetteError('environment', 'KEY_FILE_FAILED', message, { cause: thrown });
}
