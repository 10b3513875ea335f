import { resolve } from 'node:path';
import { VedetteError } from '../../runtime/errors.ts';
import { countText } from '../../runtime/text/count-text.ts';
import { terminalSafe } from '../print/terminal-safe.ts';
import { EXIT, type Terminal } from '../terminal.ts';
import { writeNewFile } from '../write-new-file.ts';
import { checkFileText } from './common/check-file-text.ts';
import type { Draft } from './common/draft.ts';
import { readSourceFile, type SourceFile } from './common/source-file.ts';
import { importedFileName } from './file-name.ts';
import { importFiles } from './import-files.ts';
import type { ImportFormat } from './import-formats.ts';

export interface ImportOptions {
  /** The format of the files; null to detect it. */
  readonly from: ImportFormat | null;
  /** The check file to write; null for stdout. */
  readonly output: string | null;
  /** Whether an existing file may be replaced. */
  readonly force: boolean;
  /** Whether something left out is a failure. */
  readonly strict: boolean;
  /** Whether modules of the exporter become checks for probes, instead of their targets. */
  readonly probeModules: boolean;
}

const MAX_FILES = 100;
const MAX_LINE_CHARS = 2000;

/**
 * Converts configurations of other programs to a check file. Prints on stderr what was left out or changed, one
 * line each.
 *
 * @returns EXIT.ok, or EXIT.incomplete with `strict` where something was left out
 * @throws VedetteError where a file cannot be read or written, or contains nothing to check
 */
export async function importCommand(
  names: readonly string[],
  { from, output, force, strict, probeModules }: ImportOptions,
  { stdout, stderr }: Terminal,
): Promise<number> {
  if (names.length > MAX_FILES) {
    const message = `at most ${MAX_FILES} files can be imported at once, not ${names.length}`;
    throw new VedetteError('usage', 'IMPORT_TOO_MANY_FILES', message);
  }
  if (output !== null && names.some((name) => resolve(name) === resolve(output))) {
    const message = `${output} is one of the files to import; choose another name for --output`;
    throw new VedetteError('usage', 'IMPORT_OUTPUT_IS_INPUT', message);
  }
  const files: SourceFile[] = [];
  for (const name of names) files.push(await readSourceFile(name));
  const draft = importFiles(files, { format: from, probeModules });
  for (const line of draft.report.lines()) stderr.write(`${terminalSafe(line, MAX_LINE_CHARS)}\n`);
  if (draft.isEmpty) {
    const message = `${names.join(', ')}: nothing in it can become a check, so no file is written`;
    throw new VedetteError('input', 'IMPORT_EMPTY', message);
  }
  const text = checkFileText(draft, importedFileName(output, files));
  if (output === null) stdout.write(text);
  else {
    const another = 'choose another name for --output';
    await writeNewFile(output, text, { force, another, code: 'IMPORT_NOT_WRITTEN' });
  }
  stderr.write(`vedette: ${terminalSafe(summaryOf(draft), MAX_LINE_CHARS)}\n`);
  return strict && draft.report.leftOutCount > 0 ? EXIT.incomplete : EXIT.ok;
}

/** `imported 4 checks, 1 heartbeat; left out 2 things; set 1 variable: SHOP_PASSWORD`. */
function summaryOf({ checks, heartbeats, report, wantedVariables }: Draft): string {
  const made = [
    ...(checks.length === 0 ? [] : [countText(checks.length, 'check')]),
    ...(heartbeats.length === 0 ? [] : [countText(heartbeats.length, 'heartbeat')]),
  ].join(', ');
  const { leftOutCount } = report;
  const names = wantedVariables.map(({ name }) => name);
  const set =
    names.length === 0 ? '' : `; set ${countText(names.length, 'variable')}: ${names.join(', ')}`;
  return `imported ${made}; left out ${countText(leftOutCount, 'thing')}${set}`;
}
