import type { Command } from 'commander';
import { loadSequentially } from '../../runtime/load-sequentially.ts';
import { helpAfter, NAMED_DATABASE, type VariableRow, variableTable } from '../help-text.ts';
import type { Terminal } from '../terminal.ts';
import type { ParentWatch } from '../up/parent-watch.ts';

interface ServiceCommandsParts {
  readonly terminal: Terminal;
  readonly variables: Readonly<Record<'service' | 'migrate' | 'decrypt', readonly VariableRow[]>>;
  readonly exitNow: (exitCode: number) => void;
  /** Called with the exit code of the command. */
  readonly finished: (exitCode: number) => void;
  /** Called with the exit code of the daemon, after it has written all its output. */
  readonly daemonEnded: (exitCode: number) => void;
  readonly parent: ParentWatch;
}

/** Adds `vedette service` and its commands. */
export function addServiceCommands(
  program: Command,
  { terminal, variables, parent, exitNow, finished, daemonEnded }: ServiceCommandsParts,
): void {
  const service = program
    .command('service')
    .summary('serve the HTTP API, configured by environment variables')
    .description('Serves the HTTP API on PORT; the log goes to stderr.')
    .helpCommand(false)
    .addHelpText('after', variableTable(variables.service))
    .addHelpText('after', helpAfter('service'))
    .action(async () => {
      loadSequentially(import.meta.url, './service-command.js');
      const { serviceCommand } = await import('./service-command.ts');
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
      loadSequentially(import.meta.url, './service-command.js');
      const { migrateCommand } = await import('./service-command.ts');
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
      loadSequentially(import.meta.url, './service-command.js');
      const { decryptCommand } = await import('./service-command.ts');
      finished(await decryptCommand(terminal));
    });
}
