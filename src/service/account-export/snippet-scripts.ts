import type { Entry } from './entries.ts';

/** The field with the id of a snippet, and the field with a script of the check's own. */
const SCRIPT_FIELDS = [
  ['setupSnippetId', 'setupScript'],
  ['teardownSnippetId', 'teardownScript'],
] as const;

/**
 * Replaces the ids of snippets, in the fields of a check or a group, by their scripts: a file contains no
 * snippets, and on another service the id may belong to another snippet.
 *
 * @param scripts keyed by the id of the snippet
 * @param noteUnknown called for a snippet that is not in `scripts`
 */
export function withSnippetScripts(
  fields: Entry,
  scripts: ReadonlyMap<number, string>,
  noteUnknown: () => void,
): Entry {
  const replaced = new Map<string, string | null>();
  for (const [idField, scriptField] of SCRIPT_FIELDS) {
    const id = fields[idField];
    if (typeof id !== 'number') continue;
    const script = scripts.get(id) ?? null;
    if (script === null) noteUnknown();
    replaced.set(idField, null);
    replaced.set(scriptField, script);
  }
  return { ...fields, ...Object.fromEntries(replaced) };
}
