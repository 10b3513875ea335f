import { patternParts } from '../../../model/check/expressions.ts';
import { mappingOf, textOf, textsOf } from '../common/fields.ts';
import { patternFromGo } from '../common/patterns.ts';

/** Names of labels with their values; those with `__` at the start are not stored by Prometheus. */
export type Labels = ReadonlyMap<string, string>;

const MAX_VALUE_CHARS = 2048;

interface Rule {
  readonly action: string;
  readonly sources: readonly string[];
  readonly separator: string;
  readonly pattern: RegExp;
  readonly target: string;
  readonly replacement: string;
}

/** Applies one rule of `relabel_configs`; returns null if the rule drops the target. */
export type RelabelStep = (labels: Labels) => Labels | null;

/** @returns null for an action or a pattern that is not understood */
export function relabelStep(raw: unknown): RelabelStep | null {
  const rule = readRule(raw);
  if (rule === null) return null;
  switch (rule.action) {
    case 'replace':
      return (labels) => replaced(labels, rule);
    case 'lowercase':
      return (labels) => withLabel(labels, rule.target, joined(labels, rule).toLowerCase());
    case 'uppercase':
      return (labels) => withLabel(labels, rule.target, joined(labels, rule).toUpperCase());
    case 'keep':
      return (labels) => (rule.pattern.test(joined(labels, rule)) ? labels : null);
    case 'drop':
      return (labels) => (rule.pattern.test(joined(labels, rule)) ? null : labels);
    case 'labeldrop':
      return (labels) => new Map([...labels].filter(([name]) => !rule.pattern.test(name)));
    case 'labelkeep':
      return (labels) => new Map([...labels].filter(([name]) => rule.pattern.test(name)));
    case 'labelmap':
      return (labels) => mapped(labels, rule);
    default:
      return null;
  }
}

function readRule(raw: unknown): Rule | null {
  const { source_labels, separator, regex, target_label, replacement, action } = mappingOf(raw);
  const pattern = patternFromGo(textOf(regex) ?? '(.*)');
  if (pattern === null) return null;
  const { flags, source: inner } = patternParts(pattern);
  return {
    action: (textOf(action) ?? 'replace').toLowerCase(),
    sources: textsOf(source_labels),
    separator: textOf(separator) ?? ';',
    // The whole value must match.
    pattern: new RegExp(`^(?:${inner})$`, `s${flags.replace('s', '')}`),
    target: textOf(target_label) ?? '',
    replacement: textOf(replacement) ?? '$1',
  };
}

function joined(labels: Labels, { sources, separator }: Rule): string {
  const values = sources.map((name) => labels.get(name) ?? '');
  return values.join(separator).slice(0, MAX_VALUE_CHARS);
}

function replaced(labels: Labels, rule: Rule): Labels {
  const match = rule.pattern.exec(joined(labels, rule));
  if (match === null) return labels;
  return withLabel(labels, expanded(rule.target, match), expanded(rule.replacement, match));
}

function mapped(labels: Labels, rule: Rule): Labels {
  const added = [...labels].flatMap(([name, value]) => {
    const match = rule.pattern.exec(name);
    return match === null ? [] : [[expanded(rule.replacement, match), value] as const];
  });
  return new Map([...labels, ...added]);
}

/** An empty value removes the label. */
function withLabel(labels: Labels, name: string, value: string): Labels {
  const changed = new Map(labels);
  if (value === '') changed.delete(name);
  else changed.set(name, value);
  return changed;
}

/** `$1`, `${1}` and `${name}` stand for groups, `$$` for a dollar sign. */
function expanded(template: string, match: RegExpExecArray): string {
  return template.replace(/\$(?:\$|(\w+)|\{(\w+)\})/g, (_, plain?: string, braced?: string) => {
    const name = plain ?? braced;
    if (name === undefined) return '$';
    const value = /^\d+$/.test(name) ? match[Number(name)] : match.groups?.[name];
    return value ?? '';
  });
}
