import type { AgentConfig } from '../agent/config.ts';
import type { OpenLink } from '../agent/link/link.ts';
import { runAgent } from '../agent/main.ts';
import { guardAgainstFaults } from '../runtime/fault-guard.ts';
import { StopSignals } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { EXIT, type Terminal } from './terminal.ts';

export interface DaemonParts {
  readonly config: AgentConfig;
  readonly log: Logger;
  readonly openLink: OpenLink;
  /** Told once, the port of health and metrics. */
  readonly onListening: (port: number) => void;
}

/**
 * Runs the agent until a signal ends it.
 *
 * @returns EXIT.ok after a drain, EXIT.internal where an error that nobody caught came before it
 * @throws VedetteError where it cannot start, or go on
 */
export async function runDaemon(parts: DaemonParts, terminal: Terminal): Promise<number> {
  const { config, log, openLink, onListening } = parts;
  const { signals, clock } = terminal;
  const stop = new StopSignals({ emitter: signals, clock, graceMs: config.shutdownGraceMs, log });
  const guard = guardAgainstFaults({ emitter: signals, log, stop });
  try {
    await runAgent({ config, log, stop, openLink, onListening });
    return guard.faults > 0 ? EXIT.internal : EXIT.ok;
  } finally {
    guard.dispose();
    stop.dispose();
  }
}
