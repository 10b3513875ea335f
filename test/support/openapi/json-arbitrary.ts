import fc from 'fast-check';
import { type JsonSchema, type OpenApiDocument, resolved } from './document.ts';

/** What breaks what is built of texts. */
const NASTY_TEXTS = [
  '',
  ' ',
  "'; drop table checks; --",
  '\u0000',
  '\ud800',
  '😀'.repeat(40),
  '../../etc/passwd',
  '{{X}}',
  '<script>',
  '%00',
  '-1',
  'null',
  'a'.repeat(300),
  '__proto__',
  '9999-12-31T23:59:59.999Z',
  '0000-00-00',
  '2026-02-30',
] as const;
const NASTY_NUMBERS = [
  0,
  -1,
  0.5,
  -0,
  1e308,
  2 ** 31,
  2 ** 53,
  2 ** 63,
  Number.MIN_VALUE,
  100_000_000,
] as const;

/** Whatever it is, it is no value that anybody would send on purpose. */
const nasty: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...NASTY_TEXTS, ...NASTY_NUMBERS, null, true, [], {}, [[]], { a: 1 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Texts that some pattern or format of the API takes. */
const KNOWN_TEXTS = [
  'shop',
  'a.example.com',
  'https://a.example.com/path',
  'eu-west-1',
  '2026-01-31',
  '2026-03-01T10:00:00Z',
  '2026-03-01T12:00:00.000Z',
  '#ff8800',
  '$.a',
  'TOKEN',
  'ops@example.com',
  '+4915112345678',
  '192.0.2.7',
  '00000000-0000-4000-8000-000000000000',
];

/**
 * Values of a schema, most of them good as far as the schema tells.
 *
 * @param nastiness of 100 values so many are something else
 */
export function arbitraryOf(
  document: OpenApiDocument,
  given: JsonSchema,
  nastiness: number,
): fc.Arbitrary<unknown> {
  const schema = resolved(document, given);
  const of = (inner: JsonSchema) => arbitraryOf(document, inner, nastiness);
  const good = goodOf(schema, of);
  return nastiness === 0
    ? good
    : fc.oneof(
        { weight: 100 - nastiness, arbitrary: good },
        { weight: nastiness, arbitrary: nasty },
      );
}

function goodOf(
  schema: JsonSchema,
  of: (inner: JsonSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return fc.oneof(...variants.map(of));
  if (schema.allOf !== undefined) return of(Object.assign({}, ...schema.allOf));
  const [type] = [schema.type].flat();
  switch (type) {
    case 'object':
      return objectOf(schema, of);
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
  of: (inner: JsonSchema) => fc.Arbitrary<unknown>,
): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, of(field)]),
  );
  const known = fc.record(fields, { requiredKeys: required.filter((name) => name in fields) });
  if (typeof additionalProperties !== 'object') return known;
  const keys = fc.constantFrom('a', 'b', 'eu-west-1');
  return fc.dictionary(keys, of(additionalProperties), { maxKeys: 2 });
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
