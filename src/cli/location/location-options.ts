import type { Command } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { notEmpty, outputOption } from '../arguments.ts';
import { helpAfter, type VariableRow, variableTable } from '../help-text.ts';
import type { Terminal } from '../terminal.ts';
import type { AddLocationOptions } from './add-command.ts';

interface LocationCommandParts {
  readonly variables: { readonly location: readonly VariableRow[] };
  readonly terminal: Terminal;
  readonly exitNow: (exitCode: number) => void;
  /** Gets the exit code of the command that ran. */
  readonly finished: (exitCode: number) => void;
}

type AddLocationFlags = Omit<AddLocationOptions, 'name' | 'keyFile'> & {
  readonly name?: string;
  readonly keyFile?: string;
};

/** Adds the commands of `vedette location`. */
export function addLocationCommands(
  location: Command,
  { variables, terminal, exitNow, finished }: LocationCommandParts,
): void {
  location
    .command('add')
    .summary('create a private location, and print a key for its agents')
    .description(
      'Creates a private location at the service at SERVICE_URL, and prints its id and a key for its agents, which is shown only once.',
    )
    .argument('<slug>', 'the name of the location in checks; it never changes', notEmpty)
    .option('--name <name>', 'the name for people (default: the slug)', notEmpty)
    .option(
      '--if-missing',
      'create only what is missing, the location or its key, and exit with 0',
      false,
    )
    .option(
      '--key-file <file>',
      'write the key to this new file, for its owner only, and do not print it',
      notEmpty,
    )
    .addOption(outputOption('object'))
    .addHelpText('after', variableTable(variables.location))
    .addHelpText('after', helpAfter('location'))
    .action(async (slug: string, { name, keyFile, ...flags }: AddLocationFlags) => {
      loadSequentially(import.meta.url, './add-command.js');
      const { addLocationCommand } = await import('./add-command.ts');
      const options = { ...flags, name: name ?? null, keyFile: keyFile ?? null };
      finished(await addLocationCommand(slug, options, terminal, exitNow));
    });
}
