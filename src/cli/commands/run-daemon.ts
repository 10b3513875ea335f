import type { OpenBackend } from '../../agent/backend/backend.ts';
import type { AgentConfig } from '../../agent/config/agent-config.ts';
import type { ErrorReports } from '../../agent/error-reports/error-reports.ts';
import { runAgent } from '../../agent/main.ts';
import type { AgentSecrets } from '../../agent/secrets/agent-secrets.ts';
import { guardAgainstFaults } from '../../runtime/fault-guard.ts';
import { StopSignals } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/logger.ts';
import { isOurFault } from '../report-error.ts';
import { EXIT, type Terminal } from '../terminal.ts';

export interface RunDaemonParts {
  readonly config: AgentConfig;
  readonly log: Logger;
  readonly openBackend: OpenBackend;
  readonly secrets: AgentSecrets;
  readonly reports: ErrorReports;
  /** Called once with the port of health and metrics. */
  readonly onListening: (port: number) => void;
}

/**
 * Runs the agent until a signal ends it.
 *
 * @returns EXIT.ok after a drain, EXIT.internal where an uncaught error came before it
 * @throws VedetteError where it cannot start, or go on
 */
export async function runDaemon(parts: RunDaemonParts, terminal: Terminal): Promise<number> {
  const { config, log, openBackend, secrets, reports, onListening } = parts;
  const { signals, clock } = terminal;
  const stop = new StopSignals({ emitter: signals, clock, graceMs: config.shutdownGraceMs, log });
  const guard = guardAgainstFaults({
    emitter: signals,
    log,
    stop,
    onFault: (error) => reports.recordCrash(error),
  });
  try {
    await runAgent({ config, log, stop, openBackend, secrets, reports, onListening });
    return guard.faults > 0 ? EXIT.internal : EXIT.ok;
  } catch (thrown) {
    if (isOurFault(thrown)) reports.recordCrash(thrown);
    throw thrown;
  } finally {
    guard.dispose();
    stop.dispose();
  }
}
