import { CommanderError } from 'commander';
import { FileProblemsError } from '../agent/source/common/file-problem.ts';
import { messageOf, systemCodeOf, VedetteError } from '../runtime/errors.ts';
import { descriptorLimit } from '../runtime/process/descriptors.ts';
import { terminalSafe } from './print/terminal-safe.ts';
import { startedAs } from './started-as.ts';
import { EXIT, type Terminal } from './terminal.ts';

const MAX_LINE_CHARS = 2000;
/** Enough for any command; the daemons report their own requirement. */
const ENOUGH_DESCRIPTORS = 512;

/** Prints the error that ended the program as one line, and returns its exit code. */
export function reportError(thrown: unknown, terminal: Terminal): number {
  const { stderr, env } = terminal;
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT.ok;
  // Commander has already printed the help.
  if (thrown instanceof CommanderError && thrown.code === 'commander.help') return EXIT.unusable;
  const isInternal = isOurFault(thrown);
  const line = isInternal
    ? `internal error: ${messageOf(thrown)}; please report it`
    : text(thrown, startedAs(terminal));
  stderr.write(`vedette: ${terminalSafe(line, MAX_LINE_CHARS)}\n`);
  const level = (env.LOG_LEVEL ?? '').trim().toLowerCase();
  if ((level === 'debug' || level === 'trace') && thrown instanceof Error) {
    for (const frame of (thrown.stack ?? '').split('\n')) {
      stderr.write(`${terminalSafe(frame, MAX_LINE_CHARS)}\n`);
    }
  }
  return isInternal ? EXIT.internal : EXIT.unusable;
}

/** Whether the error is a bug of this program, not a mistake of its user or environment. */
export function isOurFault(thrown: unknown): boolean {
  if (thrown instanceof CommanderError || isShortOfDescriptors(thrown)) return false;
  return !(thrown instanceof VedetteError) || thrown.kind === 'internal';
}

/** Whether the process reached its limit (EMFILE). Raising it does not help against the limit of the machine (ENFILE). */
function isShortOfDescriptors(thrown: unknown): boolean {
  return !(thrown instanceof VedetteError) && systemCodeOf(thrown) === 'EMFILE';
}

/** @param program the beginning of commands */
function text(thrown: unknown, program: string): string {
  const message = messageOf(thrown);
  if (isShortOfDescriptors(thrown)) {
    const limit = descriptorLimit() ?? 'unknown';
    return `${message}: the limit of this process is ${limit}; raise it (ulimit -n ${ENOUGH_DESCRIPTORS})`;
  }
  if (thrown instanceof CommanderError) {
    const oneLine = message
      .replace(/^error: /, '')
      .replace(/\s+/g, ' ')
      .replace(/\.$/, '');
    return `${oneLine}; see ${program} --help`;
  }
  const isLong = thrown instanceof FileProblemsError && thrown.problems.length > 1;
  return isLong ? `${message}; to see them all: ${program} validate ${thrown.file}` : message;
}
