import { VedetteError } from '../../../runtime/errors.ts';

/** A position in a document: keys and list indices from the root. */
export type DocumentPath = readonly (string | number)[];

/** Both count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where a document starts. */
export const TOP: Position = { line: 1, column: 1 };

/** One problem with a file. `path` and `message` form one sentence. */
export interface FileProblem extends Position {
  /** For example `checks[2].request.port of check "shop"`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

export const MAX_PROBLEMS = 50;
/** Problems counted beyond MAX_PROBLEMS: each takes up to 0.1 ms, and a file may have millions. */
const MAX_OMITTED = 10_000;
const MAX_KEY_CHARS = 60;

/** `file:line:column: path message`, in the form that editors and terminals can follow. */
function problemLine(file: string, problem: FileProblem): string {
  const { line, column, path, message } = problem;
  const sentence = path === '' ? message : `${path} ${message}`;
  return `${file}:${line}:${column}: ${sentence}`;
}

/** `checks[2].request.port`; a key that is not a plain word is quoted and cut. */
export function pathText(path: DocumentPath): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_][\w-]{0,59}$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${keyText(step)}]`;
  }
  return text;
}

/**
 * A key in quotes, cut. In `{ password:abc }`, where the space is missing, the key is all of
 * `password:abc`, so what follows a colon is never shown.
 */
export function keyText(key: string): string {
  const shown = key.replace(/(?<=:).+$/s, '…');
  return JSON.stringify(shown.length > MAX_KEY_CHARS ? `${shown.slice(0, MAX_KEY_CHARS)}…` : shown);
}

/** A file that cannot be used. The message is the first problem; all are in `problems`. */
export class FileProblemsError extends VedetteError {
  readonly file: string;
  readonly problems: readonly FileProblem[];
  /** How many problems there are beyond `problems`. */
  readonly omitted: number;
  /** Absolute paths of the other files that the file names: a change of them may solve problems. */
  readonly pemFiles: readonly string[];

  constructor(file: string, report: ProblemReport) {
    const { problems, omitted, pemFiles } = report;
    const [first] = problems;
    const line = first === undefined ? `${file}: cannot be used` : problemLine(file, first);
    const more = problems.length - 1 + omitted;
    const noun = more === 1 ? 'problem' : 'problems';
    const tail = more <= 0 ? '' : ` (and ${omittedText(more, omitted)} more ${noun})`;
    super('input', 'CHECK_FILE_INVALID', line + tail);
    this.file = file;
    this.problems = problems;
    this.omitted = omitted;
    this.pemFiles = pemFiles;
  }

  /** Every collected problem, one line each, and a last line that counts the rest. */
  lines(): readonly string[] {
    const lines = this.problems.map((problem) => problemLine(this.file, problem));
    const { omitted } = this;
    if (omitted === 0) return lines;
    return [...lines, `${this.file}: and ${omittedText(omitted, omitted)} more`];
  }
}

function omittedText(count: number, omitted: number): string {
  return omitted < MAX_OMITTED ? String(count) : `at least ${count}`;
}

/** The data of a FileProblemsError, for messages between threads. */
export interface ProblemReport {
  readonly problems: readonly FileProblem[];
  readonly omitted: number;
  readonly pemFiles: readonly string[];
}

/** Thrown to end the reading of a file. */
class EnoughProblems extends Error {}

/** Collects problems up to MAX_PROBLEMS, counts MAX_OMITTED more, and drops repetitions. */
export class ProblemList {
  readonly #problems: FileProblem[] = [];
  readonly #seen = new Set<string>();
  readonly #enough: number;
  #omitted = 0;

  /** @param enough the number of problems that ends `upToEnough` and `untilEnough` */
  constructor(enough = MAX_PROBLEMS + MAX_OMITTED) {
    this.#enough = enough;
  }

  /**
   * Adds a problem, unless the same message at the same position is known.
   *
   * @param at may be slow, so it is not called when the list is full
   * @throws the error that `upToEnough` and `untilEnough` catch, after `enough` problems
   */
  add(path: string, of: string, message: string, at: () => Position): void {
    const byPath = `${path} ${message}`;
    if (path !== '' && this.#seen.has(byPath)) return;
    if (this.#problems.length >= MAX_PROBLEMS) {
      this.#omitted += 1;
      this.#endWhereEnough();
      return;
    }
    this.#seen.add(byPath);
    const position = at();
    // An alias gives one position several paths.
    const byPosition = `${position.line}:${position.column} ${message}`;
    if (this.#seen.has(byPosition)) return;
    this.#seen.add(byPosition);
    // Parsers quote the text with the problem, which may have several lines.
    const oneLine = message.replace(/\s+/g, ' ');
    this.#problems.push({ ...position, path: path + of, message: oneLine });
    this.#endWhereEnough();
  }

  #endWhereEnough(): void {
    if (this.#problems.length + this.#omitted >= this.#enough) throw new EnoughProblems();
  }

  get isEmpty(): boolean {
    return this.#problems.length === 0;
  }

  /** The value of `work`, or `otherwise` after `enough` problems. */
  upToEnough<T>(work: () => T, otherwise: T): T {
    try {
      return work();
    } catch (thrown) {
      if (thrown instanceof EnoughProblems) return otherwise;
      throw thrown;
    }
  }

  /** Like `upToEnough`, for asynchronous work. */
  async untilEnough<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (thrown instanceof EnoughProblems) return otherwise;
      throw thrown;
    }
  }

  /** Throws a FileProblemsError if there are problems. */
  throwIfAny(file: string, pemFiles: readonly string[] = []): void {
    if (!this.isEmpty) throw this.toError(file, pemFiles);
  }

  /** All problems as one error, sorted by position. */
  toError(file: string, pemFiles: readonly string[]): FileProblemsError {
    const problems = this.#problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
    return new FileProblemsError(file, { problems, omitted: this.#omitted, pemFiles });
  }
}
