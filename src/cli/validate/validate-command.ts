import { namesFromOthers } from '../../agent/secrets/render-check.ts';
import { FileProblemsError } from '../../agent/source/common/file-problem.ts';
import { loadCheckFile } from '../../agent/source/file/load-check-file.ts';
import type { CheckFile } from '../../agent/source/file/parse-check-file.ts';
import { ENTRY_NOUNS, SECTIONS } from '../../model/check-file/sections.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { unfilledNote } from '../apply/fill-secrets.ts';
import { reservedIdsText } from '../apply/reserved-ids.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { isOurFault, reportError } from '../report-error.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { idleSettingLines } from './idle-setting-lines.ts';

const MAX_LINE_CHARS = 2000;

const MAX_NAMED = 20;

/**
 * Prints every problem of the check files on a line of its own, or that a file has none; then each
 * setting that has no effect, and notes with the variables of templates that the file does not define, and
 * with the secrets that `vedette apply --env-file` fills in.
 * A file that cannot be read is reported and does not stop the others.
 *
 * @returns EXIT.ok, or EXIT.unusable if a file has problems or cannot be read
 */
export async function validateCommand(
  files: readonly string[],
  terminal: Terminal,
): Promise<number> {
  let exitCode: number = EXIT.ok;
  for (const file of files) {
    try {
      if (!(await validateFile(file, terminal))) exitCode = EXIT.unusable;
    } catch (thrown) {
      if (isOurFault(thrown)) throw thrown;
      exitCode = reportError(thrown, terminal);
    }
  }
  return exitCode;
}

/**
 * @returns whether the file is valid
 * @throws VedetteError where it cannot be read at all
 */
async function validateFile(file: string, { stdout }: Terminal): Promise<boolean> {
  try {
    const checkFile = await loadCheckFile(file);
    const idle = await idleSettingLines(file, checkFile);
    const unfilled = unfilledNote(checkFile);
    const unfilledLine = unfilled === null ? null : `${file}: note: ${unfilled}`;
    const notes = [
      ...idle,
      reservedIdsLine(file, checkFile),
      fromElsewhereLine(file, checkFile),
      unfilledLine,
    ];
    stdout.write(`${terminalSafe(file)}: ${contentText(checkFile)}, no problems\n`);
    for (const line of notes) {
      if (line !== null) stdout.write(`${terminalSafe(line, MAX_LINE_CHARS)}\n`);
    }
    return true;
  } catch (thrown) {
    if (!(thrown instanceof FileProblemsError)) throw thrown;
    for (const line of thrown.lines()) stdout.write(`${terminalSafe(line, MAX_LINE_CHARS)}\n`);
    return false;
  }
}

/** `4 checks, 1 status page`. */
function contentText({ checks, resources }: Pick<CheckFile, 'checks' | 'resources'>): string {
  const others = SECTIONS.flatMap((section) => {
    const { length } = resources.sections[section];
    return length === 0 ? [] : [countText(length, ENTRY_NOUNS[section])];
  });
  const ofChecks = checks.length === 0 ? [] : [countText(checks.length, 'check')];
  return [...ofChecks, ...others].join(', ');
}

/** null if a service accepts all ids of checks and heartbeats. */
function reservedIdsLine(
  file: string,
  { checks, resources }: Pick<CheckFile, 'checks' | 'resources'>,
): string | null {
  const ids = [...checks, ...resources.sections.heartbeats].map(({ id }) => id);
  const text = reservedIdsText(ids);
  return text === null ? null : `${file}: note: ${text}`;
}

/** null if the file itself defines every name that its templates use. */
function fromElsewhereLine(
  file: string,
  { checks, variables }: Pick<CheckFile, 'checks' | 'variables'>,
): string | null {
  const given = new Set(variables.map(({ key }) => key));
  const used = new Set(checks.flatMap(namesFromOthers));
  const names = [...used].filter((name) => !given.has(name));
  if (names.length === 0) return null;
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const what = names.length === 1 ? 'the value' : 'the values';
  return `${file}: note: ${what} of ${shown}${more} must come from the agent (VARIABLES_FROM_ENV, VARIABLES_DIR), from the account, or with vedette run --env-file`;
}
