import { randomBytes } from 'node:crypto';
import type { Check } from '../../model/check/check.ts';
import { fillUrl } from '../../model/check/request/request-url.ts';
import {
  compileTemplate,
  fillTemplate,
  type Placeholder,
  type Template,
} from '../../model/check/template.ts';
import { mapTexts, type TextField } from './check-texts.ts';
import { LIMITS_CHARS } from './value-problem.ts';

const NONCE_BYTES = 16;

/**
 * Texts that stand for variables inside scripts. Nobody else can guess them, so that a placeholder
 * in the response of a target is never filled in.
 */
export class Placeholders {
  /** Lower case, since a script may put it into a host name. */
  readonly #nonce = randomBytes(NONCE_BYTES).toString('hex');
  readonly #pattern = new RegExp(`vv${this.#nonce}n(\\d+)z`, 'g');
  readonly #names: string[] = [];

  of(name: string): string {
    const known = this.#names.indexOf(name);
    const index = known === -1 ? this.#names.push(name) - 1 : known;
    return `vv${this.#nonce}n${index}z`;
  }

  /** null for a text without placeholders. */
  templateOf(text: string): Template | null {
    if (!text.includes(this.#nonce)) return null;
    const parts: (string | Placeholder)[] = [];
    let end = 0;
    for (const match of text.matchAll(this.#pattern)) {
      const name = this.#names[Number(match[1])];
      if (name === undefined) continue;
      if (match.index > end) parts.push(text.slice(end, match.index));
      parts.push({ name, isRaw: false });
      end = match.index + match[0].length;
    }
    if (parts.length === 0) return null;
    if (end < text.length) parts.push(text.slice(end));
    return parts;
  }

  /** The text for users, with variables written as in templates. */
  shown(text: string): string {
    return text.replaceAll(this.#pattern, (whole, index) => {
      const name = this.#names[Number(index)];
      return name === undefined ? whole : `{{${name}}}`;
    });
  }
}

/** The view of a check that its scripts get. */
export interface ScriptView {
  /** The check as it is stored. */
  readonly check: Check;
  /**
   * The check with its templates filled in, as far as scripts may see the values: variables that
   * may be sent only to some targets, and those without a value, are placeholders.
   */
  readonly shown: Check;
  readonly variables: readonly (readonly [name: string, value: string])[];
  readonly placeholders: Placeholders;
  /** The template of a text that is the same in `shown`, whether a script left it or made it. */
  templateOf(text: string, field: TextField): Template | null;
}

export function scriptViewOf(
  check: Check,
  variables: ScriptView['variables'],
  placeholders: Placeholders,
): ScriptView {
  const values = new Map(variables);
  const templates = new Map<string, Template>();
  const valueFor = ({ name }: Placeholder): string => values.get(name) ?? placeholders.of(name);
  const shown = mapTexts(check, (text, field) => {
    const template = compileTemplate(text);
    if (template === null) return text;
    const fill = field.kind === 'url' ? fillUrl : fillTemplate;
    const filled = fill(template, valueFor, LIMITS_CHARS[field.kind]) ?? text;
    templates.set(keyOf(filled, field), template);
    return filled;
  });
  return {
    check,
    shown,
    variables,
    placeholders,
    templateOf: (text, field) => templates.get(keyOf(text, field)) ?? placeholders.templateOf(text),
  };
}

function keyOf(text: string, { kind, label }: TextField): string {
  return JSON.stringify([kind, label(), text]);
}
