import { MASK } from '../../../../model/sensitive-headers.ts';
import { formsOfSecret, isSecretWorthy, type SecretForm } from './secret-forms.ts';
import { maskPatterns } from './secret-patterns.ts';

/** Takes secrets out of texts. */
export interface Scrubber {
  text(text: string): string;
  /** All texts inside of a value. The names of fields stay. */
  deep<T>(value: T): T;
  /** Whether a text still holds one of the secrets that are known. */
  holdsKnown(text: string): boolean;
}

/**
 * @param secrets values that are to be masked in every form; those that are no secrets by
 *   themselves (too short, `http://`) are left out
 */
export function createScrubber(secrets: readonly string[]): Scrubber {
  // The longest first: another may be a part of it.
  const forms = [...new Set(secrets)]
    .filter(isSecretWorthy)
    .sort((one, other) => other.length - one.length)
    .flatMap(formsOfSecret);
  // Hardly any of them is ever met, and to compile all would take long.
  const compiled = new Map<SecretForm, RegExp>();
  const expressionOf = (form: SecretForm): RegExp => {
    const known = compiled.get(form);
    if (known !== undefined) return known;
    const expression = new RegExp(form.pattern(), 'gu');
    compiled.set(form, expression);
    return expression;
  };
  const mayHold = (text: string, { probes }: SecretForm): boolean =>
    probes.some((probe) => text.includes(probe));

  const text = (given: string): string => {
    let masked = given;
    for (const form of forms) {
      if (mayHold(masked, form)) masked = masked.replaceAll(expressionOf(form), MASK);
    }
    return maskPatterns(masked);
  };
  const deep = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (Array.isArray(value)) return value.map(deep);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, deep(inner)]));
  };
  return {
    text,
    deep: <T>(value: T) => deep(value) as T,
    holdsKnown: (given) =>
      forms.some((form) => mayHold(given, form) && given.search(expressionOf(form)) >= 0),
  };
}
