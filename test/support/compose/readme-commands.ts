import { DOCUMENTS, readDocument } from '../documents.ts';

/**
 * A command of a document: the block of shell after the comment
 * `<!-- command: NAME -->`.
 *
 * @throws Error if there is none
 */
export function readmeCommand(name: string): string {
  const block = documentedCommands().get(name);
  if (block === undefined) throw new Error(`no <!-- command: ${name} --> in any document`);
  return block;
}

/** The marked blocks of all documents, by their names. */
export function documentedCommands(): ReadonlyMap<string, string> {
  return commandsIn(DOCUMENTS.map(readDocument).join('\n'));
}

/** The marked blocks of a text, by their names. @throws Error where a marker has no block */
export function commandsIn(text: string): ReadonlyMap<string, string> {
  const marker = /^<!-- command: ([\w-]+) -->\n(?:```sh\n([\s\S]*?)^```$)?/gm;
  return new Map(
    [...text.matchAll(marker)].map(([, name = '', block]) => {
      if (block === undefined) throw new Error(`no block of shell follows the marker ${name}`);
      return [name, block] as const;
    }),
  );
}
