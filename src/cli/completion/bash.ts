import { type CommandNode, flagsOf, nodesOf } from './command-tree.ts';
import { casePattern, singleQuoted, type ValueCase, valueCases } from './value-cases.ts';

/** A script for bash 4.4 and later, which defines and registers the function `_NAME`. */
export function bashCompletion(tree: CommandNode): string {
  const { name } = tree;
  const nodes = nodesOf(tree);
  const paths = nodes.flatMap(({ path }) => (path === '' ? [] : [path]));
  const withFile = nodes.filter(({ takesFile }) => takesFile).map(({ path }) => path);
  return `# bash completion of ${name}. For this shell: eval "$(${name} completion bash)"
_${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local node='' words='' word
  COMPREPLY=()
  # "--option=value" is three words.
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$node/$word" in
      ${casePattern(paths)}) node="$node/$word" ;;
    esac
  done
  case "$node $previous" in
${valueCases(tree).map(valueLine).join('\n')}
  esac
  if [[ $current == -* ]]; then
    case "$node" in
${nodes.map((node) => wordsLine(node, node.options.flatMap(flagsOf))).join('\n')}
    esac
  else
    case "$node" in
${nodes.map((node) => wordsLine(node, wordsOf(node))).join('\n')}
    esac
${withFile.length === 0 ? '' : `    case "$node" in ${casePattern(withFile)}) compopt -o default ;; esac\n`}  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _${name} ${name}
`;
}

function wordsOf({ commands, values }: CommandNode): readonly string[] {
  return [...commands.map(({ name }) => name), ...values];
}

function wordsLine({ path }: CommandNode, words: readonly string[]): string {
  return `      ${singleQuoted(path)}) words=${singleQuoted(words.join(' '))} ;;`;
}

function valueLine({ value, patterns }: ValueCase): string {
  return `    ${casePattern(patterns)}) ${actionOf(value)}return ;;`;
}

/** Without matches, bash completes files if compopt enables this. */
function actionOf(value: ValueCase['value']): string {
  if (value === 'text') return '';
  if (value === 'file') return 'compopt -o default; ';
  const words = singleQuoted(value.join(' '));
  return `COMPREPLY=($(compgen -W ${words} -- "$current")); `;
}
