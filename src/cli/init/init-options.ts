import { type Command, Option } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { notEmpty } from '../arguments.ts';
import { helpAfter, type VariableRow, variableTable } from '../help-text.ts';
import type { Terminal } from '../terminal.ts';
import { PERIODS } from './periods.ts';

interface InitCommandParts {
  readonly terminal: Terminal;
  readonly variables: { readonly init: readonly VariableRow[] };
  readonly exitNow: (exitCode: number) => void;
  /** Called with the exit code of the command. */
  readonly finished: (exitCode: number) => void;
}

interface InitFlags {
  readonly target?: string;
  readonly every?: string;
  readonly email?: string;
  readonly schema?: string;
  readonly force: boolean;
}

/** Adds `vedette init`. */
export function addInitCommand(
  program: Command,
  { terminal, variables, exitNow, finished }: InitCommandParts,
): void {
  program
    .command('init')
    .summary('write a first check file')
    .description(
      'Asks three questions and writes a check file with comments. Options answer questions; the others are asked on a terminal.',
    )
    .argument('[file]', 'the check file to write (YAML)', notEmpty, 'vedette.yaml')
    .option(
      '--target <target>',
      'what to check: a URL, a host (by https), HOST:PORT or an IP address',
      notEmpty,
    )
    .addOption(new Option('--every <minutes>', 'minutes between runs').choices(PERIODS))
    .option('--email <address>', 'who gets alerts', notEmpty)
    .option('--schema <url>', 'where editors find the JSON Schema: a URL or a path', notEmpty)
    .option('--force', 'replace the file if it exists', false)
    .addHelpText('after', variableTable(variables.init))
    .addHelpText('after', helpAfter('init'))
    .action(async (file: string, flags: InitFlags) => {
      loadSequentially(import.meta.url, './init-command.js');
      const { initCommand } = await import('./init-command.ts');
      const { target = null, every = null, email = null, schema = null, force } = flags;
      finished(await initCommand(file, { target, every, email, schema, force }, terminal, exitNow));
    });
}
