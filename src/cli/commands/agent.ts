import { loadConfig } from '../../agent/config.ts';
import { NdjsonSink } from '../../agent/output/ndjson-sink.ts';
import { createLogger } from '../../runtime/logger.ts';
import { runDaemon } from '../daemon.ts';
import { wantsColour } from '../print/colour.ts';
import type { Terminal } from '../terminal.ts';

/**
 * The daemon: configured by the environment (SEMANTICS 4), results as NDJSON on stdout, its log on
 * stderr, as JSON unless a person is looking.
 *
 * @throws VedetteError where a variable, the check file or the machine is off
 */
export async function agentCommand(terminal: Terminal): Promise<number> {
  const { stdout, stderr, env, clock } = terminal;
  const config = loadConfig(env);
  const log = createLogger({
    level: config.logLevel,
    destination: stderr,
    format: stderr.isTTY === true ? 'pretty' : 'json',
    colour: wantsColour(stderr, env),
    clock,
  });
  return runDaemon(
    {
      config,
      log,
      openSink: (onDropped) => new NdjsonSink({ output: stdout, onDropped, log }),
      runAtStart: false,
      onReady: () => {},
      onChecks: () => {},
      onStopping: () => {},
    },
    terminal,
  );
}
