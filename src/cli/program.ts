import { Argument, Command, Option } from 'commander';
import { ROLES, type Role } from '../model/enums.ts';
import { loadSequentially } from '../runtime/load-sequentially.ts';
import { VERSION } from '../runtime/version.ts';
import { addAccountCommands } from './account/account-commands.ts';
import { collect, notEmpty, outputOption } from './arguments.ts';
import { SHELLS, type Shell } from './completion/shells.ts';
import {
  firstSteps,
  helpAfter,
  NAMED_DATABASE,
  type VariableRow,
  variableTable,
} from './help-text.ts';
import { IMPORT_FORMATS, type ImportFormat } from './import/import-formats.ts';
import { addInitCommand } from './init/init-options.ts';
import type { OutputFormat } from './print/output-format.ts';
import { addReadingCommands } from './reading-commands.ts';
import { reportError } from './report-error.ts';
import { EXIT, type Terminal } from './terminal.ts';
import { addTriggerCommand } from './trigger/trigger-options.ts';
import { watchParent } from './up/parent-watch.ts';

const FILE = 'the check file (YAML or JSON)';

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

type Rows = readonly VariableRow[];

const variablesOfReading = async (): Promise<Rows> => {
  loadSequentially(import.meta.url, './service-api/connection.js');
  return (await import('./service-api/connection.ts')).READ_ENVIRONMENT;
};

/** Loads the variables of each command. */
const VARIABLES = {
  run: async () => {
    loadSequentially(import.meta.url, '../agent/config/agent-config.js');
    return (await import('../agent/config/agent-config.ts')).ENVIRONMENT_OF.run;
  },
  report: async () => {
    loadSequentially(import.meta.url, './service-api/connection.js');
    return (await import('./service-api/connection.ts')).REPORT_ENVIRONMENT;
  },
  agent: async () => {
    loadSequentially(import.meta.url, '../agent/config/agent-config.js');
    return (await import('../agent/config/agent-config.ts')).ENVIRONMENT_OF.agent;
  },
  service: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).SERVICE_ENVIRONMENT;
  },
  migrate: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.migrate;
  },
  decrypt: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.decrypt;
  },
  account: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.account;
  },
  accountRemoval: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.accountRemoval;
  },
  user: async () => {
    loadSequentially(import.meta.url, '../service/config.js');
    return (await import('../service/config.ts')).MAINTENANCE_ENVIRONMENT.user;
  },
  up: async () => {
    loadSequentially(import.meta.url, './up/environment.js');
    return (await import('./up/environment.ts')).UP_ENVIRONMENT;
  },
  init: async () => {
    loadSequentially(import.meta.url, './init/environment.js');
    return (await import('./init/environment.ts')).INIT_ENVIRONMENT;
  },
  apply: async () => {
    loadSequentially(import.meta.url, './service-api/connection.js');
    return (await import('./service-api/connection.ts')).APPLY_ENVIRONMENT;
  },
  trigger: async () => {
    loadSequentially(import.meta.url, './service-api/connection.js');
    return (await import('./service-api/connection.ts')).TRIGGER_ENVIRONMENT;
  },
  status: variablesOfReading,
  history: variablesOfReading,
  explain: variablesOfReading,
} as const satisfies Readonly<Record<string, () => Promise<Rows>>>;

type VariablesOf = Readonly<Record<keyof typeof VARIABLES, Rows>>;

/** What a command reads with one of its options, or in one of its subcommands. */
const WITHIN: Readonly<Record<string, string>> = { report: 'run', accountRemoval: 'account' };

/** The help of these commands lists them; where such a command runs, it reads them anyway. */
async function variablesFor(args: readonly string[]): Promise<VariablesOf> {
  const rows = Object.entries(VARIABLES).map(async ([name, load]) => {
    const isNamed = args.includes(WITHIN[name] ?? name);
    return [name, isNamed ? await load() : []];
  });
  return Object.fromEntries(await Promise.all(rows)) as VariablesOf;
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
  // By then a daemon has written all that it could. Without this, unread output lines would keep
  // the process alive for as long as their reader lives.
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

  program
    .command('run')
    .summary('run each check of a file once')
    .description('Runs each check of a file once, with its retries, and prints the results.')
    .argument('<file>', FILE, notEmpty)
    .addOption(checkOption())
    .addOption(outputOption('result object'))
    .option('--no-retries', 'make one attempt, even where the check has retries')
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
      loadSequentially(import.meta.url, './run/run-command.js');
      const { runCommand } = await import('./run/run-command.ts');
      loadSequentially(import.meta.url, './run/report-facts.js');
      const { reportFactsOf } = await import('./run/report-facts.ts');
      const report = reportFactsOf(flags.report, { project, sessionName, environment });
      finished(await runCommand(file, { ...flags, envFile, junit, report }, terminal, exitNow));
    });

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

  program
    .command('import')
    .summary('make a check file of configurations of other programs')
    .description(
      'Makes a check file of modules of blackbox_exporter with scrape jobs of Prometheus, of Gatus, of a backup of Uptime Kuma, or of targets for file_sd. What did not carry over goes to stderr, one line each.',
    )
    .argument('<file...>', 'the files, whose formats are recognised by their contents')
    .addOption(
      new Option('--from <format>', 'the format that the files must have').choices(IMPORT_FORMATS),
    )
    .option('--output <file>', 'write the check file to this file, not to stdout', notEmpty)
    .option('--force', 'replace the file of --output if it exists', false)
    .option('--strict', 'exit with 3 if something was left out', false)
    .option(
      '--probe-modules',
      'make one check of each module of blackbox_exporter, which only answers probes of Prometheus (PROBE_ENDPOINT)',
      false,
    )
    .addHelpText('after', helpAfter('import'))
    .action(async (files: readonly string[], { from, output, ...flags }: ImportFlags) => {
      loadSequentially(import.meta.url, './import/import-command.js');
      const { importCommand } = await import('./import/import-command.ts');
      const options = { ...flags, from: from ?? null, output: output ?? null };
      finished(await importCommand(files, options, terminal));
    });

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
      loadSequentially(import.meta.url, './commands/agent.js');
      const { agentCommand } = await import('./commands/agent.ts');
      daemonEnded(await agentCommand({ printResults, onListening }, terminal));
    });

  program
    .command('up')
    .summary('start a service and an agent, and run the checks of a file')
    .description(
      'Starts the service on an embedded database and one agent, gives the service the checks of a file, runs each at once and then on its schedule, and prints the results.',
    )
    .argument('[file]', `${FILE} (default: "vedette.yaml")`, notEmpty)
    .option('--file <file>', 'the same, as an option', notEmpty)
    .option('--data <dir>', 'folder of the database, results and keys', notEmpty, './.vedette')
    .option('--open', 'open the page for signing in in the browser', false)
    .option('--all', 'print every run, also of more than 20 checks', false)
    .addHelpText('after', variableTable(variables.up))
    .addHelpText('after', helpAfter('up'))
    .action(async (named: string | undefined, { data, file, ...flags }: UpFlags) => {
      loadSequentially(import.meta.url, './up/up-command.js');
      const { fileToRun, upCommand } = await import('./up/up-command.ts');
      const options = { ...flags, file: fileToRun(named, file), dataDir: data };
      daemonEnded(await upCommand(options, terminal));
    });

  program
    .command('apply')
    .summary('make a service match the checks, status pages and more of a file')
    .description(
      'Compares a file with a service, prints the differences, and creates or updates what differs: checks, variables, alert channels, groups, heartbeats, status pages with their services, and maintenance windows.',
    )
    .argument('<file>', FILE, notEmpty)
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
      loadSequentially(import.meta.url, './apply/apply-command.js');
      const { applyCommand } = await import('./apply/apply-command.ts');
      const options = { ...flags, location: location ?? null, envFile: envFile ?? null };
      finished(await applyCommand(file, options, terminal, exitNow));
    });

  addTriggerCommand(program, { terminal, variables, exitNow, finished });
  addReadingCommands(program, { terminal, variables, exitNow, finished });

  const service = program
    .command('service')
    .summary('serve the HTTP API, configured by environment variables')
    .description('Serves the HTTP API on PORT; the log goes to stderr.')
    .helpCommand(false)
    .addHelpText('after', variableTable(variables.service))
    .addHelpText('after', helpAfter('service'))
    .action(async () => {
      loadSequentially(import.meta.url, './commands/service.js');
      const { serviceCommand } = await import('./commands/service.ts');
      const listener = {
        onListening: parent.listening,
        hasOwnersTerminal: parent.isSupervised,
        onAttempt: parent.attempted,
      };
      daemonEnded(await serviceCommand(terminal, listener));
    });
  service
    .command('migrate')
    .summary('migrate the database, and exit')
    .description("Migrates the service's database, as starting the service does, and exits.")
    .addHelpText('after', variableTable(variables.migrate, NAMED_DATABASE))
    .addHelpText('after', helpAfter('migrate'))
    .action(async () => {
      loadSequentially(import.meta.url, './commands/service.js');
      const { migrateCommand } = await import('./commands/service.ts');
      finished(await migrateCommand(terminal, exitNow));
    });
  service
    .command('decrypt')
    .summary('store credentials unencrypted again before a downgrade, and exit')
    .description(
      'Stores the credentials of checks and the passwords of proxies unencrypted again, and exits. Only for a downgrade to the previous release, which cannot read encrypted ones: stop all replicas first. The next start of this release encrypts them.',
    )
    .addHelpText('after', variableTable(variables.decrypt, NAMED_DATABASE))
    .addHelpText('after', helpAfter('decrypt'))
    .action(async () => {
      loadSequentially(import.meta.url, './commands/service.js');
      const { decryptCommand } = await import('./commands/service.ts');
      finished(await decryptCommand(terminal));
    });

  const account = program
    .command('account')
    .summary('list, make, export and remove accounts, on the machine of the service')
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
      loadSequentially(import.meta.url, './commands/operator.js');
      const { addUserCommand } = await import('./commands/operator.ts');
      finished(await addUserCommand({ email, role, account: account ?? null }, terminal));
    });
  user
    .command('reset-password')
    .summary('print a link by which a user chooses a new password')
    .description(
      'Makes a link by which a user chooses a new password. It works once, for 24 hours; when it is used, the user is signed out everywhere.',
    )
    .argument('<email>', 'the email of the user', notEmpty)
    .addHelpText('after', variableTable(variables.user, NAMED_DATABASE))
    .addHelpText('after', helpAfter('resetPassword'))
    .action(async (email: string) => {
      loadSequentially(import.meta.url, './commands/operator.js');
      const { resetPasswordCommand } = await import('./commands/operator.ts');
      finished(await resetPasswordCommand(email, terminal));
    });

  program
    .command('completion')
    .summary('print a script that completes command lines in a shell')
    .description('Prints a script by which a shell completes the commands and options of vedette.')
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
      loadSequentially(import.meta.url, './commands/help.js');
      const { helpCommand } = await import('./commands/help.ts');
      await helpCommand(names, program, terminal);
    });
  return program;
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

interface UpFlags {
  readonly file?: string;
  readonly data: string;
  readonly open: boolean;
  readonly all: boolean;
}

interface ImportFlags {
  readonly probeModules: boolean;
  readonly from?: ImportFormat;
  readonly output?: string;
  readonly force: boolean;
  readonly strict: boolean;
}

interface InviteFlags {
  readonly account?: string;
  readonly role: Role;
}

interface ApplyFlags {
  readonly dryRun: boolean;
  readonly exitCode: boolean;
  readonly prune: boolean;
  readonly location?: string;
  readonly envFile?: string;
}

function checkOption(): Option {
  return new Option('--check <id>', 'run only this check, even if deactivated; repeatable')
    .argParser(collect)
    .default([], 'all activated checks');
}

function roleOption(): Option {
  return new Option('--role <role>', 'what the user may do').choices(ROLES).default('read');
}
