import type { Command } from 'commander';
import { EXIT, type Terminal } from '../terminal.ts';
import { bashCompletion } from './bash.ts';
import { type CommandNode, commandTree } from './command-tree.ts';
import { fishCompletion } from './fish.ts';
import type { Shell } from './shells.ts';
import { zshCompletion } from './zsh.ts';

const SCRIPTS: Readonly<Record<Shell, (tree: CommandNode) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Prints the completion script of a shell for the commands and options of the program. */
export function completionCommand(
  shell: Shell,
  program: Command,
  { stdout }: Pick<Terminal, 'stdout'>,
): number {
  stdout.write(SCRIPTS[shell](commandTree(program)));
  return EXIT.ok;
}
