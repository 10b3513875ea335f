import { expect, test } from 'vitest';
import { assertionInput } from '../../../../src/agent/assertions/assertion-sources.ts';
import {
  evaluateAssertion,
  parseJson,
  shownOutcome,
} from '../../../../src/agent/assertions/evaluate-assertion.ts';
import type { Assertion } from '../../../../src/model/check/assertions/assertion.ts';

interface Given extends Partial<Assertion> {
  readonly schema: unknown;
  readonly body: unknown;
  readonly mask?: (text: string) => string;
}

function outcome({ schema, body, mask = (text) => text, ...given }: Given) {
  const assertion: Assertion = {
    source: 'JSON_SCHEMA',
    property: '',
    comparison: 'EQUALS',
    target: JSON.stringify(schema),
    regex: null,
    ...given,
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const input = assertionInput(assertion, { kind: 'json-text', text });
  return shownOutcome(evaluateAssertion(assertion, input, parseJson), mask);
}

const ITEMS = {
  type: 'object',
  required: ['items'],
  properties: {
    items: {
      items: {
        required: ['name'],
        properties: { name: { type: 'string' }, 'price/€': { minimum: 0 }, tag: { enum: ['a'] } },
        additionalProperties: false,
      },
    },
    contact: { anyOf: [{ type: 'string' }, { type: 'object', required: ['mail'] }] },
  },
};

test('a body that is valid against the schema passes, and fails what asks for the opposite', () => {
  const body = { items: [{ name: 'x', 'price/€': 1 }] };
  expect(outcome({ schema: ITEMS, body })).toEqual({ actual: JSON.stringify(body), error: null });
  expect(outcome({ schema: ITEMS, body, comparison: 'NOT_EQUALS' }).error).toBe(
    'expected the body not to be valid against the JSON Schema, but it was',
  );
  expect(outcome({ schema: ITEMS, body: {}, comparison: 'NOT_EQUALS' }).error).toBeNull();
});

test('the error names the first values that fail by JSON pointer, without the parts around them', () => {
  const items = [{}, { name: 1, 'price/€': -2, tag: 'b', more: 1 }, { name: 2 }, { name: 3 }];
  expect(outcome({ schema: ITEMS, body: { items, contact: 7 } }).error).toBe(
    [
      'expected the body to be valid against the JSON Schema, but /items/0: does not have required property "name"',
      '/items/1/name: type "number" is invalid. Expected "string"',
      '/items/1/price~1€: -2 is less than 0',
      '/items/1/tag: does not match any of ["a"]',
      '/items/1/more: nothing is allowed here',
      'and 3 more',
    ].join('; '),
  );
  expect(outcome({ schema: ITEMS, body: { items: [], contact: 7 } }).error).toMatch(
    /, but \/contact: does not match any subschemas$/,
  );
  expect(outcome({ schema: ITEMS, body: [] }).error).toContain('but at the top: type "array"');
});

test('a JSONPath selects the parts to validate, and no match is null', () => {
  const schema = { type: 'integer' };
  const of = (body: unknown) => outcome({ schema, body, property: '$.n[*]' }).error;
  expect(of({ n: [1, 2] })).toBeNull();
  expect(of({ n: [1, 'x'] })).toContain('expected $.n[*] of the body to be valid');
  expect(of({})).toContain('type "null" is invalid');
});

test('a body that is no JSON fails', () => {
  expect(outcome({ schema: true, body: '<html>' }).error).toContain('the body is not JSON: ');
});

test('a list with more errors than one call takes as arguments still fails by its first value', () => {
  const body = Array.from({ length: 150_000 }, () => 'x');
  const schema = { allOf: [{ items: { type: 'integer' } }] };
  expect(outcome({ schema, body }).error).toContain('but /0: type "string" is invalid');
});

test('only what comes from the response is masked, so that a mask confirms no guess', () => {
  const mask = (text: string) => text.replaceAll(/s3cret|4711/g, '********');
  const schema = {
    properties: { s3cret: { maximum: 5 }, a: { enum: ['s3cret'] } },
    required: ['s3cret2'],
  };
  const { error } = outcome({ schema, body: { s3cret: 4711, a: 1 }, mask });
  expect(error).toContain('required property "s3cret2"');
  expect(error).toContain('/********: ******** is greater than 5');
  expect(error).toContain('/a: does not match any of ["s3cret"]');
});

test('dependencies of drafts 4 and 7 hold, also those of properties that are named as keywords', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { named: { required: ['name'] } },
    dependencies: { card: ['address'], id: { $ref: '#/definitions/named' } },
  };
  expect(outcome({ schema, body: { name: 'x', id: 1, card: 2, address: 'y' } }).error).toBeNull();
  expect(outcome({ schema, body: { card: 2 } }).error).toContain('does not have "address"');
  expect(outcome({ schema, body: { id: 1 } }).error).toContain(
    'does not have required property "name"',
  );
});
