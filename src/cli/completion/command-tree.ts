import type { Command, Option } from 'commander';

/** A command with its subcommands, options and arguments. */
export interface CommandNode {
  /** `/service/migrate`; empty for the program. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  readonly options: readonly OptionNode[];
  /** The possible values of its arguments, if known. */
  readonly values: readonly string[];
  /** Whether an argument is a file. */
  readonly takesFile: boolean;
  readonly commands: readonly CommandNode[];
}

export interface OptionNode {
  /** `--help`; null if it has only a letter. */
  readonly long: string | null;
  /** `-h`; null if it has none. */
  readonly short: string | null;
  readonly description: string;
  /** The value of the option. */
  readonly value: 'nothing' | 'text' | 'file' | readonly string[];
}

/** The placeholders of options and arguments that are paths. */
const FILE_NAMES: readonly string[] = ['file', 'dir'];

/** The commands of the program, with their subcommands, options and arguments. */
export function commandTree(command: Command, parent: string | null = null): CommandNode {
  const help = command.createHelp();
  const path = parent === null ? '' : `${parent}/${command.name()}`;
  const { registeredArguments } = command;
  return {
    path,
    name: command.name(),
    description: help.subcommandDescription(command),
    options: help.visibleOptions(command).map(optionNode),
    values: registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    takesFile: registeredArguments.some((argument) => FILE_NAMES.includes(argument.name())),
    commands: help.visibleCommands(command).map((each) => commandTree(each, path)),
  };
}

/** The node and all below it. */
export function nodesOf(node: CommandNode): readonly CommandNode[] {
  return [node, ...node.commands.flatMap(nodesOf)];
}

/** The flags of an option as they are written on the command line. */
export function flagsOf({ long, short }: OptionNode): readonly string[] {
  return [short, long].filter((flag) => flag !== null);
}

function optionNode(option: Option): OptionNode {
  const { long = null, short = null, description } = option;
  return { long, short, description, value: optionValue(option) };
}

function optionValue({ required, optional, argChoices, flags }: Option): OptionNode['value'] {
  if (!required && !optional) return 'nothing';
  if (argChoices !== undefined) return argChoices;
  const placeholder = /[<[]([\w-]+)/.exec(flags)?.[1] ?? '';
  return FILE_NAMES.includes(placeholder) ? 'file' : 'text';
}
