import { Command, Option } from 'commander';
import { VERSION } from '../runtime/version.ts';
import { reportError } from './report-error.ts';
import type { OutputFormat } from './run-printer.ts';
import { EXIT, type Terminal } from './terminal.ts';

const EXAMPLES = {
  run: ['vedette run vedette.yaml', 'vedette run checks.yaml --check shop --output json'],
  validate: ['vedette validate checks.yaml'],
  agent: ['CHECKS_FILE=checks.yaml JOB_CONCURRENCY=50 vedette agent'],
  up: ['vedette up', 'vedette up --file checks.yaml'],
} as const;

/** What the process does when it is told for the second time to stop. */
type ExitNow = (exitCode: number) => void;

/**
 * Runs one command line to its end, errors and all.
 *
 * @param args what stands after `vedette`
 * @returns the exit code
 */
export async function runProgram(
  args: readonly string[],
  terminal: Terminal,
  exitNow: ExitNow,
): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = createProgram(terminal, exitNow, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    return reportError(thrown, terminal);
  }
}

/**
 * The command line. Commands load their modules when they are called, so that help and validation
 * do not wait for what only probes need.
 *
 * @param finished gets the exit code of the command that ran
 */
function createProgram(
  terminal: Terminal,
  exitNow: ExitNow,
  finished: (exitCode: number) => void,
): Command {
  const program = new Command('vedette')
    .description('Runs URL, API, TCP, DNS and ICMP checks from inside your network.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help [command]', 'print the help of a command')
    .showSuggestionAfterError(true)
    .addHelpText('after', examples(['vedette run vedette.yaml']))
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void terminal.stdout.write(text),
      writeErr: (text) => void terminal.stderr.write(text),
      // Errors are printed where all errors are.
      outputError: () => {},
    });

  program
    .command('run')
    .summary('run each check of a file once')
    .description('Runs each check of a file once, with its retries, and prints the results.')
    .argument('<file>', 'the check file (YAML or JSON)')
    .addOption(checkOption())
    .addOption(outputOption())
    .option('--no-retries', 'make one attempt, whatever the check says')
    .addHelpText('after', examples(EXAMPLES.run))
    .addHelpText(
      'after',
      '\nExit codes: 0 all passed (slow ones too), 1 one did not, 2 bad arguments or file.',
    )
    .action(async (file: string, options: RunFlags) => {
      const { runCommand } = await import('./commands/run.ts');
      finished(await runCommand(file, options, terminal, exitNow));
    });

  program
    .command('validate')
    .summary('check a check file')
    .description('Prints every problem of a check file with its line and column.')
    .argument('<file>', 'the check file (YAML or JSON)')
    .addHelpText('after', examples(EXAMPLES.validate))
    .action(async (file: string) => {
      const { validateCommand } = await import('./commands/validate.ts');
      finished(await validateCommand(file, terminal));
    });

  program
    .command('agent')
    .summary('run the daemon, configured by environment variables')
    .description(
      'Runs the checks of CHECKS_FILE on schedule: results as NDJSON on stdout, the log on stderr. The README lists the environment variables.',
    )
    .addHelpText('after', examples(EXAMPLES.agent))
    .action(async () => {
      const { agentCommand } = await import('./commands/agent.ts');
      finished(await agentCommand(terminal));
    });

  program
    .command('up')
    .summary('run the checks of a file on schedule, with readable results')
    .description(
      'Runs each check of a file at once and then on its schedule, with readable results.',
    )
    .option('--file <file>', 'the check file (YAML or JSON)', 'vedette.yaml')
    .addHelpText('after', examples(EXAMPLES.up))
    .action(async ({ file }: { file: string }) => {
      const { upCommand } = await import('./commands/up.ts');
      finished(await upCommand(file, terminal));
    });
  return program;
}

interface RunFlags {
  readonly check: readonly string[];
  readonly output: OutputFormat;
  readonly retries: boolean;
}

function checkOption(): Option {
  return new Option('--check <id>', 'run only this check, activated or not; may be repeated')
    .argParser(collect)
    .default([], 'all that are activated');
}

function outputOption(): Option {
  return new Option('--output <format>', 'pretty for people, json for one result object a line')
    .choices(['pretty', 'json'])
    .default('pretty');
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}

function examples(lines: readonly string[]): string {
  const heading = lines.length === 1 ? 'Example:' : 'Examples:';
  return `\n${heading}\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}
