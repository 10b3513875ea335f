import { type CommandNode, flagsOf, nodesOf, type OptionNode } from './command-tree.ts';

/** Options with the same kind of value, as patterns `PATH FLAG`. */
export interface ValueCase {
  readonly value: Exclude<OptionNode['value'], 'nothing'>;
  readonly patterns: readonly string[];
}

/** The possible values of options. Options with the same values share an entry. */
export function valueCases(tree: CommandNode): readonly ValueCase[] {
  const cases = new Map<string, { value: ValueCase['value']; patterns: string[] }>();
  for (const { path, options } of nodesOf(tree)) {
    for (const option of options) {
      const { value } = option;
      if (value === 'nothing') continue;
      const key = typeof value === 'string' ? value : JSON.stringify(value);
      const known = cases.get(key) ?? { value, patterns: [] };
      known.patterns.push(...flagsOf(option).map((flag) => `${path} ${flag}`));
      cases.set(key, known);
    }
  }
  return [...cases.values()];
}

/** Quotes a text for bash and zsh. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Formats the patterns of a `case` for bash and zsh. */
export function casePattern(texts: readonly string[]): string {
  return texts.map(singleQuoted).join('|');
}
