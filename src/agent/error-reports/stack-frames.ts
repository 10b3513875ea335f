import { MAX_STACK_FRAMES } from '../../wire/v1/limits.ts';

/** A frame as a stack reports it, not confirmed yet. */
export interface ReportedFrame {
  /** The unchanged text, in any form; null if there is none. */
  readonly function: string | null;
  /** In the form of reports: `dist/…`, `src/…`, `node_modules/…`, or `node:…`. */
  readonly file: string;
  /** The path of the file; null for a module of Node itself. */
  readonly path: string | null;
  readonly line: number;
  readonly column: number;
}

/** Both limit the work on a stack of any length. */
const MAX_FRAME_CHARS = 32 * 1024;
const MAX_LINES = 200;
/** The file of a longer line would not fit into a report. */
const MAX_LINE_CHARS = 1000;
/** The possible text before the message: the name of the error, a code in brackets, a colon. */
const MAX_NAME_CHARS = 200;

const POSITION = /^(.+):(\d{1,7}):(\d{1,7})$/;
/** Matches a file in the form that the protocol accepts. */
const FILE = /^(?:dist|src|node_modules|node:)[\w@+./-]{1,200}$/;

/**
 * The frames of the package at `root`, of its dependencies and of Node itself, innermost first, at
 * most MAX_STACK_FRAMES. Frames of all other files are left out, and so is evaluated code.
 *
 * A message may contain lines that look like frames. If its end is not known, frames of Node are
 * omitted too, since nothing can confirm them later.
 *
 * @param root as `slashed` gives it, with the slash at its end
 */
export function framesIn(stack: string, message: string, root: string): readonly ReportedFrame[] {
  const from = endOfHeader(stack, message);
  const text =
    from === null ? stack.slice(-MAX_FRAME_CHARS) : stack.slice(from, from + MAX_FRAME_CHARS);
  const frames: ReportedFrame[] = [];
  for (const line of text.split('\n', MAX_LINES)) {
    const frame = frameIn(line, root);
    if (frame === null || (frame.path === null && from === null)) continue;
    frames.push(frame);
    if (frames.length === MAX_STACK_FRAMES) break;
  }
  return frames;
}

/**
 * A path or a file: URL with forward slashes and nothing encoded; null if it is neither. Windows
 * writes both `C:\…` and `file:///C:/…`.
 */
export function slashed(pathOrUrl: string): string | null {
  const path = pathOrUrl.startsWith('file://') ? decoded(pathOrUrl) : pathOrUrl;
  if (path === null) return null;
  const forward = path.replaceAll('\\', '/').replace(/^\/(?=[A-Za-z]:\/)/, '');
  return /^(?:[A-Za-z]:)?\//.test(forward) ? forward : null;
}

/**
 * The position at which the frames begin; null if the stack does not begin with the current
 * message.
 */
function endOfHeader(stack: string, message: string): number | null {
  const start = stack.slice(0, MAX_NAME_CHARS);
  const isWhole = (end: number): boolean => end === stack.length || stack[end] === '\n';
  if (message === '') {
    const [end = 0] = [/^[\w$.]*(?: \[\w+\])?/.exec(start)?.[0].length];
    return isWhole(end) ? end : null;
  }
  for (let at = 0; ; ) {
    if (stack.startsWith(message, at) && isWhole(at + message.length)) return at + message.length;
    const colon = start.indexOf(': ', at);
    if (colon < 0) return null;
    at = colon + 2;
  }
}

function frameIn(line: string, root: string): ReportedFrame | null {
  if (line.length > MAX_LINE_CHARS) return null;
  const reported = /^\s+at (.+)$/.exec(line.trimEnd())?.[1];
  if (reported === undefined) return null;
  const open = reported.endsWith(')') ? reported.indexOf(' (') : -1;
  const [name, position] =
    open < 0
      ? [null, reported.replace(/^async /, '')]
      : [reported.slice(0, open), reported.slice(open + 2, -1)];
  const [, where = '', lineText = '', columnText = ''] = POSITION.exec(position) ?? [];
  const found = fileOf(where, root);
  if (found === null || !FILE.test(found.file)) return null;
  return { function: name, ...found, line: Number(lineText), column: Number(columnText) };
}

function fileOf(where: string, root: string): Pick<ReportedFrame, 'file' | 'path'> | null {
  if (where.startsWith('node:')) return { file: where, path: null };
  const path = slashed(where);
  if (path === null || /\/\.{0,2}\//.test(path)) return null;
  if (path.startsWith(root)) {
    const file = path.slice(root.length);
    return /^(?:dist|src|node_modules)\//.test(file) ? { file, path } : null;
  }
  // A package manager may install dependencies in a folder above.
  const above = path.indexOf('/node_modules/');
  if (above < 0 || !root.startsWith(path.slice(0, above + 1))) return null;
  return { file: path.slice(above + 1), path };
}

function decoded(url: string): string | null {
  const [path = ''] = url.slice('file://'.length).split(/[?#]/, 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
