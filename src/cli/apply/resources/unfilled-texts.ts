import { compileTemplate, type Template } from '../../../model/check/template.ts';
import type { OwnVariable } from '../../../model/check/variable.ts';
import { MASK } from '../../../model/credentials/mask.ts';
import { hasNames, TEMPLATE } from '../fill-secrets.ts';
import type { KnownVariable } from '../variable-plan.ts';
import { mayBeSame } from './hidden-fields.ts';

/**
 * A config of a channel with the text of the service in place of each text that some values of its names
 * would make the same. What such a text has besides its names is compared.
 */
export function withKnownTexts(known: unknown, given: unknown): unknown {
  if (typeof given === 'string') return knownText(known, given);
  if (Array.isArray(given)) {
    const list: readonly unknown[] = Array.isArray(known) ? known : [];
    return given.map((each, n) => withKnownTexts(list[n], each));
  }
  if (!isObject(given)) return given;
  const before: Readonly<Record<string, unknown>> = isObject(known) ? known : {};
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key,
      key === TEMPLATE ? value : withKnownTexts(before[key], value),
    ]),
  );
}

/** The same for the secret values of variables. */
export function withKnownValues(
  variables: readonly OwnVariable[],
  known: readonly KnownVariable[],
): readonly OwnVariable[] {
  const values = new Map(known.map(({ key, value }) => [key, value]));
  return variables.map((variable) => {
    const { key, value, secret } = variable;
    return secret ? { ...variable, value: knownText(values.get(key), value) } : variable;
  });
}

/**
 * The texts of the service that may be values of names, and must not be shown: those of fields in which
 * the file has names, unless the service has masked them.
 */
export function possibleValues(known: unknown, given: unknown): ReadonlySet<string> {
  const texts = textsByField(given);
  const fields = new Set(texts.flatMap(({ field, text }) => (hasNames(text) ? [field] : [])));
  const open = new Set(texts.map(({ text }) => text));
  return new Set(
    textsByField(known).flatMap(({ field, text }) =>
      fields.has(field) && !open.has(text) && !text.includes(MASK) ? [text] : [],
    ),
  );
}

interface FieldText {
  /** Without the positions in lists, such as `.headers.value`: entries may have moved. */
  readonly field: string;
  readonly text: string;
}

function textsByField(value: unknown, field = ''): readonly FieldText[] {
  if (typeof value === 'string') return [{ field, text: value }];
  if (Array.isArray(value)) return value.flatMap((each) => textsByField(each, field));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === TEMPLATE ? [] : textsByField(child, `${field}.${key}`),
  );
}

function knownText(known: unknown, given: string): string {
  const template = compileTemplate(given);
  if (template === null || typeof known !== 'string') return given;
  return mayBeSame(known, given) || canBecome(template, known) ? known : given;
}

/** Whether some values of its names make the template this text. */
function canBecome(template: Template, text: string): boolean {
  let end = 0;
  for (const [n, part] of template.entries()) {
    if (typeof part !== 'string') continue;
    const isLast = n === template.length - 1;
    const start = isLast ? text.length - part.length : text.indexOf(part, end);
    if (start < end || (n === 0 && start > 0) || !text.startsWith(part, start)) return false;
    end = start + part.length;
  }
  return true;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
