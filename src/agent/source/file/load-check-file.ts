import { VedetteError } from '../../../runtime/errors.ts';
import { readInputText } from '../../../runtime/files/read-input-text.ts';
import { FileProblemsError } from '../common/file-problem.ts';
import { parseInThread } from '../common/parse-in-thread.ts';
import type { ParseJob, ParseReply } from './check-file-worker.ts';
import { type CheckFile, parseCheckFile, parsePlainCheckFile } from './parse-check-file.ts';

/** A longer text is parsed in a thread: parsing takes about 5 ms per kilobyte, errors more. */
const MAX_INLINE_CHARS = 64 * 1024;
/**
 * Plain JSON needs no thread up to here, some 20,000 checks: it is parsed in 50 ms and validated in
 * slices, faster than a thread loads its modules.
 */
const MAX_PLAIN_CHARS = 4 * 1024 * 1024;

const DEFAULT_WORKER_URL = new URL('./check-file-worker.js', import.meta.url);

export interface LoadOptions {
  /** Ends the work; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The longest text that is parsed without a thread; default 64 KiB. */
  readonly maxInlineChars?: number;
  /** The same for plain JSON; default 4 MiB. */
  readonly maxPlainChars?: number;
  /** The compiled check-file-worker; default: beside this module. */
  readonly workerUrl?: URL;
}

/**
 * Reads a check file (src/model/README.md, "The check file"). However long it is, the event loop is
 * not blocked for longer than `maxInlineChars` take, or the parsing of `maxPlainChars` as JSON.
 *
 * @throws FileProblemsError with all problems of its text; VedetteError of kind `input` if the file
 *   cannot be read, or its text needs more memory than there is
 */
export async function loadCheckFile(file: string, options: LoadOptions = {}): Promise<CheckFile> {
  const { signal, maxInlineChars = MAX_INLINE_CHARS, maxPlainChars = MAX_PLAIN_CHARS } = options;
  const { workerUrl = DEFAULT_WORKER_URL } = options;
  const text = await readCheckFileText(file);
  signal?.throwIfAborted();
  if (text.length <= maxInlineChars) return parseCheckFile(text, file);
  if (text.length <= maxPlainChars) {
    const plain = await parsePlainCheckFile(text, file);
    signal?.throwIfAborted();
    if (plain !== null) return plain;
  }
  const job: ParseJob = { text, file };
  const tooLargeCode = 'CHECK_FILE_TOO_LARGE';
  const work = { file, tooLargeCode, signal: signal ?? null };
  const reply = await parseInThread<ParseReply>(workerUrl, job, work);
  if (reply.ok) return reply.checkFile;
  throw new FileProblemsError(file, reply.report);
}

/** The text of a check file. @throws like readInputText, with code CHECK_FILE_UNREADABLE */
export function readCheckFileText(file: string): Promise<string> {
  return readInputText(file, { kind: 'a check file', code: 'CHECK_FILE_UNREADABLE' });
}

/** @throws VedetteError of kind `input` if the file has no checks, but only other sections */
export function requireChecks({ checks }: Pick<CheckFile, 'checks'>, file: string): void {
  if (checks.length > 0) return;
  const message = `${file} has no checks, so there is nothing to run: add checks, or write its other sections to a service with vedette apply`;
  throw new VedetteError('input', 'CHECK_FILE_WITHOUT_CHECKS', message);
}
