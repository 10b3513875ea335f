import { extname } from 'node:path';
import { readCheckFileText } from '../../agent/source/check-file-text.ts';
import { readDocument } from '../../agent/source/document.ts';
import { ProblemList } from '../../agent/source/file-problem.ts';

/** Lines of a file, counted from 1. */
export type LineOf = (checkId: string) => number | null;

/**
 * Where the checks stand in their file. It is read again for it, as only a refused check needs to
 * know; a file that cannot be read any more tells no lines.
 */
export async function checkLines(file: string): Promise<LineOf> {
  try {
    const text = await readCheckFileText(file);
    const language = extname(file).toLowerCase() === '.json' ? 'JSON' : 'YAML';
    const document = readDocument(text, language, new ProblemList());
    const lines = new Map<unknown, number>();
    for (const [index, id] of idsIn(document?.value).entries()) {
      const position = document?.locate(['checks', index]);
      if (position !== undefined) lines.set(id, position.line);
    }
    return (id) => lines.get(id) ?? null;
  } catch {
    return () => null;
  }
}

function idsIn(root: unknown): readonly unknown[] {
  if (typeof root !== 'object' || root === null || !('checks' in root)) return [];
  const { checks } = root;
  if (!Array.isArray(checks)) return [];
  return checks.map((check: unknown) =>
    typeof check === 'object' && check !== null && 'id' in check ? check.id : undefined,
  );
}
