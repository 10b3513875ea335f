import type { Command } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { notEmpty, outputOption } from '../arguments.ts';
import { helpAfter, NAMED_DATABASE, type VariableRow, variableTable } from '../help-text.ts';
import type { Terminal } from '../terminal.ts';
import type { AddAccountFlags } from './add-command.ts';

const ACCOUNT = 'the id or the name of the account';

interface AccountCommandParts {
  readonly variables: Readonly<Record<'account' | 'accountRemoval', readonly VariableRow[]>>;
  readonly terminal: Terminal;
  /** Ends the process at once, even while work is going on. */
  readonly exitNow: (exitCode: number) => void;
  /** Called with the exit code of the command that ran. */
  readonly finished: (exitCode: number) => void;
}

interface RemoveFlags {
  readonly yes?: string;
  readonly keepContents: boolean;
}

/** Adds the commands of `vedette account`. */
export function addAccountCommands(
  account: Command,
  { variables, terminal, exitNow, finished }: AccountCommandParts,
): void {
  account
    .command('add')
    .summary('create an account, and print its first admin key')
    .description('Creates an account and prints its id and an admin key, which is shown only once.')
    .argument('<name>', 'the name of the account', notEmpty)
    .option('--if-missing', 'change nothing, and exit with 0, if an account has the name', false)
    .option(
      '--key-file <file>',
      'write the key to this new file, for its owner only, and do not print it',
      notEmpty,
    )
    .addOption(outputOption('object'))
    .addHelpText('after', variableTable(variables.account, NAMED_DATABASE))
    .addHelpText('after', helpAfter('account'))
    .action(async (name: string, flags: AddAccountFlags) => {
      loadSequentially(import.meta.url, '../commands/operator-command.js');
      const { addAccountCommand } = await import('../commands/operator-command.ts');
      finished(await addAccountCommand(name, flags, terminal));
    });
  account
    .command('list')
    .summary('list the accounts')
    .description(
      'Lists the accounts, oldest first, with the numbers of their checks, users, private locations and API keys, and the time of their last result: as a table on a terminal, otherwise as lines with tabs.',
    )
    .addHelpText('after', variableTable(variables.account, NAMED_DATABASE))
    .addHelpText('after', helpAfter('accountList'))
    .action(async () => {
      loadSequentially(import.meta.url, '../commands/operator-command.js');
      const { listAccountsCommand } = await import('../commands/operator-command.ts');
      finished(await listAccountsCommand(terminal));
    });
  account
    .command('export')
    .summary('write an account as a check file')
    .description(
      'Writes the checks, alert channels, groups, heartbeats, status pages, maintenance windows and variables of an account as one check file, which vedette apply can apply to another service. The file contains no secret values: comments mark where they belong, and list what else is missing.',
    )
    .argument('<account>', ACCOUNT, notEmpty)
    .option('--output <file>', 'the file to write, or to replace (default: stdout)', notEmpty)
    .addHelpText('after', variableTable(variables.account, NAMED_DATABASE))
    .addHelpText('after', helpAfter('accountExport'))
    .action(async (idOrName: string, { output }: { output?: string }) => {
      loadSequentially(import.meta.url, '../commands/operator-command.js');
      const { exportAccountCommand } = await import('../commands/operator-command.ts');
      finished(await exportAccountCommand(idOrName, output ?? null, terminal));
    });
  account
    .command('remove')
    .summary('delete an account and everything in it')
    .description(
      'Prints what an account contains, asks for its name, and deletes it with its checks, users, keys, locations, status pages, results and artifacts. Deletes keys and sessions first. It can be interrupted: run it again to delete the rest.',
    )
    .argument('<account>', ACCOUNT, notEmpty)
    .option('--yes <name>', 'the name of the account; skips the question', notEmpty)
    .option('--keep-contents', 'leave the contents of artifacts in their folder or bucket', false)
    .addHelpText('after', variableTable(variables.accountRemoval, NAMED_DATABASE))
    .addHelpText('after', helpAfter('accountRemove'))
    .action(async (idOrName: string, { yes, keepContents }: RemoveFlags) => {
      loadSequentially(import.meta.url, '../commands/operator-command.js');
      const { removeAccountCommand } = await import('../commands/operator-command.ts');
      const options = { yes: yes ?? null, keepContents };
      finished(await removeAccountCommand(idOrName, options, terminal, exitNow));
    });
}
