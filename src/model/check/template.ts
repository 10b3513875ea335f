import { MAX_KEY_CHARS } from './variable.ts';

/**
 * Templates in the texts of checks (src/model/README.md, "Variables and secrets"): `{{NAME}}`, and
 * `{{{NAME}}}`, which in a url is not URI-encoded. Spaces and tabs are allowed inside the braces.
 * All else stays literal: single braces, empty braces, and names that no variable can have.
 */

/** Linear time for any text: no two adjacent parts of the pattern match the same characters. */
const NAME = `[ \\t]*([A-Za-z_][A-Za-z0-9_]{0,${MAX_KEY_CHARS - 1}})[ \\t]*`;
const PLACEHOLDER = new RegExp(`\\{\\{\\{${NAME}\\}\\}\\}|\\{\\{${NAME}\\}\\}`, 'g');

export interface Placeholder {
  readonly name: string;
  /** In three braces. */
  readonly isRaw: boolean;
}

/** A parsed text: its literal parts and its placeholders. */
export type Template = readonly (string | Placeholder)[];

/** null if the text has no placeholder. */
export function compileTemplate(text: string): Template | null {
  if (!text.includes('{{')) return null;
  const parts: (string | Placeholder)[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [whole, raw, plain] = match;
    const name = raw ?? plain;
    if (name === undefined) continue;
    if (match.index > end) parts.push(text.slice(end, match.index));
    parts.push({ name, isRaw: raw !== undefined });
    end = match.index + whole.length;
  }
  if (parts.length === 0) return null;
  if (end < text.length) parts.push(text.slice(end));
  return parts;
}

/** Each name once, in the order of the text. */
export function templateNames(template: Template): readonly string[] {
  const names = template.flatMap((part) => (typeof part === 'string' ? [] : [part.name]));
  return [...new Set(names)];
}

/** The variables that a text names, each once. */
export function namesIn(text: string): readonly string[] {
  const template = compileTemplate(text);
  return template === null ? [] : templateNames(template);
}

/**
 * The text with its values. Placeholders in values are not filled in.
 *
 * @param valueFor the value of a placeholder; `before` is the text filled in so far
 * @returns null if it would be longer than `maxChars`
 */
export function fillTemplate(
  template: Template,
  valueFor: (placeholder: Placeholder, before: string) => string,
  maxChars = Number.POSITIVE_INFINITY,
): string | null {
  let filled = '';
  for (const part of template) {
    filled += typeof part === 'string' ? part : valueFor(part, filled);
    if (filled.length > maxChars) return null;
  }
  return filled;
}
