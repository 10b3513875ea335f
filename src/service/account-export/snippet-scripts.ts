import type { Entry } from './entries.ts';

/** The field that names a snippet, and the one that has a script itself. */
const SCRIPT_FIELDS = [
  ['setupSnippetId', 'setupScript'],
  ['teardownSnippetId', 'teardownScript'],
] as const;

/**
 * The fields of a check or a group with the scripts of the snippets that it runs, in place of their ids: a
 * file has no snippets, and elsewhere another snippet may have the id.
 *
 * @param scripts by the ids of their snippets
 * @param noteUnknown called where a snippet is not among them
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
