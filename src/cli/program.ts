import { Command, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../runtime/version.ts';
import { firstSteps, helpAfter, type VariableRow, variableTable } from './help-text.ts';
import { reportError } from './report-error.ts';
import type { OutputFormat } from './run-printer.ts';
import { EXIT, type Terminal } from './terminal.ts';

const FILE = 'the check file (YAML or JSON)';

/** Ends the process, whatever still goes on in it. */
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
  const variables = await variablesFor(args);
  const program = createProgram(terminal, variables, exitNow, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (thrown) {
    return reportError(thrown, terminal);
  }
}

type VariablesOf = Readonly<Record<'run' | 'up' | 'agent' | 'service', readonly VariableRow[]>>;

const NO_VARIABLES: VariablesOf = { run: [], up: [], agent: [], service: [] };

/** The help of these commands lists them; where such a command runs, it reads them anyway. */
async function variablesFor(args: readonly string[]): Promise<VariablesOf> {
  if (args.includes('service')) {
    const { SERVICE_ENVIRONMENT: service } = await import('../service/config.ts');
    return { ...NO_VARIABLES, service };
  }
  if (!Object.keys(NO_VARIABLES).some((command) => args.includes(command))) return NO_VARIABLES;
  return { ...NO_VARIABLES, ...(await import('../agent/config.ts')).ENVIRONMENT_OF };
}

/**
 * The command line. Commands load their modules when they are called, so that help and validation
 * do not wait for what only probes need.
 *
 * @param finished gets the exit code of the command that ran
 */
function createProgram(
  terminal: Terminal,
  variables: VariablesOf,
  exitNow: ExitNow,
  finished: (exitCode: number) => void,
): Command {
  // A daemon has told by then all that it could tell. Without this, lines that nobody reads any more
  // would keep the process alive for as long as their reader is.
  const daemonEnded = (exitCode: number): void => {
    finished(exitCode);
    exitNow(exitCode);
  };
  const program = new Command('vedette')
    .description('Runs URL, API, TCP, DNS and ICMP checks from inside your network.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .addHelpText('after', firstSteps())
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
    .argument('<file>', FILE, notEmpty)
    .addOption(checkOption())
    .addOption(outputOption())
    .option('--no-retries', 'make one attempt, whatever the check says')
    .addHelpText('after', variableTable(variables.run))
    .addHelpText('after', helpAfter('run'))
    .action(async (file: string, options: RunFlags) => {
      const { runCommand } = await import('./commands/run.ts');
      finished(await runCommand(file, options, terminal, exitNow));
    });

  program
    .command('validate')
    .summary('look for mistakes in a check file')
    .description('Prints every problem of a check file with its line and column.')
    .argument('<file>', FILE, notEmpty)
    .addHelpText('after', helpAfter('validate'))
    .action(async (file: string) => {
      const { validateCommand } = await import('./commands/validate.ts');
      finished(await validateCommand(file, terminal));
    });

  program
    .command('agent')
    .summary('run the daemon, configured by environment variables')
    .description(
      'Runs the checks of CHECKS_FILE on schedule: results as NDJSON on stdout, the log on stderr.',
    )
    .addHelpText('after', variableTable(variables.agent))
    .addHelpText('after', helpAfter('agent'))
    .action(async () => {
      const { agentCommand } = await import('./commands/agent.ts');
      daemonEnded(await agentCommand(terminal));
    });

  program
    .command('up')
    .summary('run the checks of a file on schedule, with readable results')
    .description(
      'Runs each check of a file at once and then on its schedule, with readable results.',
    )
    .option('--file <file>', FILE, notEmpty, 'vedette.yaml')
    .addHelpText('after', variableTable(variables.up))
    .addHelpText('after', helpAfter('up'))
    .action(async ({ file }: { file: string }) => {
      const { upCommand } = await import('./commands/up.ts');
      daemonEnded(await upCommand(file, terminal));
    });

  const service = program
    .command('service')
    .summary('serve the HTTP API, configured by environment variables')
    .description('Serves the HTTP API on PORT; the log goes to stderr.')
    .helpCommand(false)
    .addHelpText('after', variableTable(variables.service))
    .addHelpText('after', helpAfter('service'))
    .action(async () => {
      const { serviceCommand } = await import('./commands/service.ts');
      daemonEnded(await serviceCommand(terminal));
    });
  service
    .command('migrate')
    .summary('bring the database up to date, and end')
    .description('Brings the database of the service up to date, as its start does, and ends.')
    .action(async () => {
      const { migrateCommand } = await import('./commands/service.ts');
      finished(await migrateCommand(terminal));
    });

  program
    .command('help')
    .summary('print the help of a command')
    .description('Prints the help of a command, or of the program.')
    .argument('[command]')
    .action((name: string | undefined) => {
      const command = program.commands.find((each) => each.name() === name);
      if (name === undefined) program.help();
      else if (command === undefined) program.error(`error: unknown command '${name}'`);
      else command.help();
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

function notEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It must name a file.');
  return value;
}
