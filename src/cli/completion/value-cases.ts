import { type CommandNode, flagsOf, nodesOf, type OptionNode } from './command-tree.ts';

/** Options with the same kind of value, as patterns `PATH FLAG`. */
export interface ValueCase {
  readonly value: Exclude<OptionNode['value'], 'nothing'>;
  readonly patterns: readonly string[];
}

/** What may follow options that have a value. Options with the same values share an entry. */
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

/** For bash and zsh: a text in single quotes. */
export function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** For bash and zsh: the patterns of a `case`. */
export function casePattern(texts: readonly string[]): string {
  return texts.map(singleQuoted).join('|');
}
