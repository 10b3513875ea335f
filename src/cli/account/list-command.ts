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
    // The next page is read when this one is written, so that a slow reader fills no memory.
    const isWritten = await written(stdout, text);
    if (!isWritten) exitCode = EXIT.closedOutput;
    return isWritten;
  });
  return exitCode;
}

/** Resolves when the text has left this process; false if its reader is gone. */
function written(stream: TerminalStream, text: string): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(text, (error) => resolve(error === null || error === undefined));
  });
}
