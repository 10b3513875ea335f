import { extname } from 'node:path';
import { type DocumentPath, ProblemList } from '../../../agent/source/common/file-problem.ts';
import { isMapping } from '../../../agent/source/common/raw-mapping.ts';
import { readDocument } from '../../../agent/source/file/document/document.ts';
import { readPlainJson } from '../../../agent/source/file/document/plain-json.ts';
import { VedetteError } from '../../../runtime/errors.ts';
import { readInputText } from '../../../runtime/files/read-input-text.ts';

/** Parsing YAML takes about 5 ms per kilobyte. A configuration of 10,000 targets has about 1 MiB. */
const MAX_CHARS = 4 * 1024 * 1024;
/** Longer JSON is parsed without the line numbers of its values, in a fraction of the time. */
const MAX_LOCATED_CHARS = 256 * 1024;

/** A configuration of another program. */
export interface SourceFile {
  /** As it was given on the command line. */
  readonly name: string;
  readonly value: unknown;
  /** The line of the key or item at the path, from 1; null if lines are not known. */
  lineAt(path: DocumentPath): number | null;
}

/** A value in a file. */
export interface Origin {
  readonly file: SourceFile;
  readonly path: DocumentPath;
}

export function below({ file, path }: Origin, ...steps: DocumentPath): Origin {
  return { file, path: [...path, ...steps] };
}

/** @throws VedetteError of kind `input` where it cannot be read, or is no YAML or JSON */
export async function readSourceFile(name: string): Promise<SourceFile> {
  const text = await readInputText(name, { kind: 'a file to import', code: 'IMPORT_UNREADABLE' });
  return parseSourceText(text, name);
}

/** @throws VedetteError of kind `input` with the first problem, whose message repeats no value */
export function parseSourceText(text: string, name: string): SourceFile {
  if (text.length > MAX_CHARS) {
    const message = `${name} has more than ${MAX_CHARS / 1024 / 1024} million characters: split it, and import the parts`;
    throw new VedetteError('input', 'IMPORT_TOO_LARGE', message);
  }
  const plain = text.length > MAX_LOCATED_CHARS ? readPlainJson(text) : null;
  if (plain !== null) return { name, value: plain.value, lineAt: () => null };
  const problems = new ProblemList();
  const language = extname(name).toLowerCase() === '.json' ? 'JSON' : 'YAML';
  const document = readDocument(text, language, problems, 'binary');
  if (document === null || !problems.isEmpty) {
    const [first = `${name} cannot be read`] = problems.toError(name, []).lines();
    throw new VedetteError('input', 'IMPORT_NOT_VALID', first);
  }
  return {
    name,
    value: withMergedKeys(document.value, new Map()),
    lineAt: (path) => document.locateKey(path).line,
  };
}

/**
 * Converts `!!binary` to text, and applies the merge keys of YAML 1.1 (`<<`), like the parsers of Go: a key of the
 * mapping itself wins, then the first merged mapping. `seen` preserves the identity of objects that aliases share.
 */
function withMergedKeys(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return textIfUtf8(value);
  const known = seen.get(value);
  if (known !== undefined) return known;
  const merged = Array.isArray(value)
    ? value.map((item: unknown) => withMergedKeys(item, seen))
    : mergedMapping(value as Readonly<Record<string, unknown>>, seen);
  seen.set(value, merged);
  return merged;
}

/** Decodes bytes as UTF-8; returns invalid ones as bytes. */
function textIfUtf8(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

function mergedMapping(
  mapping: Readonly<Record<string, unknown>>,
  seen: Map<object, unknown>,
): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const [key, value] of Object.entries(mapping)) {
    if (key !== '<<') entries.set(key, withMergedKeys(value, seen));
  }
  for (const source of [mapping['<<']].flat()) {
    const merged = withMergedKeys(source, seen);
    if (!isMapping(merged)) continue;
    for (const [key, value] of Object.entries(merged)) {
      if (!entries.has(key)) entries.set(key, value);
    }
  }
  return Object.fromEntries(entries);
}
