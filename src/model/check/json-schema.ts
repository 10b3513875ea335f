import { dereference, type Schema, type SchemaDraft } from '@cfworker/json-schema';

/** JSON Schemas in assertions (src/model/README.md, "Assertions"). */

/** Of a schema; deeper ones are refused. */
const MAX_DEPTH = 64;

const DRAFTS: Readonly<Record<string, SchemaDraft>> = {
  'http://json-schema.org/draft-04/schema': '4',
  'http://json-schema.org/draft-07/schema': '7',
  'https://json-schema.org/draft/2019-09/schema': '2019-09',
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
};

const TYPES: ReadonlySet<unknown> = new Set([
  'array',
  'boolean',
  'integer',
  'null',
  'number',
  'object',
  'string',
]);

export interface JsonSchema {
  readonly draft: SchemaDraft;
  readonly schema: Schema | boolean;
  /** The schemas in it by their addresses. */
  readonly lookup: Record<string, Schema | boolean>;
}

/** The JSON Schema of a text, or the problem with it, which quotes nothing but pointers into it. */
export function parseJsonSchema(text: string): JsonSchema | string {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (!isSchema(schema)) return 'it must be an object or a boolean';
  const draft = draftOf(schema);
  if (draft === null) return `$schema must be one of ${Object.keys(DRAFTS).join(', ')}`;
  const problem = problemIn(schema, '', 0);
  if (problem !== null) return problem;
  const lookup = lookupOf(schema);
  if (typeof lookup === 'string') return lookup;
  return refProblem(lookup) ?? { draft, schema, lookup };
}

function draftOf(schema: Schema | boolean): SchemaDraft | null {
  const named = typeof schema === 'object' ? schema.$schema : undefined;
  if (named === undefined) return '2020-12';
  if (typeof named !== 'string') return null;
  const address = named.replace(/#$/, '');
  return Object.hasOwn(DRAFTS, address) ? (DRAFTS[address] ?? null) : null;
}

function isSchema(value: unknown): value is Schema | boolean {
  return typeof value === 'boolean' || isObject(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The form of a keyword's value; continues a sentence that starts with its place. */
interface Form {
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
}

const COUNT: Form = {
  must: 'must be a whole number, 0 or more',
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};
const NUMBER: Form = { must: 'must be a number', fits: (value) => typeof value === 'number' };
const LIMIT: Form = {
  must: 'must be a number',
  // Draft 4 has booleans.
  fits: (value) => typeof value === 'number' || typeof value === 'boolean',
};
const NAMES: Form = { must: 'must be a list of texts', fits: isNames };
const PATTERN: Form = { must: 'must be a valid regular expression', fits: isPattern };
const FORMS: Readonly<Record<string, Form>> = {
  type: {
    must: `must be one or a list of ${[...TYPES].join(', ')}`,
    fits: (value) => listOf(value).length > 0 && listOf(value).every((each) => TYPES.has(each)),
  },
  enum: {
    must: 'must be a list with at least one value',
    fits: (value) => Array.isArray(value) && value.length > 0,
  },
  multipleOf: {
    must: 'must be a number over 0',
    fits: (value) => typeof value === 'number' && value > 0,
  },
  maximum: NUMBER,
  minimum: NUMBER,
  exclusiveMaximum: LIMIT,
  exclusiveMinimum: LIMIT,
  maxLength: COUNT,
  minLength: COUNT,
  maxItems: COUNT,
  minItems: COUNT,
  maxContains: COUNT,
  minContains: COUNT,
  maxProperties: COUNT,
  minProperties: COUNT,
  required: NAMES,
  uniqueItems: { must: 'must be a boolean', fits: (value) => typeof value === 'boolean' },
  pattern: PATTERN,
  format: { must: 'must be text', fits: (value) => typeof value === 'string' },
  $ref: { must: 'must be text', fits: (value) => typeof value === 'string' },
  dependentRequired: {
    must: 'must be an object of lists of texts',
    fits: (value) => isObject(value) && Object.values(value).every(isNames),
  },
};

/** The validator ignores them, so such a schema would be weaker than it looks. */
const UNSUPPORTED: readonly string[] = ['$dynamicRef', '$recursiveRef'];

const ONE: ReadonlySet<string> = new Set([
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LISTS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems']);
const MAPS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

function problemIn(schema: unknown, at: string, depth: number): string | null {
  if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} schemas`;
  if (!isSchema(schema)) return `${place(at)} must be a schema: an object or a boolean`;
  if (typeof schema === 'boolean') return null;
  for (const [keyword, value] of Object.entries(schema)) {
    const path = `${at}/${escaped(keyword)}`;
    if (UNSUPPORTED.includes(keyword)) return `${place(path)} is not supported; use $ref`;
    const form = Object.hasOwn(FORMS, keyword) ? FORMS[keyword] : undefined;
    if (form !== undefined && !form.fits(value)) return `${place(path)} ${form.must}`;
    const problem = problemBelow(keyword, value, path, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}

function problemBelow(keyword: string, value: unknown, path: string, depth: number): string | null {
  if (LISTS.has(keyword) && Array.isArray(value)) {
    if (value.length === 0 && keyword !== 'items') return `${place(path)} must not be empty`;
    return first(value.entries(), ([index, each]) => problemIn(each, `${path}/${index}`, depth));
  }
  if (ONE.has(keyword)) return problemIn(value, path, depth);
  if (LISTS.has(keyword)) return `${place(path)} must be a list of schemas`;
  if (!MAPS.has(keyword)) return null;
  if (!isObject(value)) return `${place(path)} must be an object of schemas`;
  return first(Object.entries(value), ([name, each]) => {
    const below = `${path}/${escaped(name)}`;
    if (keyword === 'patternProperties' && !isPattern(name)) {
      return `${place(below)} ${PATTERN.must}`;
    }
    return problemIn(each, below, depth);
  });
}

function lookupOf(schema: Schema | boolean): JsonSchema['lookup'] | string {
  try {
    return dereference(schema);
  } catch {
    return 'an $id, $anchor or $ref is not a valid address, or is there twice';
  }
}

/** A schema is never fetched: each reference must lead into the schema itself, and to an end. */
function refProblem(lookup: JsonSchema['lookup']): string | null {
  for (const start of Object.values(lookup)) {
    const seen = new Set<unknown>();
    let next: Schema | boolean | undefined = start;
    while (typeof next === 'object' && next.$ref !== undefined) {
      if (seen.has(next)) return 'a $ref leads back to itself';
      seen.add(next);
      next = lookup[next.__absolute_ref__ ?? next.$ref];
      if (next === undefined) {
        return 'a $ref leads to no part of the schema: put the schema that it names into $defs, as others are not fetched';
      }
    }
  }
  return null;
}

function first<T>(items: Iterable<T>, problemOf: (item: T) => string | null): string | null {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== null) return problem;
  }
  return null;
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** As the validator compiles it. */
function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** RFC 6901 3. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const MAX_PLACE_CHARS = 100;

function place(pointer: string): string {
  if (pointer === '') return 'the schema';
  return pointer.length > MAX_PLACE_CHARS ? `${pointer.slice(0, MAX_PLACE_CHARS)}…` : pointer;
}
