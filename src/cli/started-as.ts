import { existsSync } from 'node:fs';
import { basename, delimiter, join, relative } from 'node:path';
import { shellWord } from './print/shell-word.ts';
import type { Terminal } from './terminal.ts';

const NAME = 'vedette';
/** The links to programs that npm makes for a project, and for npx. */
const LINK_OF_NPM = /[\\/]node_modules[\\/]\.bin[\\/][^\\/]+$/;
/** The file itself, compiled or not; a link to it has another name. */
const FILE = /^main\.[jt]s$/;

/**
 * The beginning of a command to paste, as the user started the program: `vedette`, `npx vedette`, or
 * `node PATH/dist/cli/main.js` if PATH has no `vedette`.
 */
export function startedAs({ env, script }: Pick<Terminal, 'env' | 'script'>): string {
  if (script === undefined) return NAME;
  // `npm start` of this package starts the file without a link.
  const isNpmStart = env.npm_lifecycle_event === 'start' && env.npm_package_name === NAME;
  if (isNpmStart || LINK_OF_NPM.test(script)) return `npx ${NAME}`;
  if (!FILE.test(basename(script)) || isInPath(env.PATH ?? '')) return NAME;
  const fromHere = relative('', script);
  return `node ${shellWord(fromHere.startsWith('..') ? script : fromHere)}`;
}

function isInPath(path: string): boolean {
  return path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, NAME)));
}
