import { readInputText } from '../../agent/source/file/check-file-text.ts';
import type { OwnVariable } from '../../model/check/variable.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { MAX_VARIABLES } from '../../wire/v1/limits.ts';
import { parseEnvText } from './parse-env-text.ts';

const MAX_NAMED_LINES = 20;

/**
 * The variables of an env file, all of them secrets. The form of its lines: parseEnvText.
 *
 * @throws VedetteError of kind `input`: with code ENV_FILE_UNREADABLE like readCheckFileText, and
 *   with ENV_FILE_INVALID, the first problem and the lines of the others, but none of their text
 */
export async function readEnvFile(path: string): Promise<readonly OwnVariable[]> {
  const text = await readInputText(path, { kind: 'an env file', code: 'ENV_FILE_UNREADABLE' });
  const { variables, problems } = parseEnvText(text);
  const [first, ...others] = problems;
  if (first !== undefined) {
    const rest =
      others.length === 0 ? '' : ` (and so ${linesText(others.map(({ line }) => line))})`;
    throw invalid(`${path}:${first.line}: the line ${first.message}${rest}`);
  }
  if (variables.length <= MAX_VARIABLES) return variables;
  throw invalid(`${path} has ${variables.length} values, and may have ${MAX_VARIABLES}`);
}

function linesText(lines: readonly number[]): string {
  const shown = lines.slice(0, MAX_NAMED_LINES).join(', ');
  const more = lines.length - MAX_NAMED_LINES;
  return `${lines.length === 1 ? 'line' : 'lines'} ${shown}${more > 0 ? ` and ${more} more` : ''}`;
}

function invalid(message: string): VedetteError {
  return new VedetteError('input', 'ENV_FILE_INVALID', message);
}
