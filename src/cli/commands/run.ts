import { loadRunConfig } from '../../agent/config.ts';
import { runOnce } from '../../agent/run-once.ts';
import { LOCAL } from '../../agent/source/file-source.ts';
import { loadCheckFile } from '../../agent/source/load-check-file.ts';
import { watchForInterruption } from '../interruption.ts';
import { type OutputFormat, RunPrinter } from '../run-printer.ts';
import { selectChecks } from '../select-checks.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { createTerminalLog, logLevelOr } from '../terminal-log.ts';

export interface RunOptions {
  /** Ids of the checks to run; none for all that are activated. */
  readonly check: readonly string[];
  readonly output: OutputFormat;
  readonly retries: boolean;
}

/**
 * Runs each check of a file once, with its retries, and prints the results as they come.
 *
 * @returns EXIT.ok where all passed (degraded counts as passed), EXIT.failed where one did not, or
 *   what interrupted it
 * @throws VedetteError where the file, an id or the environment is off
 */
export async function runCommand(
  file: string,
  options: RunOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const config = loadRunConfig(terminal.env);
  const log = createTerminalLog(terminal, logLevelOr(terminal, config, 'warn'));
  const { checks, clientCertificates } = await loadCheckFile(file);
  const selection = selectChecks(checks, options.check);
  const printer = new RunPrinter(terminal, options.output, selection.selected);
  const interruption = watchForInterruption(terminal, log, exitNow);
  try {
    printer.skipped(selection);
    await runOnce({
      set: { checks: selection.selected, clientCertificates },
      config,
      retries: options.retries,
      location: LOCAL,
      log,
      signal: interruption.signal,
      onResult: (result) => printer.result(result),
      onMissed: (missed) => printer.missed(missed),
      onStarted: (check) => printer.started(check),
    });
    printer.summary();
    return interruption.exitCode ?? (printer.allPassed ? EXIT.ok : EXIT.failed);
  } finally {
    interruption.dispose();
  }
}
