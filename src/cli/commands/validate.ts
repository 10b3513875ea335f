import { namesFromOthers } from '../../agent/secrets/render-check.ts';
import { FileProblemsError } from '../../agent/source/common/file-problem.ts';
import type { CheckFile } from '../../agent/source/file/check-file.ts';
import { loadCheckFile } from '../../agent/source/file/load-check-file.ts';
import { ENTRY_NOUNS, SECTIONS } from '../../model/check-file/sections.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { harmless } from '../print/harmless.ts';
import { EXIT, type Terminal } from '../terminal.ts';

const MAX_LINE_CHARS = 2000;

const MAX_NAMED = 20;

/**
 * Prints every problem of a check file on a line of its own, or that there is none; then a note with
 * the variables of templates that the file does not define.
 *
 * @throws VedetteError where the file cannot be read at all
 */
export async function validateCommand(file: string, { stdout }: Terminal): Promise<number> {
  try {
    const checkFile = await loadCheckFile(file);
    stdout.write(`${harmless(file)}: ${contentText(checkFile)}, no problems\n`);
    const note = fromElsewhereText(checkFile);
    if (note !== null) stdout.write(`${harmless(file)}: ${note}\n`);
    return EXIT.ok;
  } catch (thrown) {
    if (!(thrown instanceof FileProblemsError)) throw thrown;
    for (const line of thrown.lines()) stdout.write(`${harmless(line, MAX_LINE_CHARS)}\n`);
    return EXIT.unusable;
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

/** null if the file itself gives a value to every name that its templates use. */
function fromElsewhereText({
  checks,
  variables,
}: Pick<CheckFile, 'checks' | 'variables'>): string | null {
  const given = new Set(variables.map(({ key }) => key));
  const used = new Set(checks.flatMap(namesFromOthers));
  const names = [...used].filter((name) => !given.has(name));
  if (names.length === 0) return null;
  const shown = names.slice(0, MAX_NAMED).join(', ');
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  const what = names.length === 1 ? 'the value' : 'the values';
  return `note: ${what} of ${shown}${more} must come from the agent (VARIABLES_FROM_ENV, VARIABLES_DIR), from the account, or with vedette run --env-file`;
}
