import { describe, expect, test } from 'vitest';
import { parseJsonSchema } from '../../../../../src/model/check/assertions/json-schema.ts';

function problemOf(schema: unknown): string | null {
  const parsed = parseJsonSchema(typeof schema === 'string' ? schema : JSON.stringify(schema));
  return typeof parsed === 'string' ? parsed : null;
}

function nested(depth: number): unknown {
  let schema: unknown = { type: 'string' };
  for (let level = 0; level < depth; level += 1) schema = { items: schema };
  return schema;
}

const DRAFT_4 = { $schema: 'http://json-schema.org/draft-04/schema#' };
const DRAFT_7 = { $schema: 'http://json-schema.org/draft-07/schema#' };
const REF = { $ref: '#/definitions/name' };
const NAMES = { definitions: { name: { required: ['name'] } } };

describe('a JSON Schema that the agent cannot use is refused', () => {
  test.each<[unknown, string]>([
    ['{', 'it is not JSON'],
    ['[]', 'it must be an object or a boolean'],
    [{ $schema: 'https://example.com/mine' }, '$schema must be one of'],
    [{ $schema: 'constructor' }, '$schema must be one of'],
    [{ properties: { a: { type: 'text' } } }, '/properties/a/type must be one or a list of'],
    [{ properties: [] }, '/properties must be an object of schemas'],
    [{ properties: { 'a/b': 1 } }, '/properties/a~1b must be a schema'],
    [{ required: 'name' }, '/required must be a list of texts'],
    [{ minLength: -1 }, '/minLength must be a whole number'],
    [{ enum: [] }, '/enum must be a list with at least one value'],
    [{ pattern: '(' }, '/pattern must be a valid regular expression'],
    [{ patternProperties: { '(': {} } }, '/patternProperties/( must be a valid regular expression'],
    [{ anyOf: [] }, '/anyOf must not be empty'],
    [{ anyOf: {} }, '/anyOf must be a list of schemas'],
    [{ $ref: 'https://example.com/other.json' }, 'a $ref leads to no part of the schema'],
    [{ $ref: '#/$defs/missing' }, 'a $ref leads to no part of the schema'],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#' } } }, 'a $ref leads back to itself'],
    [{ allOf: [{ $ref: '#' }] }, 'a $ref leads back to itself'],
    [{ dependencies: { a: { not: { $ref: '#' } } } }, 'a $ref leads back to itself'],
    [{ dependencies: { a: ['b'], c: { type: 'text' } } }, '/dependencies/c/type must be one or'],
    [{ dependencies: { a: [1] } }, '/dependencies/a must be a list of texts'],
    [{ exclusiveMinimum: true }, '/exclusiveMinimum must be a number'],
    [{ ...DRAFT_4, exclusiveMinimum: 3 }, '/exclusiveMinimum must be a boolean'],
    [{ $dynamicRef: '#node' }, '/$dynamicRef is not supported'],
    [{ $defs: { a: { $id: 'x' }, b: { $id: 'x' } } }, 'is there twice'],
    [nested(65), 'it is nested deeper than 64 schemas'],
  ])('%j', (schema, problem) => {
    expect(problemOf(schema)).toContain(problem);
  });
});

test('references, anchors, every draft and values that only look like schemas are accepted', () => {
  const schemas: readonly unknown[] = [
    'true',
    'false',
    nested(64),
    { $ref: '#/$defs/a', $defs: { a: { type: ['integer', 'null'] } } },
    { properties: { next: { $ref: '#' } } },
    { $id: 'https://example.com/a', $defs: { b: { $anchor: 'b' } }, items: { $ref: '#b' } },
    { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true },
    { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] },
    { $schema: 'https://json-schema.org/draft/2019-09/schema', contains: {}, minContains: 2 },
    { properties: { type: { const: { type: 'text' } }, required: { default: 'x' } } },
  ];
  expect(schemas.map(problemOf)).toEqual(schemas.map(() => null));
});

describe('a JSON Schema that the agent can use is accepted', () => {
  test.each<[unknown]>([
    [{ properties: { next: { $ref: '#' } }, items: { $ref: '#' } }],
    [{ $ref: '#/$defs/a', allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { type: 'object' } } }],
    [{ dependencies: { a: ['b'], c: { properties: { next: { $ref: '#' } } } } }],
    [{ ...DRAFT_4, dependencies: { id: REF, pattern: REF, $ref: REF, enum: [] }, ...NAMES }],
    [{ ...DRAFT_7, dependencies: { $id: REF, type: REF }, ...NAMES }],
    [{ not: { $ref: '#/dependencies/format' }, dependencies: { format: REF }, ...NAMES }],
    [{ ...DRAFT_4, minimum: 1, exclusiveMinimum: true }],
    // The validator ignores what stands beside a $ref in this draft.
    [
      {
        ...DRAFT_4,
        definitions: { a: { $ref: '#/definitions/b', not: { $ref: '#/definitions/a' } }, b: {} },
      },
    ],
    [{ 'x-note': { allOf: 'all', not: 1, dependencies: ['a'] } }],
  ])('%j', (schema) => {
    expect(problemOf(schema)).toBeNull();
  });
});
