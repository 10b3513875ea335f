import { isMap, isScalar, isSeq, type Node } from 'yaml';
import {
  type DocumentPath,
  type Position,
  type ProblemList,
  TOP,
} from '../../common/file-problem.ts';
import { PlainConverter } from './document-values.ts';
import { LineIndex } from './line-index.ts';
import { parseYaml } from './parse-yaml.ts';
import { plainWords } from './plain-yaml-messages.ts';

/** A parsed YAML or JSON text with the positions of its values. */
export interface SourceDocument {
  /** Maps as objects, lists as arrays, scalars as they are. */
  readonly value: unknown;
  /** Where the value at the path starts; without one, the nearest enclosing value. */
  locate(path: DocumentPath): Position;
  /** The position of the key at the end of the path. */
  locateKey(path: DocumentPath): Position;
}

/**
 * Parses YAML 1.2 (which includes JSON) without tags, merge keys or repeated keys. Adds problems to
 * the list; null if values are missing because of them.
 *
 * @param language the name of the language in messages
 * @param tags whether `!!binary` is read, as a Uint8Array; no other tag ever is
 */
export function readDocument(
  text: string,
  language: 'YAML' | 'JSON',
  problems: ProblemList,
  tags: 'none' | 'binary' = 'none',
): SourceDocument | null {
  const lines = new LineIndex(text);
  const { contents, problems: found } = parseYaml(text, tags);
  let lastLine = 0;
  for (const problem of found.toSorted((a, b) => a.offset - b.offset)) {
    const position = lines.positionAt(problem.offset);
    // The parser reports one mistake once per level, all on the same line.
    if (position.line === lastLine) continue;
    lastLine = position.line;
    problems.add('', '', `not valid ${language}: ${plainWords(problem)}`, () => position);
  }
  if (!problems.isEmpty) return null;

  const startOf = (node: unknown): Position | null =>
    hasRange(node) ? lines.positionAt(node.range[0]) : null;
  const converter = new PlainConverter((node, message) =>
    problems.add('', '', message, () => startOf(node) ?? TOP),
  );
  const value = problems.upToEnough(() => converter.convert(contents), null);
  if (!converter.isWhole) return null;

  const follow = (path: DocumentPath): { value: Position; key: Position } => {
    let node: unknown = contents;
    let at = startOf(node) ?? TOP;
    let key = at;
    for (const step of path) {
      const next = childOf(converter.targetOf(node), step);
      if (next === null) return { value: at, key: at };
      node = next.value;
      key = startOf(next.key) ?? at;
      // An empty value has no text of its own; its key has the useful position.
      at = isEmptyScalar(node) ? key : (startOf(node) ?? key);
    }
    return { value: at, key };
  };
  return {
    value,
    locate: (path) => follow(path).value,
    locateKey: (path) => follow(path).key,
  };
}

function childOf(node: unknown, step: string | number): { key: unknown; value: unknown } | null {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && key.value === step);
    return pair === undefined ? null : { key: pair.key, value: pair.value };
  }
  if (!isSeq(node) || typeof step !== 'number') return null;
  const item = node.items[step];
  return item === undefined ? null : { key: item, value: item };
}

function hasRange(node: unknown): node is Node & { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range);
}

function isEmptyScalar(node: unknown): boolean {
  return isScalar(node) && node.value === null && (node.source ?? '') === '';
}
