import { type Command, Option } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { collect, notEmpty, outputOption } from '../arguments.ts';
import { helpAfter, type VariableRow, variableTable } from '../help-text.ts';
import type { Terminal } from '../terminal.ts';
import type { TriggerOptions } from './trigger-command.ts';

interface TriggerCommandParts {
  readonly terminal: Terminal;
  readonly variables: { readonly trigger: readonly VariableRow[] };
  readonly exitNow: (exitCode: number) => void;
  /** Gets the exit code of the command. */
  readonly finished: (exitCode: number) => void;
}

type TriggerFlags = Omit<TriggerOptions, 'group' | 'location'> & {
  readonly group?: string;
  readonly location?: string;
};

/** Adds `vedette trigger`. */
export function addTriggerCommand(
  program: Command,
  { terminal, variables, exitNow, finished }: TriggerCommandParts,
): void {
  program
    .command('trigger')
    .summary('run checks of a service now')
    .description(
      'Requests a run of checks of the service at SERVICE_URL from the agents of their private locations.',
    )
    .addOption(several('--check <id>', 'run this check; repeatable'))
    .addOption(several('--tag <tag>', 'run the activated checks with this tag; repeatable'))
    .option(
      '--group <group>',
      'run the checks of this group: its number, its id in the check file, or its name',
      notEmpty,
    )
    .option('--location <slug>', 'run in this private location', notEmpty)
    .option('--wait', 'wait until the runs have ended, and print how', false)
    .addOption(outputOption('run'))
    .addHelpText('after', variableTable(variables.trigger))
    .addHelpText('after', helpAfter('trigger'))
    .action(async ({ group, location, ...flags }: TriggerFlags) => {
      loadSequentially(import.meta.url, './trigger-command.js');
      const { triggerCommand } = await import('./trigger-command.ts');
      const options = { ...flags, group: group ?? null, location: location ?? null };
      finished(await triggerCommand(options, terminal, exitNow));
    });
}

function several(flags: string, description: string): Option {
  return new Option(flags, description)
    .argParser((value: string, previous: readonly string[]) => collect(notEmpty(value), previous))
    .default([], 'none');
}
