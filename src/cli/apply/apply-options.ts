import type { Command } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { CHECK_FILE, notEmpty } from '../arguments.ts';
import { helpAfter, type VariableRow, variableTable } from '../help-text.ts';
import type { Terminal } from '../terminal.ts';

interface ApplyCommandParts {
  readonly terminal: Terminal;
  readonly variables: Readonly<Record<'apply', readonly VariableRow[]>>;
  readonly exitNow: (exitCode: number) => void;
  /** Called with the exit code of the command. */
  readonly finished: (exitCode: number) => void;
}

interface ApplyFlags {
  readonly dryRun: boolean;
  readonly exitCode: boolean;
  readonly prune: boolean;
  readonly location?: string;
  readonly envFile?: string;
}

/** Adds `vedette apply`. */
export function addApplyCommand(
  program: Command,
  { terminal, variables, exitNow, finished }: ApplyCommandParts,
): void {
  program
    .command('apply')
    .summary('make a service match the checks, status pages and more of a file')
    .description(
      'Compares a file with a service, prints the differences, and creates or updates what differs: checks, variables, alert channels, groups, heartbeats, status pages with their services, and maintenance windows.',
    )
    .argument('<file>', CHECK_FILE, notEmpty)
    .option('--dry-run', 'only print what differs', false)
    .option(
      '--exit-code',
      'with --dry-run: exit with 4 if the service differs from the file',
      false,
    )
    .option(
      '--prune',
      'also delete what this file created and no longer defines; if the file has no name, also all other checks',
      false,
    )
    .option(
      '--location <slug>',
      'private location of checks that name none (needed where there are several)',
      notEmpty,
    )
    .option(
      '--env-file <file>',
      'values for {{NAME}} in alert channels and secret variables: KEY=VALUE lines',
      notEmpty,
    )
    .addHelpText('after', variableTable(variables.apply))
    .addHelpText('after', helpAfter('apply'))
    .action(async (file: string, { location, envFile, ...flags }: ApplyFlags) => {
      loadSequentially(import.meta.url, './apply-command.js');
      const { applyCommand } = await import('./apply-command.ts');
      const options = { ...flags, location: location ?? null, envFile: envFile ?? null };
      finished(await applyCommand(file, options, terminal, exitNow));
    });
}
