import { type CommandNode, nodesOf, type OptionNode } from './command-tree.ts';

/** A script for fish 3.1 and later. */
export function fishCompletion(tree: CommandNode): string {
  const { name } = tree;
  const nodes = nodesOf(tree);
  const paths = nodes.flatMap(({ path }) => (path === '' ? [] : [quoted(path)]));
  return `# fish completion of ${name}. For this shell: ${name} completion fish | source
function __${name}_at
    set -l node ''
    set -l before (commandline -opc)
    set -e before[1]
    for word in $before
        switch "$node/$word"
            case ${paths.join(' ')}
                set node "$node/$word"
        end
    end
    test "$node" = "$argv"
end
complete -c ${name} -f
${nodes.flatMap((node) => linesOf(node, name)).join('\n')}
`;
}

function linesOf(node: CommandNode, name: string): readonly string[] {
  const { path, commands, values, takesFile, options } = node;
  const start = `complete -c ${name} -n ${quoted(`__${name}_at ${path === '' ? '""' : path}`)}`;
  return [
    ...commands.map((each) => `${start} -a ${each.name} -d ${quoted(each.description)}`),
    ...(values.length === 0 ? [] : [`${start} -a ${quoted(values.join(' '))}`]),
    ...(takesFile ? [`${start} -F`] : []),
    ...options.map((option) => `${start}${flagsText(option)} -d ${quoted(option.description)}`),
  ];
}

function flagsText({ long, short, value }: OptionNode): string {
  const letter = short === null ? '' : ` -s ${short.replace(/^-/, '')}`;
  const word = long === null ? '' : ` -l ${long.replace(/^--/, '')}`;
  return `${letter}${word}${valueText(value)}`;
}

/** -x: a value that is not a file; -r -F: a file. */
function valueText(value: OptionNode['value']): string {
  if (value === 'nothing') return '';
  if (value === 'file') return ' -r -F';
  return value === 'text' ? ' -x' : ` -x -a ${quoted(value.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
