import type { Rule } from './field-rules.ts';

export interface Edges {
  readonly taken: readonly unknown[];
  readonly refused: readonly unknown[];
}

/** The last valid values of a rule on each side, and the first invalid ones. */
export function edgesOf(rule: Rule): Edges {
  const { type, orNull, values, minimum, maximum, maxLength, each } = rule;
  const taken: unknown[] = orNull ? [null] : [];
  const refused: unknown[] = [];
  if (values !== undefined) {
    taken.push(...values);
    refused.push(type === 'integer' ? 3 : 'NONE_SUCH', '');
  }
  if (minimum !== undefined) {
    taken.push(minimum);
    refused.push(minimum - 1);
  }
  if (maximum !== undefined) {
    taken.push(maximum);
    refused.push(maximum + 1);
  }
  if (maxLength !== undefined) {
    taken.push('x'.repeat(maxLength));
    refused.push('x'.repeat(maxLength + 1));
  }
  if (type === 'boolean') {
    taken.push(true, false);
    refused.push('yes', 1);
  }
  if (type === 'number' || type === 'integer') refused.push('many');
  if (type === 'array') {
    const inner = each === undefined ? { taken: [], refused: [] } : edgesOf(each);
    taken.push(...inner.taken.map((one) => [one]));
    refused.push('none', ...inner.refused.map((one) => [one]));
  }
  if (type === 'string' && values === undefined) refused.push(1);
  return { taken, refused };
}
