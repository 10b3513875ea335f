import { FileProblemsError } from '../../agent/source/file-problem.ts';
import { loadCheckFile } from '../../agent/source/load-check-file.ts';
import { harmless } from '../print/harmless.ts';
import { EXIT, type Terminal } from '../terminal.ts';

const MAX_LINE_CHARS = 2000;

/**
 * Prints every problem of a check file, one a line, or that there is none.
 *
 * @throws VedetteError where the file cannot be read at all
 */
export async function validateCommand(file: string, { stdout }: Terminal): Promise<number> {
  try {
    const { checks } = await loadCheckFile(file);
    const count = `${checks.length} ${checks.length === 1 ? 'check' : 'checks'}`;
    stdout.write(`${harmless(file)}: ${count}, no problems\n`);
    return EXIT.ok;
  } catch (thrown) {
    if (!(thrown instanceof FileProblemsError)) throw thrown;
    for (const line of thrown.lines()) stdout.write(`${harmless(line, MAX_LINE_CHARS)}\n`);
    return EXIT.unusable;
  }
}
