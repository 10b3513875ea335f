import { type AgentParts, runAgent } from '../agent/main.ts';
import type { ResultSink } from '../agent/output/result-sink.ts';
import type { CheckSet, CheckSource } from '../agent/source/check-source.ts';
import { createFileSource } from '../agent/source/file-source.ts';
import { guardAgainstFaults } from '../runtime/fault-guard.ts';
import { StopSignals } from '../runtime/lifecycle.ts';
import { EXIT, type Terminal } from './terminal.ts';

type OnDropped = Parameters<AgentParts['openSink']>[0];

export interface DaemonParts extends Pick<AgentParts, 'config' | 'log' | 'runAtStart'> {
  /** `requestStop` ends the agent as SIGTERM does. */
  readonly openSink: (onDropped: OnDropped, requestStop: (cause: string) => void) => ResultSink;
  /** Called once, when health is served and the first checks are in, before any of them runs. */
  readonly onReady: (healthPort: number, set: CheckSet) => void;
  /** Called with every set of checks, the first one included, before any of them runs. */
  readonly onChecks: (set: CheckSet) => void;
  /** Called once, when the agent is told to stop and waits for the runs in progress. */
  readonly onStopping: () => void;
}

/**
 * Runs the agent on its check file until a signal ends it.
 *
 * @returns EXIT.ok after a drain, EXIT.internal where an error that nobody caught came before it
 * @throws VedetteError where it cannot start
 */
export async function runDaemon(parts: DaemonParts, terminal: Terminal): Promise<number> {
  const { config, log, runAtStart } = parts;
  const { signals, clock } = terminal;
  const { shutdownGraceMs: graceMs, checksFile: file } = config;
  const stop = new StopSignals({ emitter: signals, clock, graceMs, log });
  const guard = guardAgainstFaults({ emitter: signals, log, stop });
  stop.stopping.addEventListener('abort', parts.onStopping, { once: true });
  let healthPort = config.healthPort;
  try {
    await runAgent({
      config,
      log,
      stop,
      runAtStart,
      openSink: (onDropped) => parts.openSink(onDropped, (cause) => stop.request(cause)),
      onListening: (port) => {
        healthPort = port;
      },
      source: toldOf(createFileSource({ file, clock, log }), (set, isFirst) => {
        if (isFirst) parts.onReady(healthPort, set);
        parts.onChecks(set);
      }),
    });
    return guard.faults > 0 ? EXIT.internal : EXIT.ok;
  } finally {
    guard.dispose();
    stop.dispose();
  }
}

/** The source, with a listener that hears of each set before the agent does. */
function toldOf(
  source: CheckSource,
  listener: (set: CheckSet, isFirst: boolean) => void,
): CheckSource {
  let isFirst = true;
  return {
    watch: (onCheckSet, signal) =>
      source.watch((set) => {
        listener(set, isFirst);
        isFirst = false;
        onCheckSet(set);
      }, signal),
    get checkFileUsable() {
      return source.checkFileUsable;
    },
  };
}
