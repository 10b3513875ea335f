import fc from 'fast-check';
import { type JsonSchema, type OpenApiDocument, resolved } from './document.ts';
import { KNOWN_TEXTS, nasty } from './known-values.ts';

export interface ValueOptions {
  /** The percentage of invalid values. */
  readonly nastiness: number;
  /** The percentage of optional fields that are present. */
  readonly presence: number;
  /** Knowledge about a field beyond its schema. */
  fieldOf(name: string): FieldHint | null;
}

export interface FieldHint {
  /** null: only the schema. */
  readonly values: fc.Arbitrary<unknown> | null;
  /** The default of all fields applies if left out. */
  readonly presence?: number;
}

const ABSENT = Symbol('absent');

/** Values of a schema, most of them valid by the schema and the hints. */
export function arbitraryOf(
  document: OpenApiDocument,
  given: JsonSchema,
  options: ValueOptions,
): fc.Arbitrary<unknown> {
  const { nastiness } = options;
  const of = (inner: JsonSchema): fc.Arbitrary<unknown> => arbitraryOf(document, inner, options);
  const good = goodOf(resolved(document, given), of, options);
  return withNasty(good, nastiness);
}

function withNasty(good: fc.Arbitrary<unknown>, nastiness: number): fc.Arbitrary<unknown> {
  if (nastiness === 0) return good;
  return fc.oneof(
    { weight: 100 - nastiness, arbitrary: good },
    { weight: nastiness, arbitrary: nasty },
  );
}

type Of = (inner: JsonSchema) => fc.Arbitrary<unknown>;

function goodOf(schema: JsonSchema, of: Of, options: ValueOptions): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return fc.oneof(...variants.map(of));
  if (schema.allOf !== undefined) return of(Object.assign({}, ...schema.allOf));
  const [type] = [schema.type].flat();
  switch (type) {
    case 'object':
      return objectOf(schema, of, options);
    case 'array':
      return fc.array(of(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, (schema.minItems ?? 0) + 3),
      });
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return numberOf(schema, type === 'integer');
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  of: Of,
  { nastiness, presence, fieldOf }: ValueOptions,
): fc.Arbitrary<unknown> {
  if (typeof additionalProperties === 'object' && Object.keys(properties).length === 0) {
    return fc.dictionary(fc.constantFrom('a', 'b', 'eu-west-1'), of(additionalProperties), {
      maxKeys: 2,
    });
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    const hint = fieldOf(name);
    const values = hint?.values ? withNasty(hint.values, nastiness) : of(field);
    const there = required.includes(name) ? 100 : (hint?.presence ?? presence);
    return fc.oneof(
      { weight: there, arbitrary: values.map((value): unknown => [name, value]) },
      { weight: 100 - there, arbitrary: fc.constant<unknown>(ABSENT) },
    );
  });
  return fc
    .tuple(...fields)
    .map((found) =>
      Object.fromEntries(found.filter((each) => each !== ABSENT) as [string, unknown][]),
    );
}

function textOf({ minLength = 0, maxLength = 40, pattern, format }: JsonSchema) {
  if (format === 'date-time') {
    const noInvalidDate = { noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') };
    return fc.date(noInvalidDate).map((date) => date.toISOString());
  }
  if (format === 'date') return fc.constantFrom('2026-01-31', '2024-02-29');
  if (format === 'uuid') return fc.uuid();
  const known = KNOWN_TEXTS.filter(
    (text) =>
      text.length >= minLength &&
      text.length <= maxLength &&
      (pattern === undefined || new RegExp(pattern, 'u').test(text)),
  );
  const any = fc.string({
    unit: 'grapheme',
    minLength,
    maxLength: Math.max(minLength, Math.min(maxLength, 40)),
  });
  if (known.length === 0) return any;
  if (pattern !== undefined) return fc.constantFrom(...known);
  return fc.oneof(fc.constantFrom(...known), any);
}

function numberOf(
  { minimum, exclusiveMinimum, maximum }: JsonSchema,
  isWhole: boolean,
): fc.Arbitrary<number> {
  const low = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 1);
  const high = Math.min(maximum ?? low + 10_000, Number.MAX_SAFE_INTEGER);
  const edges = fc.constantFrom(low, high);
  if (isWhole)
    return fc.oneof(
      edges,
      fc.integer({ min: Math.ceil(low), max: Math.min(Math.floor(high), 2 ** 31 - 1) }),
    );
  return fc.oneof(edges, fc.double({ min: low, max: high, noNaN: true }));
}
