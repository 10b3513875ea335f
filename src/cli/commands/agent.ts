import { type AgentConfig, loadConfig } from '../../agent/config.ts';
import { createFileLink } from '../../agent/link/file-link.ts';
import type { OpenLink } from '../../agent/link/link.ts';
import { openServiceLink } from '../../agent/link/service-link.ts';
import { NdjsonSink } from '../../agent/output/ndjson-sink.ts';
import { createFileSource } from '../../agent/source/file-source.ts';
import { createLogger } from '../../runtime/logger.ts';
import { runDaemon } from '../daemon.ts';
import { wantsColour } from '../print/colour.ts';
import type { Terminal } from '../terminal.ts';

export interface AgentOptions {
  /** Results go to stdout, too, where they go to a service. */
  readonly printResults: boolean;
  /** Told once, the port of health and metrics. */
  readonly onListening: (port: number) => void;
}

/**
 * The daemon: configured by the environment (SEMANTICS 4), its log on stderr, as JSON unless a
 * person is looking. Of a check file, and where it is asked for, results go to stdout as NDJSON.
 *
 * @throws VedetteError where a variable, the check file, DATA_DIR or the machine is off
 */
export async function agentCommand(
  { printResults, onListening }: AgentOptions,
  terminal: Terminal,
): Promise<number> {
  const { stderr, env, clock } = terminal;
  const config = loadConfig(env);
  const log = createLogger({
    level: config.logLevel,
    destination: stderr,
    format: stderr.isTTY === true ? 'pretty' : 'json',
    colour: wantsColour(stderr, env),
    clock,
  });
  const openLink = linkFor(config, printResults, terminal);
  return runDaemon({ config, log, openLink, onListening }, terminal);
}

function linkFor(config: AgentConfig, printResults: boolean, { stdout }: Terminal): OpenLink {
  const { work, concurrency } = config;
  return async (parts) => {
    const { clock, log, metrics } = parts;
    const lines = () => new NdjsonSink({ output: stdout, onDropped: metrics.dropped, log });
    if (work.kind === 'service') {
      const alsoTo = printResults ? lines() : null;
      return openServiceLink({ work, concurrency, alsoTo }, parts);
    }
    const source = createFileSource({ file: work.checksFile, clock, log });
    return createFileLink({ source, sink: lines() });
  };
}
