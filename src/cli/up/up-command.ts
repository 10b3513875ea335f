import { VedetteError } from '../../runtime/errors.ts';
import { guardAgainstFaults } from '../../runtime/fault-guard.ts';
import { StopSignals } from '../../runtime/lifecycle.ts';
import { quoted } from '../../runtime/text/quoted.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { createTerminalLog } from '../terminal-log.ts';
import { ChildFailed } from './child.ts';
import { foldersIn, loadUpConfig } from './environment.ts';
import { runUp } from './run-up.ts';

export interface UpOptions {
  readonly file: string;
  /** The folder for all data. */
  readonly dataDir: string;
  /** Whether to open the page for signing in in the browser. */
  readonly open: boolean;
  /** Whether to print every run, however many checks there are. */
  readonly all: boolean;
}

const MAX_LINE_CHARS = 2000;
const STANDARD_FILE = 'vedette.yaml';

/**
 * The check file that the argument or `--file` names.
 *
 * @throws VedetteError of kind `usage` where they name two
 */
export function fileToRun(argument: string | undefined, option: string | undefined): string {
  if (argument !== undefined && option !== undefined && argument !== option) {
    const message = `two files are named, ${quoted(argument)} and ${quoted(option)}: name one`;
    throw new VedetteError('usage', 'TWO_FILES', message);
  }
  return argument ?? option ?? STANDARD_FILE;
}

/**
 * The service and one agent as two processes, for people: runs the checks of a file at once, then on
 * their schedule, with readable results on stdout and the logs from `warn` up on stderr.
 *
 * @returns EXIT.ok after a stop, the exit code of a process that could not start, or EXIT.internal
 *   where an uncaught error came before it
 * @throws VedetteError where a variable, the check file, the folder or the machine is unusable
 */
export async function upCommand(
  { file, dataDir, open, all }: UpOptions,
  terminal: Terminal,
): Promise<number> {
  const { env, signals, clock, stderr } = terminal;
  const folders = foldersIn(dataDir);
  const config = loadUpConfig(env, folders);
  const log = createTerminalLog(terminal, config.logLevel);
  const stop = new StopSignals({ emitter: signals, clock, graceMs: config.graceMs, log });
  const guard = guardAgainstFaults({ emitter: signals, log, stop });
  try {
    await runUp({ file, folders, config, terminal, log, stop, opensBrowser: open, all });
    return guard.faults > 0 ? EXIT.internal : EXIT.ok;
  } catch (thrown) {
    if (!(thrown instanceof ChildFailed)) throw thrown;
    stderr.write(`vedette: ${terminalSafe(thrown.message, MAX_LINE_CHARS)}\n`);
    return thrown.exitCode;
  } finally {
    guard.dispose();
    stop.dispose();
  }
}
