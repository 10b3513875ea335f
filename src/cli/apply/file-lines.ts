import { extname } from 'node:path';
import { isMapping } from '../../agent/source/common/check-defaults.ts';
import { ProblemList } from '../../agent/source/common/file-problem.ts';
import { readCheckFileText } from '../../agent/source/file/check-file-text.ts';
import { readDocument } from '../../agent/source/file/document/document.ts';
import type { Refusal } from './plan.ts';

/** A check by its id, or a variable by its key. */
type Named = Pick<Refusal, 'kind' | 'id'>;

/** Lines of a file, counted from 1. */
export type LineOf = (named: Named) => number | null;

/**
 * The lines of checks and variables in their file. The file is read again, because only refusals
 * need the lines; a file that can no longer be read gives none.
 */
export async function fileLines(file: string): Promise<LineOf> {
  try {
    const text = await readCheckFileText(file);
    const language = extname(file).toLowerCase() === '.json' ? 'JSON' : 'YAML';
    const document = readDocument(text, language, new ProblemList());
    const linesOf = (list: string, field: string): ReadonlyMap<unknown, number> => {
      const lines = new Map<unknown, number>();
      for (const [index, name] of namesIn(document?.value, list, field).entries()) {
        const position = document?.locate([list, index]);
        if (position !== undefined) lines.set(name, position.line);
      }
      return lines;
    };
    const lines = { check: linesOf('checks', 'id'), variable: linesOf('variables', 'key') };
    return ({ kind, id }) => lines[kind].get(id) ?? null;
  } catch {
    return () => null;
  }
}

function namesIn(root: unknown, list: string, field: string): readonly unknown[] {
  const entries = isMapping(root) ? root[list] : null;
  if (!Array.isArray(entries)) return [];
  return entries.map((entry: unknown) => (isMapping(entry) ? entry[field] : undefined));
}
