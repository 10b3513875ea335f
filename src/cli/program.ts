import { Argument, Command, Option } from 'commander';
import { ROLES, type Role } from '../model/enums.ts';
import { loadSequentially } from '../runtime/load-sequentially.ts';
import { VERSION } from '../runtime/version.ts';
import { addAccountCommands } from './account/account-commands.ts';
import { addApplyCommand } from './apply/apply-options.ts';
import { CHECK_FILE, notEmpty } from './arguments.ts';
import { type VariablesOf, variablesFor } from './command-variables.ts';
import { addServiceCommands } from './commands/service-options.ts';
import { SHELLS, type Shell } from './completion/shells.ts';
import { firstSteps, helpAfter, NAMED_DATABASE, variableTable } from './help-text.ts';
import { addImportCommand } from './import/import-options.ts';
import { addInitCommand } from './init/init-options.ts';
import { addLocationCommands } from './location/location-options.ts';
import { addReadingCommands } from './reading-commands.ts';
import { reportError } from './report-error.ts';
import { addRunCommand } from './run/run-options.ts';
import { EXIT, type Terminal } from './terminal.ts';
import { addTriggerCommand } from './trigger/trigger-options.ts';
import { watchParent } from './up/parent-watch.ts';

/** Ends the process at once, even while work is going on. */
type ExitNow = (exitCode: number) => void;

/**
 * Runs one command line to its end and reports its errors.
 *
 * @param args the arguments after `vedette`
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

/**
 * Creates the command line. Commands load their modules when they are called, so that help and validation need
 * not load modules that only probes use.
 *
 * @param finished called with the exit code of the command that ran
 */
function createProgram(
  terminal: Terminal,
  variables: VariablesOf,
  exitNow: ExitNow,
  finished: (exitCode: number) => void,
): Command {
  // At this point a daemon has written all its output. Without this, unread output lines would keep the process
  // alive as long as their reader lives.
  const daemonEnded = (exitCode: number): void => {
    finished(exitCode);
    exitNow(exitCode);
  };
  const parent = watchParent(terminal, exitNow);
  const onListening = (port: number): void => parent.listening(port);
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
      // reportError prints all errors.
      outputError: () => {},
    });

  addRunCommand(program, { terminal, variables, exitNow, finished });

  program
    .command('validate')
    .summary('check files for mistakes')
    .description(
      'Prints all problems of check files, each with its line and column, and settings that have no effect.',
    )
    .argument('<file...>', 'the check files (YAML or JSON)')
    .addHelpText('after', helpAfter('validate'))
    .action(async (files: readonly string[]) => {
      loadSequentially(import.meta.url, './validate/validate-command.js');
      const { validateCommand } = await import('./validate/validate-command.ts');
      finished(await validateCommand(files, terminal));
    });

  addInitCommand(program, { terminal, variables, exitNow, finished });

  addImportCommand(program, { terminal, finished });

  program
    .command('agent')
    .summary('run the daemon, configured by environment variables')
    .description(
      'Runs the checks assigned by the service at SERVICE_URL and sends it the results, or runs CHECKS_FILE and writes results to stdout as NDJSON. Logs go to stderr.',
    )
    .option(
      '--print-results',
      'also write results to stdout as NDJSON when a service receives them',
    )
    .addHelpText('after', variableTable(variables.agent))
    .addHelpText('after', helpAfter('agent'))
    .action(async ({ printResults = false }: { printResults?: boolean }) => {
      loadSequentially(import.meta.url, './commands/agent-command.js');
      const { agentCommand } = await import('./commands/agent-command.ts');
      daemonEnded(await agentCommand({ printResults, onListening }, terminal));
    });

  program
    .command('up')
    .summary('start a service and an agent, and run the checks of a file')
    .description(
      'Starts the service on an embedded database and one agent, gives the service the checks of a file, runs each at once and then on its schedule, and prints the results.',
    )
    .argument('[file]', `${CHECK_FILE} (default: "vedette.yaml")`, notEmpty)
    .option('--file <file>', 'the same, as an option', notEmpty)
    .option('--data <dir>', 'folder of the database, results and keys', notEmpty, './.vedette')
    .option('--open', 'open the sign-in page in the browser', false)
    .option('--all', 'print every run, also of more than 20 checks', false)
    .addHelpText('after', variableTable(variables.up))
    .addHelpText('after', helpAfter('up'))
    .action(async (named: string | undefined, { data, file, ...flags }: UpFlags) => {
      loadSequentially(import.meta.url, './up/up-command.js');
      const { fileToRun, upCommand } = await import('./up/up-command.ts');
      const options = { ...flags, file: fileToRun(named, file), dataDir: data };
      daemonEnded(await upCommand(options, terminal));
    });

  addApplyCommand(program, { terminal, variables, exitNow, finished });
  addTriggerCommand(program, { terminal, variables, exitNow, finished });
  addReadingCommands(program, { terminal, variables, exitNow, finished });

  const location = program
    .command('location')
    .summary('add private locations to a service')
    .description('Works on the service at SERVICE_URL.')
    .helpCommand(false);
  addLocationCommands(location, { variables, terminal, exitNow, finished });

  addServiceCommands(program, { terminal, variables, parent, exitNow, finished, daemonEnded });

  const account = program
    .command('account')
    .summary('list, create, export and remove accounts, on the machine of the service')
    .description('Works on the database of the service.')
    .helpCommand(false);
  addAccountCommands(account, { variables, terminal, exitNow, finished });

  const user = program
    .command('user')
    .summary('invite users and reset passwords, on the machine of the service')
    .description('Works on the database of the service.')
    .helpCommand(false);
  user
    .command('add')
    .summary('invite a user to an account, and print the link')
    .description('Invites a user to an account and prints the link, which works once, for 7 days.')
    .argument('<email>', 'the email of the user', notEmpty)
    .option('--account <account>', 'its id or name (needed where there are several)', notEmpty)
    .addOption(roleOption())
    .addHelpText('after', variableTable(variables.user, NAMED_DATABASE))
    .addHelpText('after', helpAfter('user'))
    .action(async (email: string, { account, role }: InviteFlags) => {
      loadSequentially(import.meta.url, './commands/operator-command.js');
      const { addUserCommand } = await import('./commands/operator-command.ts');
      finished(await addUserCommand({ email, role, account: account ?? null }, terminal));
    });
  user
    .command('reset-password')
    .summary('print a link with which a user chooses a new password')
    .description(
      'Creates a link with which a user chooses a new password. It works once, for 24 hours; when it is used, the user is signed out everywhere.',
    )
    .argument('<email>', 'the email of the user', notEmpty)
    .addHelpText('after', variableTable(variables.user, NAMED_DATABASE))
    .addHelpText('after', helpAfter('resetPassword'))
    .action(async (email: string) => {
      loadSequentially(import.meta.url, './commands/operator-command.js');
      const { resetPasswordCommand } = await import('./commands/operator-command.ts');
      finished(await resetPasswordCommand(email, terminal));
    });

  program
    .command('completion')
    .summary('print a script that completes command lines in a shell')
    .description('Prints a script that completes commands and options of vedette in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', helpAfter('completion'))
    .action(async (shell: Shell) => {
      loadSequentially(import.meta.url, './completion/completion-command.js');
      const { completionCommand } = await import('./completion/completion-command.ts');
      finished(completionCommand(shell, program, terminal));
    });

  program
    .command('help')
    .summary('print the help of a command, or a handbook topic')
    .description(
      'Prints the help of a command or a topic of the handbook; without either, lists all of them.',
    )
    .argument('[name...]', 'a command with its subcommand, or a topic')
    .action(async (names: readonly string[]) => {
      loadSequentially(import.meta.url, './commands/help-command.js');
      const { helpCommand } = await import('./commands/help-command.ts');
      await helpCommand(names, program, terminal);
    });
  return program;
}

interface UpFlags {
  readonly file?: string;
  readonly data: string;
  readonly open: boolean;
  readonly all: boolean;
}

interface InviteFlags {
  readonly account?: string;
  readonly role: Role;
}

function roleOption(): Option {
  return new Option('--role <role>', 'what the user may do').choices(ROLES).default('read');
}
