import { guardAgainstFaults } from '../../runtime/fault-guard.ts';
import { requireDescriptors } from '../../runtime/files/descriptors.ts';
import { StopSignals } from '../../runtime/lifecycle.ts';
import { createLogger, type Logger } from '../../runtime/logger.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { loadServiceConfig, type ServiceConfig } from '../../service/config.ts';
import { runService, type ServiceParts } from '../../service/main.ts';
import { decryptService, migrateService } from '../../service/operator-commands.ts';
import { wantsColour } from '../print/colour.ts';
import { EXIT, type Terminal } from '../terminal.ts';

/** The embedded database opens a file per table and index: 250 at the start, more over time. */
const MIN_DESCRIPTORS = { embedded: 512, postgres: 128 };

/**
 * The API, configured by the environment, until a signal ends it. Its log goes to stderr, as JSON
 * unless stderr is a terminal.
 *
 * @param listener how it hears that the API is served
 * @returns EXIT.ok, or EXIT.internal where an uncaught error came first
 * @throws VedetteError where a variable, the database or the machine is unusable
 */
export async function serviceCommand(
  terminal: Terminal,
  listener: Pick<ServiceParts, 'onListening' | 'hasOwnersTerminal'>,
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

/**
 * Applies missing migrations and exits.
 *
 * @throws VedetteError where a variable or the database is unusable
 */
export async function migrateCommand(terminal: Terminal): Promise<number> {
  const { config, log } = prepareService(terminal);
  const { applied } = await migrateService({ config, log });
  // The log has their names.
  const done =
    applied.length === 0 ? 'nothing to do' : `applied ${countText(applied.length, 'migration')}`;
  terminal.stdout.write(`${done}\n`);
  return EXIT.ok;
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
