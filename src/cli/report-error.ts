import { CommanderError } from 'commander';
import { FileProblemsError } from '../agent/source/common/file-problem.ts';
import { descriptorLimit } from '../runtime/descriptors.ts';
import { messageOf, systemCodeOf, VedetteError } from '../runtime/errors.ts';
import { harmless } from './print/harmless.ts';
import { EXIT, type Terminal } from './terminal.ts';

const MAX_LINE_CHARS = 2000;
/** For any command; the daemons say by themselves what they need. */
const ENOUGH_DESCRIPTORS = 512;

/** Prints what ended the program as one line, and gives the exit code for it. */
export function reportError(thrown: unknown, { stderr, env }: Terminal): number {
  if (thrown instanceof CommanderError && thrown.exitCode === 0) return EXIT.ok;
  // Commander has printed the help that this stands for.
  if (thrown instanceof CommanderError && thrown.code === 'commander.help') return EXIT.unusable;
  const isInternal = isOurFault(thrown);
  const line = isInternal ? `internal error: ${messageOf(thrown)}; please report it` : text(thrown);
  stderr.write(`vedette: ${harmless(line, MAX_LINE_CHARS)}\n`);
  const level = (env.LOG_LEVEL ?? '').trim().toLowerCase();
  if ((level === 'debug' || level === 'trace') && thrown instanceof Error) {
    for (const frame of (thrown.stack ?? '').split('\n')) {
      stderr.write(`${harmless(frame, MAX_LINE_CHARS)}\n`);
    }
  }
  return isInternal ? EXIT.internal : EXIT.unusable;
}

/** Whether nobody but us can do something about it. */
export function isOurFault(thrown: unknown): boolean {
  if (thrown instanceof CommanderError || isShortOfDescriptors(thrown)) return false;
  return !(thrown instanceof VedetteError) || thrown.kind === 'internal';
}

/** Of the process; where the whole machine is (ENFILE), no limit of its own would help. */
function isShortOfDescriptors(thrown: unknown): boolean {
  return !(thrown instanceof VedetteError) && systemCodeOf(thrown) === 'EMFILE';
}

function text(thrown: unknown): string {
  const message = messageOf(thrown);
  if (isShortOfDescriptors(thrown)) {
    const limit = descriptorLimit() ?? 'not known';
    return `${message}: the limit of this process is ${limit}; raise it (ulimit -n ${ENOUGH_DESCRIPTORS})`;
  }
  if (thrown instanceof CommanderError) {
    const oneLine = message
      .replace(/^error: /, '')
      .replace(/\s+/g, ' ')
      .replace(/\.$/, '');
    return `${oneLine}; see vedette --help`;
  }
  const isLong = thrown instanceof FileProblemsError && thrown.problems.length > 1;
  return isLong ? `${message}; to see them all: vedette validate ${thrown.file}` : message;
}
