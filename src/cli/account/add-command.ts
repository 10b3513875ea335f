import { VedetteError } from '../../runtime/errors.ts';
import { ACCOUNT_UNKNOWN } from '../../service/accounts/operator.ts';
import { addAccountToService } from '../../service/operator/database-commands.ts';
import { prepareService } from '../commands/service-command.ts';
import { KeyFile, keyFileError } from '../key-file.ts';
import type { OutputFormat } from '../print/output-format.ts';
import { startedAs } from '../started-as.ts';
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
 * @throws VedetteError where a variable, the database, the name or the file is unusable, or it is unknown
 *   whether the account was created
 */
export async function addAccountCommand(
  name: string,
  { ifMissing, keyFile, output }: AddAccountFlags,
  terminal: Terminal,
): Promise<number> {
  const { stdout, stderr } = terminal;
  let file: KeyFile | null = null;
  let isSaved = false;
  const saveKey = async (key: string): Promise<void> => {
    // The transaction may be retried, with the same key.
    if (keyFile === undefined || isSaved) return;
    try {
      file = await KeyFile.create(keyFile);
      await file.save(key);
    } catch (thrown) {
      throw keyFileError(keyFile, thrown, 'no account was created');
    }
    isSaved = true;
  };
  const discardKey = async (): Promise<void> => {
    await file?.discard();
    isSaved = false;
  };
  const parts = prepareService(terminal);
  const options = { ifMissing, saveKey, discardKey };
  const { accountId, key } = await addAccountToService(parts, name, options).catch(
    (thrown: unknown) => {
      const isUnknown = thrown instanceof VedetteError && thrown.code === ACCOUNT_UNKNOWN;
      throw isUnknown ? withNextStep(thrown, keyFile, startedAs(terminal)) : thrown;
    },
  );
  const shownKey = key === null || keyFile !== undefined ? {} : { key };
  const shownFile = isSaved ? { keyFile } : {};
  if (output === 'json') {
    const account = { id: accountId, name, created: key !== null, ...shownKey, ...shownFile };
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

/**
 * The account may exist: so its key is kept, and the person has to look.
 *
 * @param program the beginning of commands
 */
function withNextStep(
  unknown: VedetteError,
  keyFile: string | undefined,
  program: string,
): VedetteError {
  const next =
    keyFile === undefined
      ? `if it does, its key is lost: remove the account (${program} account remove ID) and add it again`
      : `if it does, its key is in ${keyFile}; if not, remove the file and add the account again`;
  const message = `${unknown.message}; ${program} account list shows whether it exists: ${next}`;
  return new VedetteError(unknown.kind, unknown.code, message, { cause: unknown });
}
