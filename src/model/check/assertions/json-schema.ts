import {
  dereference,
  type Schema,
  type SchemaDraft,
  schemaMapKeyword,
} from '@cfworker/json-schema';

/** JSON Schemas in assertions (src/model/README.md, "Assertions"). */

/** Deeper schemas are refused. */
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
  const forms = draft === '4' ? FORMS_OF_DRAFT_4 : FORMS;
  const problem = problemIn(schema, { forms, at: '', depth: 0 });
  if (problem !== null) return problem;
  const lookup = lookupOf(schema);
  if (typeof lookup === 'string') return lookup;
  return refProblem({ draft, lookup }) ?? { draft, schema, lookup };
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

/** The form of a keyword's value. `must` follows the pointer to the keyword. */
interface Form {
  readonly must: string;
  readonly fits: (value: unknown) => boolean;
}

const COUNT: Form = {
  must: 'must be a whole number, 0 or more',
  fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
};
const NUMBER: Form = { must: 'must be a number', fits: (value) => typeof value === 'number' };
const BOOLEAN: Form = { must: 'must be a boolean', fits: (value) => typeof value === 'boolean' };
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
  exclusiveMaximum: NUMBER,
  exclusiveMinimum: NUMBER,
  maxLength: COUNT,
  minLength: COUNT,
  maxItems: COUNT,
  minItems: COUNT,
  maxContains: COUNT,
  minContains: COUNT,
  maxProperties: COUNT,
  minProperties: COUNT,
  required: NAMES,
  uniqueItems: BOOLEAN,
  pattern: PATTERN,
  format: { must: 'must be text', fits: (value) => typeof value === 'string' },
  $ref: { must: 'must be text', fits: (value) => typeof value === 'string' },
  dependentRequired: {
    must: 'must be an object of lists of texts',
    fits: (value) => isObject(value) && Object.values(value).every(isNames),
  },
};

/** In draft 4, these keywords are booleans: whether `maximum` and `minimum` are exclusive. */
const FORMS_OF_DRAFT_4: typeof FORMS = {
  ...FORMS,
  exclusiveMaximum: BOOLEAN,
  exclusiveMinimum: BOOLEAN,
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
  'dependencies',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** A position in a schema: a JSON Pointer, and the number of schemas around it. */
interface Place {
  readonly forms: typeof FORMS;
  readonly at: string;
  readonly depth: number;
}

function problemIn(schema: unknown, { forms, at, depth }: Place): string | null {
  if (depth > MAX_DEPTH) return `it is nested deeper than ${MAX_DEPTH} schemas`;
  if (!isSchema(schema)) return `${place(at)} must be a schema: an object or a boolean`;
  if (typeof schema === 'boolean') return null;
  for (const [keyword, value] of Object.entries(schema)) {
    const path = `${at}/${escaped(keyword)}`;
    if (UNSUPPORTED.includes(keyword)) return `${place(path)} is not supported; use $ref`;
    const form = Object.hasOwn(forms, keyword) ? forms[keyword] : undefined;
    if (form !== undefined && !form.fits(value)) return `${place(path)} ${form.must}`;
    const problem = problemBelow(keyword, value, { forms, at: path, depth: depth + 1 });
    if (problem !== null) return problem;
  }
  return null;
}

function problemBelow(keyword: string, value: unknown, below: Place): string | null {
  const { at } = below;
  if (LISTS.has(keyword) && Array.isArray(value)) {
    if (value.length === 0 && keyword !== 'items') return `${place(at)} must not be empty`;
    return first(value.entries(), ([index, each]) =>
      problemIn(each, { ...below, at: `${at}/${index}` }),
    );
  }
  if (ONE.has(keyword)) return problemIn(value, below);
  if (LISTS.has(keyword)) return `${place(at)} must be a list of schemas`;
  if (!MAPS.has(keyword)) return null;
  if (!isObject(value)) return `${place(at)} must be an object of schemas`;
  return first(Object.entries(value), ([name, each]) => {
    const path = `${at}/${escaped(name)}`;
    if (keyword === 'patternProperties' && !isPattern(name)) {
      return `${place(path)} ${PATTERN.must}`;
    }
    if (keyword === 'dependencies' && Array.isArray(each)) {
      return NAMES.fits(each) ? null : `${place(path)} ${NAMES.must}`;
    }
    return problemIn(each, { ...below, at: path });
  });
}

// Without this, the library takes the map of `dependencies` for one schema. It then skips schemas
// in the map whose property is named like a keyword (`pattern`, `id`), and cannot resolve their
// references.
schemaMapKeyword.dependencies = true;

function lookupOf(schema: Schema | boolean): JsonSchema['lookup'] | string {
  try {
    return dereference(schema);
  } catch {
    return 'an $id, $anchor or $ref is not a valid address, or is there twice';
  }
}

const NOT_FETCHED =
  'a $ref leads to no part of the schema: put the schema that it names into $defs, as others are not fetched';

/**
 * The problem with the references of a schema; null if there is none. Schemas are never fetched, so
 * each reference must lead into the schema itself. References between schemas that apply to the
 * same value must not form a circle: validation would not end.
 */
function refProblem({ draft, lookup }: Omit<JsonSchema, 'schema'>): string | null {
  const above = new Set<Schema>();
  const sound = new Set<Schema>();
  const problemFrom = (schema: Schema | boolean | undefined): string | null => {
    if (schema === undefined) return NOT_FETCHED;
    if (typeof schema === 'boolean' || sound.has(schema)) return null;
    if (above.has(schema)) return 'a $ref leads back to itself';
    above.add(schema);
    const problem = first(schemasOfSameValue(schema, { draft, lookup }), problemFrom);
    above.delete(schema);
    sound.add(schema);
    return problem;
  };
  return first(Object.values(lookup), problemFrom);
}

/** The schemas that the validator applies to the same value as `schema`. */
function schemasOfSameValue(
  schema: Schema,
  { draft, lookup }: Omit<JsonSchema, 'schema'>,
): readonly (Schema | boolean | undefined)[] {
  const { $ref, allOf, anyOf, oneOf, not, if: condition, then, else: otherwise } = schema;
  const referred = $ref === undefined ? [] : [lookup[schema.__absolute_ref__ ?? $ref]];
  // Drafts 4 and 7 ignore what stands beside a $ref.
  if ($ref !== undefined && (draft === '4' || draft === '7')) return referred;
  // Values below unknown keywords were not validated: they may have any form.
  const lists = [allOf, anyOf, oneOf].filter((list) => Array.isArray(list));
  const maps: unknown[] = [schema.dependentSchemas, schema.dependencies];
  const inMaps = maps.flatMap((map) => (isObject(map) ? Object.values(map) : []));
  const inPlace: unknown[] = [not, condition, then, otherwise, ...lists.flat(), ...inMaps];
  return [...referred, ...inPlace.filter(isSchema)];
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
