import found from '../../api/check-fields.json' with { type: 'json' };
import type { CheckType } from '../check/model.ts';

/** A field in the OpenAPI document. */
export interface Facts {
  readonly kind: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object';
  readonly isNullable?: boolean;
  readonly isRequired?: boolean;
  readonly default?: unknown;
  readonly values?: readonly (string | number)[];
  readonly min?: number;
  readonly max?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly text?: string;
  /** The kinds of authentication that have the field. */
  readonly authTypes?: readonly string[];
  readonly isSecret?: boolean;
}

const FIELDS = found as unknown as Readonly<
  Record<CheckType | 'all', Readonly<Record<string, Facts>>>
>;

/** All fields of a type by their paths, such as `request.headers[].key`. */
export function fieldsOf(type: CheckType): Readonly<Record<string, Facts>> {
  return { ...FIELDS.all, ...FIELDS[type] };
}

/** The path of all entries of a list: `request.headers[].key` of `request.headers[3].key`. */
export function patternOf(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[]');
}

/** @param path of one field, or of all entries of a list; null if the type has no such field */
export function factsAt(type: CheckType, path: string): Facts | null {
  const pattern = patternOf(path);
  return FIELDS[type][pattern] ?? FIELDS.all[pattern] ?? null;
}

/** The fields that `auth` has for this kind of authentication, in their order. */
export function authFieldsOf(
  type: CheckType,
  authType: unknown,
): readonly (Facts & { readonly path: string })[] {
  return Object.entries(fieldsOf(type))
    .filter(([, { authTypes }]) => authTypes?.some((one) => one === authType) === true)
    .map(([path, facts]) => ({ ...facts, path }));
}

/** The unit of a number, from its name or the start of its description; null for counts. */
export function unitOf(path: string, { text = '' }: Facts): string | null {
  if (/^Milliseconds\b/.test(text)) return 'ms';
  if (/^Percent\b|\bpercentage\b/.test(text)) return '%';
  if (/Seconds$/.test(path)) return 's';
  return /^Minutes\b|\bminutes\.$/.test(text) ? 'min' : null;
}

/** The description of a field without the unit that is shown beside it. An empty control means null. */
export function hintOf(facts: Facts): string {
  return (facts.text ?? '')
    .replace(/^(Milliseconds|Percent)\. /, '')
    .replaceAll(/(?<=^|\. )null\b/g, 'Empty');
}

/** `From 1 to 50.`, and the default. */
export function boundsText({ min, max, default: standard }: Facts, unit: string | null): string {
  const after = unit === null ? '' : ` ${unit}`;
  const range =
    max !== undefined
      ? `From ${numberText(min ?? 0)} to ${numberText(max)}${after}.`
      : min !== undefined && min > 0
        ? `At least ${numberText(min)}${after}.`
        : '';
  const usual = typeof standard === 'number' ? `Default: ${numberText(standard)}${after}.` : '';
  return [range, usual].filter((part) => part !== '').join(' ');
}

const NUMBER = new Intl.NumberFormat('en');
const numberText = (value: number): string => NUMBER.format(value);
