import { loadRunConfig } from '../../agent/config/agent-config.ts';
import { runOnce } from '../../agent/run-once.ts';
import { type AgentSecrets, openAgentSecrets } from '../../agent/secrets/agent-secrets.ts';
import { scrubError } from '../../agent/secrets/scrub-error.ts';
import { LOCAL } from '../../agent/source/file/file-source.ts';
import { withGroupScripts } from '../../agent/source/file/group-scripts.ts';
import { loadCheckFile, requireChecks } from '../../agent/source/file/load-check-file.ts';
import type { Check } from '../../model/check/check.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import type { TestSessionFacts } from '../../model/result/test-session.ts';
import { readEnvFile } from '../env-file.ts';
import { watchForInterruption } from '../interruption.ts';
import type { OutputFormat } from '../print/output-format.ts';
import type { Terminal } from '../terminal.ts';
import { createTerminalLog, logLevelOr } from '../terminal-log.ts';
import { type JunitFile, openJunitFile } from './junit-file.ts';
import { exitCodeOf } from './run-outcome.ts';
import { RunPrinter } from './run-printer.ts';
import { selectChecks } from './select-checks.ts';
import { createSessionReporter } from './send-report.ts';

export interface RunOptions {
  /** Ids of the checks to run; empty for all activated checks. */
  readonly check: readonly string[];
  readonly output: OutputFormat;
  readonly retries: boolean;
  /** The file of --env-file, whose values override those of the check file; null for none. */
  readonly envFile: string | null;
  /** The file of --junit, which gets a report of the run; null for none. */
  readonly junit: string | null;
  /** The facts of the test session sent to a service; null if none is sent. */
  readonly report: TestSessionFacts | null;
}

/**
 * Runs each check of a file once, with its retries, and prints the results as they arrive. Then sends them to a
 * service (with --report, unless the run was interrupted) and writes them to the file of --junit.
 *
 * @returns EXIT.ok if all passed (degraded counts as passed), EXIT.failed if one did not, or the exit code of the
 *   interruption; EXIT.unusable if all passed, but the service or the file of --junit did not get the results
 * @throws VedetteError where a file, an id or the environment is not valid
 */
export async function runCommand(
  file: string,
  options: RunOptions,
  terminal: Terminal,
  exitNow: (exitCode: number) => void,
): Promise<number> {
  const config = loadRunConfig(terminal.env);
  let secrets: AgentSecrets | null = null;
  const log = createTerminalLog(
    terminal,
    logLevelOr(terminal, config, 'warn'),
    (json) => secrets?.scrubber.json(json) ?? json,
  );
  const checkFile = await loadCheckFile(file);
  requireChecks(checkFile, file);
  const { clientCertificates, variables, resources } = checkFile;
  const checks = withGroupScripts(checkFile.checks, resources);
  const own = options.envFile === null ? [] : await readEnvFile(options.envFile);
  secrets = await openAgentSecrets({
    operator: config.operatorVariables,
    always: [],
    clock: terminal.clock,
    log,
  });
  await secrets.take({ checks, variables: withFirst(own, variables), proxyUrl: null });
  const selection = selectChecks(checks, options.check);
  const reporter = options.report === null ? null : createSessionReporter(options.report, terminal);
  const printer = new RunPrinter(terminal, options.output, selection.selected);
  const junit = await junitFileOf(file, options, checks, terminal);
  const interruption = watchForInterruption(terminal, log, exitNow);
  try {
    printer.skipped(selection);
    junit?.report.skipped(selection.skipped);
    await runOnce({
      set: { checks: selection.selected, clientCertificates },
      config,
      retries: options.retries,
      location: LOCAL,
      log,
      secrets,
      signal: interruption.signal,
      onResult: (result) => {
        printer.result(result);
        reporter?.report.result(result);
        junit?.report.result(result);
      },
      onMissed: (missed) => {
        printer.missed(missed);
        reporter?.report.missed(missed);
        junit?.report.missed(missed);
      },
      onStarted: (check) => printer.started(check),
    });
    printer.summary();
    const isWritten = (await junit?.write()) ?? true;
    const isSent = (await reporter?.send(interruption.signal)) ?? true;
    return exitCodeOf({
      counts: printer.counts,
      interruptedWith: interruption.exitCode,
      isReported: isWritten && isSent,
    });
  } catch (thrown) {
    throw scrubError(thrown, secrets.scrubber);
  } finally {
    interruption.dispose();
    await junit?.close();
  }
}

async function junitFileOf(
  file: string,
  { junit, envFile }: Pick<RunOptions, 'junit' | 'envFile'>,
  checks: readonly Check[],
  terminal: Terminal,
): Promise<JunitFile | null> {
  if (junit === null) return null;
  const suite = { name: file, startedAtMs: terminal.clock.wallMs(), checks };
  const inputs = envFile === null ? [file] : [file, envFile];
  return openJunitFile(junit, suite, inputs, terminal);
}

/** A variable of `first` replaces those of the same key. */
function withFirst(
  first: readonly OwnVariable[],
  others: readonly OwnVariable[],
): readonly OwnVariable[] {
  const given = new Set(first.map(({ key }) => key));
  return [...first, ...others.filter(({ key }) => !given.has(key))];
}
