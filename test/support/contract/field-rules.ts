/** The specification's rule for one value. */
export interface Rule {
  readonly type:
    | 'string'
    | 'number'
    | 'integer'
    | 'boolean'
    /** A calendar date. */
    | 'date'
    | 'date-time'
    /** YYYY-MM-DD HH:MM:SS */
    | 'date and time'
    | 'object'
    | 'array'
    /** An object with any keys, whose values have the same form. */
    | 'map'
    /** An object, an array or a text, not specified further. */
    | 'not shown';
  /** The specification writes `or null`. */
  readonly orNull?: true;
  /** The specification writes `Required`. */
  readonly required?: true;
  /** Responses may omit it. */
  readonly mayBeAbsent?: true;
  /** Clients never write it. */
  readonly responseOnly?: true;
  readonly default?: unknown;
  /** The only allowed values. */
  readonly values?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** In characters. */
  readonly maxLength?: number;
  /** The fields of an object. */
  readonly fields?: Fields;
  /** The rule of each item of an array, or of each value of a map. */
  readonly each?: Rule;
}

/** Fields by name, in the order of the specification. */
export type Fields = Readonly<Record<string, Rule>>;

/** One table of part 2 or 7. */
export interface Table {
  /** Such as `2.2`. */
  readonly section: string;
  readonly resource: string;
  readonly fields: Fields;
}

export const string: Rule = { type: 'string' };
export const number: Rule = { type: 'number' };
export const integer: Rule = { type: 'integer' };
export const boolean: Rule = { type: 'boolean' };
export const date: Rule = { type: 'date' };
export const dateTime: Rule = { type: 'date-time' };
export const dateAndTime: Rule = { type: 'date and time' };
export const anyObject: Rule = { type: 'object' };
export const notShown: Rule = { type: 'not shown' };

export function oneOf(...values: readonly (string | number)[]): Rule {
  return { type: typeof values[0] === 'number' ? 'integer' : 'string', values };
}

export function object(fields: Fields): Rule {
  return { type: 'object', fields };
}

export function array(each: Rule): Rule {
  return { type: 'array', each };
}

export function map(each: Rule): Rule {
  return { type: 'map', each };
}

export function orNull(rule: Rule): Rule {
  return { ...rule, orNull: true };
}

export function required(rule: Rule): Rule {
  return { ...rule, required: true };
}

export function absentOr(rule: Rule): Rule {
  return { ...rule, mayBeAbsent: true };
}

export function responseOnly(rule: Rule): Rule {
  return { ...rule, responseOnly: true };
}

export function withDefault(value: unknown, rule: Rule): Rule {
  return { ...rule, default: value };
}

/** Gives several fields the same rule. */
export function all(names: readonly string[], rule: Rule): Fields {
  return Object.fromEntries(names.map((name) => [name, rule]));
}

/** The values of a new resource whose creator omitted the field. */
export function defaultsOf({ fields }: Table): Readonly<Record<string, unknown>> {
  const entries = Object.entries(fields).flatMap(([name, rule]) =>
    rule.default === undefined ? [] : [[name, rule.default]],
  );
  return Object.fromEntries(entries);
}
