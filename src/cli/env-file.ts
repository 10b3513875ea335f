import { type OwnVariable, ownVariableSchema } from '../model/check/variable.ts';
import { VedetteError } from '../runtime/errors.ts';
import { readInputText } from '../runtime/files/read-input-text.ts';
import { MAX_VARIABLES } from '../wire/v1/limits.ts';

const MAX_NAMED_LINES = 20;

/** A problem in a line. The message follows the line number, and never contains text of the line. */
interface EnvProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

interface EnvText {
  readonly variables: readonly OwnVariable[];
  readonly problems: readonly EnvProblem[];
}

interface Value {
  readonly text: string;
  /** The offset of the line after it. */
  readonly end: number;
}
type Read = Value | { readonly problem: string; readonly end: number };

const EXPORT = /^export[ \t]+/;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
};
const { shape } = ownVariableSchema;

/**
 * Reads the variables of an env file, all of which are secrets. See parseEnvText for the format.
 *
 * @throws VedetteError of kind `input`: with code ENV_FILE_UNREADABLE like readInputText, and
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

/**
 * Reads lines of KEY=VALUE as in the files of `node --env-file` and of Docker Compose: blank lines,
 * comments after # and `export ` before a name are ignored; '…' is taken literally, "…" understands
 * \n, \r, \t, \" and \\, and both may span several lines; without quotes a value ends with its line,
 * or before white space and #. $NAME is not replaced. Input that Node and Docker Compose parse
 * differently is an error.
 */
export function parseEnvText(text: string): EnvText {
  const variables: OwnVariable[] = [];
  const problems: EnvProblem[] = [];
  const lineOfName = new Map<string, number>();
  // Also within quotes, as in Node, where \r is the escape for a carriage return.
  const lines = text.replace(/\r\n?/g, '\n');
  let line = 1;
  for (let at = 0; at < lines.length; ) {
    const lineEnd = endOfLine(lines, at);
    const first = lines.slice(at, lineEnd);
    const equals = first.indexOf('=');
    let end = lineEnd + 1;
    if (!/^[ \t]*(#|$)/.test(first)) {
      const name = first.slice(0, Math.max(equals, 0)).trim().replace(EXPORT, '');
      const read = equals < 0 ? null : readValue(lines, at + equals + 1, lineEnd);
      if (read !== null) end = read.end;
      const before = lineOfName.get(name);
      const problem = problemOf(name, read, before);
      if (problem !== null) problems.push({ line, message: problem });
      else if (read !== null && 'text' in read) {
        variables.push({ key: name, value: read.text, secret: true });
      }
      if (before === undefined) lineOfName.set(name, line);
    }
    line += lines.slice(at, end).split('\n').length - 1;
    at = end;
  }
  return { variables, problems };
}

function problemOf(name: string, read: Read | null, before: number | undefined): string | null {
  if (read === null) return 'must be KEY=VALUE, a comment that starts with #, or blank';
  if (!shape.key.safeParse(name).success) {
    return 'must have letters, digits and underscores before =, and no digit first';
  }
  if ('problem' in read) return read.problem;
  if (before !== undefined) return `gives a value to what line ${before} has given one already`;
  return shape.value.safeParse(read.text).success ? null : 'has too long a value';
}

function readValue(lines: string, from: number, lineEnd: number): Read {
  const start = lineEnd - lines.slice(from, lineEnd).trimStart().length;
  const quote = lines[start];
  if (quote === '`') {
    const problem = 'has a value in backticks; put it in single or double quotes';
    return { problem, end: lineEnd + 1 };
  }
  if (quote === "'" || quote === '"') return readQuoted(lines, start, quote);
  const bare = lines.slice(start, lineEnd);
  const [value = ''] = bare.startsWith('#') ? [''] : bare.split(/[ \t]#/, 1);
  return { text: value.trimEnd(), end: lineEnd + 1 };
}

function readQuoted(lines: string, start: number, quote: '"' | "'"): Read {
  let text = '';
  for (let at = start + 1; at < lines.length; at += 1) {
    const char = lines[at] ?? '';
    const next = lines[at + 1] ?? '';
    if (char === quote) {
      const end = endOfLine(lines, at);
      if (/^[ \t]*(#|$)/.test(lines.slice(at + 1, end))) return { text, end: end + 1 };
      return { problem: 'has text after the closing quote', end: end + 1 };
    }
    const escaped = quote === '"' && char === '\\' ? ESCAPES[next] : undefined;
    text += escaped ?? char;
    if (escaped !== undefined) at += 1;
  }
  // Later lines are not parsed, because the opening quote itself may be the mistake.
  return { problem: `begins with ${quote}, which is never closed`, end: lines.length };
}

function endOfLine(lines: string, from: number): number {
  const end = lines.indexOf('\n', from);
  return end < 0 ? lines.length : end;
}
