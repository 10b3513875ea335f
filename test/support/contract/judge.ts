import type { Rule, Table } from './field-rules.ts';
import { agreedFields } from './known-differences.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const DATE_AND_TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/;

/** Every difference between a response and a table, as `2.2 field: problem`. */
export function differences(table: Table, answer: unknown): readonly string[] {
  const rule: Rule = { type: 'object', fields: agreedFields(table) };
  return judge(rule, answer, '').map((one) => `${table.section} ${one}`);
}

/** The same for a response that is an array: the index precedes the field. */
export function differencesInEach(table: Table, answer: unknown): readonly string[] {
  const each: Rule = { type: 'object', fields: agreedFields(table) };
  return judge({ type: 'array', each }, answer, '').map((one) => `${table.section} ${one}`);
}

/** Checks a value against its rule; `path` is the value's path. */
export function judge(rule: Rule, value: unknown, path: string): readonly string[] {
  if (value === undefined) return rule.mayBeAbsent ? [] : [`${path}: is missing`];
  if (value === null) return rule.orNull ? [] : [`${path}: null is not allowed`];
  if (!hasType(rule, value)) {
    return [`${path}: ${JSON.stringify(value).slice(0, 100)} is no ${rule.type}`];
  }
  return [...outOfRange(rule, value, path), ...withinOf(rule, value, path)];
}

function withinOf({ fields, each }: Rule, value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) {
    return each === undefined
      ? []
      : value.flatMap((item, index) => judge(each, item, `${path}[${index}]`));
  }
  if (!isObject(value)) return [];
  if (each !== undefined) {
    return Object.entries(value).flatMap(([key, one]) => judge(each, one, joined(path, key)));
  }
  return Object.entries(fields ?? {}).flatMap(([name, rule]) =>
    judge(rule, value[name], joined(path, name)),
  );
}

function outOfRange(rule: Rule, value: unknown, path: string): readonly string[] {
  const { values, minimum, maximum, maxLength } = rule;
  const wrong: string[] = [];
  const say = (what: string): void => void wrong.push(`${path}: ${String(value)} ${what}`);
  if (values !== undefined && !values.some((one) => one === value)) {
    say(`is none of ${values.join(', ')}`);
  }
  if (typeof value === 'number') {
    if (minimum !== undefined && value < minimum) say(`is less than ${minimum}`);
    if (maximum !== undefined && value > maximum) say(`is more than ${maximum}`);
  }
  if (typeof value === 'string' && maxLength !== undefined && value.length > maxLength) {
    say(`is longer than ${maxLength}`);
  }
  return wrong;
}

function hasType({ type }: Rule, value: unknown): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case 'date':
      return typeof value === 'string' && DATE.test(value) && isInstant(`${value}T00:00:00Z`);
    case 'date-time':
      return typeof value === 'string' && TIMESTAMP.test(value) && isInstant(value);
    case 'date and time':
      return (
        typeof value === 'string' &&
        DATE_AND_TIME.test(value) &&
        isInstant(`${value.replace(' ', 'T')}Z`)
      );
    case 'array':
      return Array.isArray(value);
    case 'object':
    case 'map':
      return isObject(value);
    case 'not shown':
      return typeof value === 'object' || typeof value === 'string';
  }
}

/** Invalid dates, such as 30 February, roll over into others. */
function isInstant(timestamp: string): boolean {
  const ms = Date.parse(timestamp);
  return Number.isFinite(ms) && new Date(ms).toISOString().slice(0, 19) === timestamp.slice(0, 19);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function joined(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
