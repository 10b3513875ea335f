import { readFileSync, statSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import type { ErrorsRequest } from '../../wire/v1/error-report.ts';
import type { ReportedFrame } from './stack-frames.ts';

type Frame = ErrorsRequest['reports'][number]['stack'][number];

/** An existing file. Its text is null if it is too long to be checked. */
interface Source {
  readonly text: string | null;
}
/** By path. Contains only files that can be read. */
export type Sources = ReadonlyMap<string, Source>;

const MAX_SOURCE_BYTES = 512 * 1024;

/**
 * Names that V8 itself uses, independent of the source. All other names have to be in the source: a
 * function may have the name of the property it was assigned to, which may be a check's name.
 */
const WORDS_OF_V8: ReadonlySet<string> = new Set([
  ...['<anonymous>', '<instance_members_initializer>', '<static_initializer>'],
  ...['Object', 'Function', 'Array', 'Map', 'Set', 'Promise', 'process'],
  ...['Timeout', '_onTimeout', 'Immediate', '_onImmediate'],
]);
const MAX_FUNCTION_CHARS = 120;

/**
 * The frames whose file, position and function exist in the sources. Nothing else of a stack is
 * sent: it is plain text, which an error message may imitate.
 */
export function confirmed(frames: readonly ReportedFrame[], sources: Sources): Frame[] {
  return frames.flatMap((frame) => {
    const { file, path, line, column } = frame;
    // Node's own sources are not on disk; with its version, the position identifies the function.
    if (path === null) return isOfNode(file) ? [{ function: null, file, line, column }] : [];
    const source = sources.get(path);
    if (source === undefined) return [];
    const { text } = source;
    if (text === null) return [{ function: null, file, line, column }];
    if (!hasPosition(text, line, column)) return [];
    return [{ function: nameIn(text, frame.function), file, line, column }];
  });
}

/** Reads the files of the frames, one after the other, since checks run at the same time. */
export async function sourcesOf(frames: readonly ReportedFrame[]): Promise<Sources> {
  const sources = new Map<string, Source>();
  for (const path of pathsOf(frames)) {
    try {
      const found = await stat(path);
      if (!found.isFile()) continue;
      const isShort = found.size <= MAX_SOURCE_BYTES;
      sources.set(path, { text: isShort ? await readFile(path, 'utf8') : null });
    } catch {
      // No such file: so it is none of ours.
    }
  }
  return sources;
}

/** Like `sourcesOf`, synchronously, for a process that is about to end. */
export function sourcesNow(frames: readonly ReportedFrame[]): Sources {
  const sources = new Map<string, Source>();
  for (const path of pathsOf(frames)) {
    try {
      const found = statSync(path);
      if (!found.isFile()) continue;
      const isShort = found.size <= MAX_SOURCE_BYTES;
      sources.set(path, { text: isShort ? readFileSync(path, 'utf8') : null });
    } catch {
      // No such file: so it is none of ours.
    }
  }
  return sources;
}

function pathsOf(frames: readonly ReportedFrame[]): ReadonlySet<string> {
  return new Set(frames.flatMap(({ path }) => path ?? []));
}

function isOfNode(file: string): boolean {
  const id = file.slice('node:'.length);
  // Not documented, but the only list that has the inner modules, of which most frames are.
  const { moduleLoadList }: { moduleLoadList?: unknown } = process as object;
  return Array.isArray(moduleLoadList)
    ? moduleLoadList.includes(`NativeModule ${id}`)
    : builtinModules.includes(id);
}

function hasPosition(text: string, line: number, column: number): boolean {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf('\n', start);
    if (end < 0) return false;
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  // V8 counts from 1, and its position may be one after the last character.
  return line > 0 && column <= (end < 0 ? text.length : end) - start + 1;
}

/** The part of a name that is in the source: `run` of `Sender.run` if the class is elsewhere. */
function nameIn(text: string, reported: string | null): string | null {
  if (reported === null) return null;
  const plain = reported.replace(/ \[as .*$/, '');
  const [keywords = ''] = /^(?:async |new |get |set |static )*/.exec(plain) ?? [];
  const parts = plain.slice(keywords.length).split('.');
  const isKnown = (part: string): boolean => WORDS_OF_V8.has(part) || hasWord(text, part);
  const confirmedParts = parts.slice(parts.findLastIndex((part) => !isKnown(part)) + 1);
  if (confirmedParts.length === 0) return null;
  const name = keywords + confirmedParts.join('.');
  return name.length <= MAX_FUNCTION_CHARS ? name : null;
}

function hasWord(text: string, word: string): boolean {
  if (!/^#?[\w$]+$/.test(word)) return false;
  const isPart = (char: string | undefined): boolean => char !== undefined && /[\w$]/.test(char);
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + word.length])) return true;
  }
  return false;
}
