import { loadUpConfig } from '../../agent/config.ts';
import type { Check } from '../../model/check.ts';
import { systemCodeOf } from '../../runtime/errors.ts';
import { VERSION } from '../../runtime/version.ts';
import { runDaemon } from '../daemon.ts';
import { PrettySink } from '../pretty-sink.ts';
import { type Palette, paletteFor, wantsColour } from '../print/colour.ts';
import { harmless } from '../print/harmless.ts';
import type { Terminal } from '../terminal.ts';
import { createTerminalLog, logLevelOr } from '../terminal-log.ts';

const STOPPING = 'Stopping when the running checks have ended; Ctrl-C again stops at once.\n';

/**
 * The agent on one file, for people: every check once at once, then on its schedule, with readable
 * results on stdout and the log from `warn` up on stderr.
 *
 * @throws VedetteError where a variable, the check file or the machine is off
 */
export async function upCommand(file: string, terminal: Terminal): Promise<number> {
  const { stdout, env } = terminal;
  const config = loadUpConfig(env, file);
  const log = createTerminalLog(terminal, logLevelOr(terminal, config, 'warn'));
  const palette = paletteFor(wantsColour(stdout, env));
  let checks: ReadonlyMap<string, Check> = new Map();
  return runDaemon(
    {
      config,
      log,
      openSink: (onDropped, requestStop) =>
        new PrettySink(terminal, {
          palette,
          checkOf: (id) => checks.get(id),
          onDropped,
          onClosed: (error) => {
            const code = systemCodeOf(error) ?? error.message;
            if (code !== 'EPIPE') log.error(`stdout cannot be written (${code}): results are lost`);
            requestStop('nobody reads stdout any more');
          },
        }),
      runAtStart: true,
      onReady: (port, { checks }) => void stdout.write(greeting(file, checks, port, palette)),
      onChecks: (set) => {
        checks = new Map(set.checks.map((check) => [check.id, check]));
      },
      // Without a word, a run that waits for its retry would look like a program that hangs.
      onStopping: () => void stdout.write(STOPPING),
    },
    terminal,
  );
}

function greeting(file: string, checks: readonly Check[], port: number, palette: Palette): string {
  const row = (what: string, where: string): string => `  ${what.padEnd(14)}${where}`;
  const active = checks.filter(({ activated }) => activated).length;
  const off = checks.length - active;
  const rest = off === 0 ? '' : ` (${off} more ${off === 1 ? 'is' : 'are'} not activated)`;
  const count = `${active} ${active === 1 ? 'check' : 'checks'}`;
  return [
    palette.strong(`Vedette ${VERSION} runs ${count} of ${harmless(file)}${rest}.`),
    row('Health', `http://127.0.0.1:${port}/health`),
    row('Metrics', `http://127.0.0.1:${port}/metrics`),
    row('Other checks', 'edit the file, which is read again; or: vedette up --file FILE'),
    row('Stop', 'Ctrl-C'),
    '',
    '',
  ].join('\n');
}
