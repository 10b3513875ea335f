import { listAccountsOfService } from '../../service/operator/account-commands.ts';
import { prepareService } from '../commands/service-command.ts';
import { EXIT, type Terminal, type TerminalStream } from '../terminal.ts';
import { AccountTable, accountLines } from './list-text.ts';

/**
 * Prints the accounts: a table on a terminal, else lines with tabs.
 *
 * @throws VedetteError where a variable or the database is unusable
 */
export async function listAccountsCommand(terminal: Terminal): Promise<number> {
  const { stdout } = terminal;
  const table = stdout.isTTY === true ? new AccountTable() : null;
  let exitCode: number = EXIT.ok;
  await listAccountsOfService(prepareService(terminal), async (accounts) => {
    const text = table === null ? accountLines(accounts) : table.page(accounts);
    // Reads the next page only after this one was written, so that a slow reader does not fill the memory.
    const isWritten = await written(stdout, text);
    if (!isWritten) exitCode = EXIT.closedOutput;
    return isWritten;
  });
  return exitCode;
}

/** Resolves when the text was written; false if the reader has closed the stream. */
function written(stream: TerminalStream, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error === null || error === undefined));
  });
}
