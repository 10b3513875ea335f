import type { Command } from 'commander';
import { loadSequentially } from '../runtime/load-sequentially.ts';
import { notEmpty, outputOption, wholeNumberUpTo } from './arguments.ts';
import type { ExplainOptions } from './explain/explain-command.ts';
import { helpAfter, type VariableRow, variableTable } from './help-text.ts';
import type { HistoryOptions } from './history/history-command.ts';
import type { StatusOptions } from './status/status-command.ts';
import type { Terminal } from './terminal.ts';

const CHECK = 'the id of the check';
/** The maximum that the API returns at once. */
const MAX_RUNS = 100;

interface ReadingCommandsParts {
  readonly terminal: Terminal;
  /** The variables of each command, for its help. */
  readonly variables: Readonly<Record<'status' | 'history' | 'explain', readonly VariableRow[]>>;
  readonly exitNow: (exitCode: number) => void;
  /** Called with the exit code of the command that ran. */
  readonly finished: (exitCode: number) => void;
}

/** Adds the commands that only read from a service. */
export function addReadingCommands(
  program: Command,
  { terminal, variables, exitNow, finished }: ReadingCommandsParts,
): void {
  program
    .command('status')
    .summary('print what is down at a service')
    .description(
      'Prints which checks are down at the service at SERVICE_URL, since when, why and in which locations, and how many checks are in each state.',
    )
    .option('--down', 'list only failing checks', false)
    .option('--watch', 'update the output after each change', false)
    .addOption(outputOption('object'))
    .addHelpText('after', variableTable(variables.status))
    .addHelpText('after', helpAfter('status'))
    .action(async (options: StatusOptions) => {
      loadSequentially(import.meta.url, './status/status-command.js');
      const { statusCommand } = await import('./status/status-command.ts');
      finished(await statusCommand(options, terminal, exitNow));
    });
  program
    .command('history')
    .summary('print the last runs of a check')
    .description('Prints the last runs of a check at the service at SERVICE_URL, newest first.')
    .argument('<check>', CHECK, notEmpty)
    .option('--limit <n>', `how many, up to ${MAX_RUNS}`, wholeNumberUpTo(MAX_RUNS), 10)
    .addOption(outputOption('run'))
    .addHelpText('after', variableTable(variables.history))
    .addHelpText('after', helpAfter('history'))
    .action(async (check: string, options: HistoryOptions) => {
      loadSequentially(import.meta.url, './history/history-command.js');
      const { historyCommand } = await import('./history/history-command.ts');
      finished(await historyCommand(check, options, terminal, exitNow));
    });
  program
    .command('explain')
    .summary('print how a check runs, and which settings decide this')
    .description(
      'Prints the settings in effect for a check at the service at SERVICE_URL and where each comes from (the check, its group, the account or the default), its next five slots, and the agents of its private locations.',
    )
    .argument('<check>', CHECK, notEmpty)
    .addOption(outputOption('object'))
    .addHelpText('after', variableTable(variables.explain))
    .addHelpText('after', helpAfter('explain'))
    .action(async (check: string, options: ExplainOptions) => {
      loadSequentially(import.meta.url, './explain/explain-command.js');
      const { explainCommand } = await import('./explain/explain-command.ts');
      finished(await explainCommand(check, options, terminal, exitNow));
    });
}
