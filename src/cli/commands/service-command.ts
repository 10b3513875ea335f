import { guardAgainstFaults } from '../../runtime/fault-guard.ts';
import { StopSignals } from '../../runtime/lifecycle.ts';
import { createLogger, type Logger } from '../../runtime/logger.ts';
import { requireDescriptors } from '../../runtime/process/descriptors.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { loadServiceConfig, type ServiceConfig } from '../../service/config.ts';
import { MIGRATION_TIMEOUT_MS } from '../../service/database/migrate.ts';
import { runService, type ServiceParts } from '../../service/main.ts';
import { decryptService, migrateService } from '../../service/operator/database-commands.ts';
import { watchForInterruption } from '../interruption.ts';
import { wantsColour } from '../print/colour.ts';
import { EXIT, type Terminal } from '../terminal.ts';

/** The embedded database opens a file per table and index: 250 at the start, more over time. */
const MIN_DESCRIPTORS = { embedded: 512, postgres: 128 };

/**
 * The API, configured by the environment, until a signal ends it. Its log goes to stderr, as JSON
 * unless stderr is a terminal.
 *
 * @param listener called when the API is served
 * @returns EXIT.ok, or EXIT.internal where an uncaught error came first
 * @throws VedetteError where a variable, the database or the machine is unusable
 */
export async function serviceCommand(
  terminal: Terminal,
  listener: Pick<ServiceParts, 'onListening' | 'hasOwnersTerminal' | 'onAttempt'>,
): Promise<number> {
  const { config, log } = prepareService(terminal);
  const { signals, clock } = terminal;
  const stop = new StopSignals({ emitter: signals, clock, graceMs: config.shutdownGraceMs, log });
  const guard = guardAgainstFaults({ emitter: signals, log, stop });
  try {
    await runService({ config, log, stop, ...listener });
    return guard.faults > 0 ? EXIT.internal : EXIT.ok;
  } finally {
    guard.dispose();
    stop.dispose();
  }
}

const STOPPING_MIGRATION =
  'Stopping. If a migration runs now, it is completed first; Ctrl-C again stops at once and undoes it.\n';

/**
 * Applies missing migrations and exits. The first signal stops it after the current migration.
 *
 * @param exitNow ends the process; called on a second signal
 * @throws VedetteError where a variable or the database is unusable
 */
export async function migrateCommand(
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const { config, log } = prepareService(terminal);
  const interruption = watchForInterruption(terminal, log, exitNow, MIGRATION_TIMEOUT_MS);
  const { signal } = interruption;
  const onStop = (): void => void terminal.stderr.write(STOPPING_MIGRATION);
  signal.addEventListener('abort', onStop, { once: true });
  try {
    const { applied, left } = await migrateService({ config, log, signal });
    // The log has the names of those that were applied.
    const done = `applied ${countText(applied.length, 'migration')}`;
    if (left.length > 0) {
      const rest = `${countText(left.length, 'is', 'are')} left, from ${left[0]} on`;
      terminal.stdout.write(`stopped: ${done}, ${rest}; run the command again to continue\n`);
      return interruption.exitCode ?? EXIT.interrupted;
    }
    terminal.stdout.write(`${applied.length === 0 ? 'the database has all migrations' : done}\n`);
    // An interruption when nothing was left has no effect; a fault sets the exit code.
    return interruption.exitCode === EXIT.internal ? EXIT.internal : EXIT.ok;
  } finally {
    signal.removeEventListener('abort', onStop);
    interruption.dispose();
  }
}

/**
 * Stores the credentials of checks and proxies unencrypted again and exits.
 *
 * @throws VedetteError where a variable or the database is unusable, or some cannot be decrypted
 */
export async function decryptCommand(terminal: Terminal): Promise<number> {
  const { config, log } = prepareService(terminal);
  const changed = await decryptService({ config, log });
  terminal.stdout.write(
    `stored unencrypted again: the credentials of ${countText(changed, 'check or location', 'checks and locations')}\n`,
  );
  return EXIT.ok;
}

/** The configuration and log of a command on the service. */
export function prepareService({ env, stderr, clock }: Terminal): {
  readonly config: ServiceConfig;
  readonly log: Logger;
} {
  const config = loadServiceConfig(env);
  if (config.databaseUrl === null) {
    requireDescriptors(MIN_DESCRIPTORS.embedded, 'the service with its embedded database');
  } else {
    requireDescriptors(MIN_DESCRIPTORS.postgres, 'the service');
  }
  const log = createLogger({
    level: config.logLevel,
    destination: stderr,
    format: stderr.isTTY === true ? 'pretty' : 'json',
    colour: wantsColour(stderr, env),
    clock,
  });
  return { config, log };
}
