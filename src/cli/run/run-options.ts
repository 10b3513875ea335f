import { type Command, Option } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { CHECK_FILE, collect, notEmpty, outputOption } from '../arguments.ts';
import { helpAfter, type VariableRow, variableTable } from '../help-text.ts';
import type { OutputFormat } from '../print/output-format.ts';
import type { Terminal } from '../terminal.ts';

interface RunCommandParts {
  readonly terminal: Terminal;
  readonly variables: Readonly<Record<'run' | 'report', readonly VariableRow[]>>;
  readonly exitNow: (exitCode: number) => void;
  /** Called with the exit code of the command. */
  readonly finished: (exitCode: number) => void;
}

interface RunFlags {
  readonly check: readonly string[];
  readonly output: OutputFormat;
  readonly retries: boolean;
  readonly envFile?: string;
  readonly junit?: string;
  readonly report: boolean;
  readonly project?: string;
  readonly sessionName?: string;
  readonly environment?: string;
}

/** Adds `vedette run`. */
export function addRunCommand(
  program: Command,
  { terminal, variables, exitNow, finished }: RunCommandParts,
): void {
  program
    .command('run')
    .summary('run each check of a file once')
    .description('Runs each check of a file once, with its retries, and prints the results.')
    .argument('<file>', CHECK_FILE, notEmpty)
    .addOption(checkOption())
    .addOption(outputOption('result object'))
    .option('--no-retries', 'make one attempt, even if the check has retries')
    .option('--env-file <file>', 'values for {{NAME}}, all secret: KEY=VALUE lines', notEmpty)
    .option('--junit <file>', 'also write a JUnit XML report to this file', notEmpty)
    .option('--report', 'send the results to a service, as one test session', false)
    .option(
      '--project <slug>',
      'with --report: the project tested; errors are grouped by it',
      notEmpty,
    )
    .option('--session-name <name>', 'with --report: the name of the session', notEmpty)
    .option('--environment <name>', 'with --report: the environment tested, e.g. staging', notEmpty)
    .addHelpText('after', variableTable(variables.run))
    .addHelpText('after', variableTable(variables.report, 'With --report also'))
    .addHelpText('after', helpAfter('run'))
    .action(async (file: string, given: RunFlags) => {
      const { project, sessionName, environment, envFile = null, junit = null, ...flags } = given;
      loadSequentially(import.meta.url, './run-command.js');
      const { runCommand } = await import('./run-command.ts');
      loadSequentially(import.meta.url, './report-facts.js');
      const { reportFactsOf } = await import('./report-facts.ts');
      const report = reportFactsOf(flags.report, { project, sessionName, environment });
      finished(await runCommand(file, { ...flags, envFile, junit, report }, terminal, exitNow));
    });
}

function checkOption(): Option {
  return new Option('--check <id>', 'run only this check, even if deactivated; repeatable')
    .argParser(collect)
    .default([], 'all activated checks');
}
