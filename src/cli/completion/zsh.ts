import { type CommandNode, flagsOf, nodesOf } from './command-tree.ts';
import { casePattern, singleQuoted, type ValueCase, valueCases } from './value-cases.ts';

/**
 * A script for zsh, which defines and registers the function `_NAME`: to be evaluated after compinit, or
 * to be stored in a folder of $fpath.
 */
export function zshCompletion(tree: CommandNode): string {
  const { name } = tree;
  const nodes = nodesOf(tree);
  const paths = nodes.flatMap(({ path }) => (path === '' ? [] : [path]));
  const withFile = nodes.filter(({ takesFile }) => takesFile).map(({ path }) => path);
  return `#compdef ${name}
# zsh completion of ${name}. For this shell: eval "$(${name} completion zsh)"
_${name}() {
  local node='' word
  local -a subcommands flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$node/$word" in
      ${casePattern(paths)}) node="$node/$word" ;;
    esac
  done
  case "$node $words[CURRENT-1]" in
${valueCases(tree).map(valueLine).join('\n')}
  esac
  case "$node" in
${nodes.map(nodeCase).join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    _describe -o 'option' flags
    return
  fi
  (( $#subcommands )) && _describe 'command' subcommands
${withFile.length === 0 ? '' : `  case "$node" in ${casePattern(withFile)}) _files ;; esac\n`}}
compdef _${name} ${name}
# A file of $fpath is the body of the function.
if [[ $funcstack[1] == _${name} ]]; then _${name} "$@"; fi
`;
}

function nodeCase({ path, commands, values, options }: CommandNode): string {
  const words = [
    ...commands.map(({ name, description }) => described(name, description)),
    ...values.map((value) => singleQuoted(value)),
  ];
  const flags = options.flatMap((option) =>
    flagsOf(option).map((flag) => described(flag, option.description)),
  );
  return `    ${singleQuoted(path)})
      subcommands=(${words.join(' ')})
      flags=(${flags.join(' ')}) ;;`;
}

/** The first colon ends the word. */
function described(word: string, description: string): string {
  return singleQuoted(`${word}:${description}`);
}

function valueLine({ value, patterns }: ValueCase): string {
  return `    ${casePattern(patterns)}) ${actionOf(value)}return ;;`;
}

function actionOf(value: ValueCase['value']): string {
  if (value === 'text') return '';
  return value === 'file' ? '_files; ' : `compadd -- ${value.map(singleQuoted).join(' ')}; `;
}
