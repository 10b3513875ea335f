/** The part of JSON Schema (2020-12) that zod generates. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly format?: string;
}

const INDENT = '  ';
const MAX_DEPTH = 12;

/**
 * Formats a schema as lines for people: one for each field with its type, bounds, default and description.
 * Nested fields are indented. `*` marks required fields.
 */
export function outline(schema: JsonSchema, indent = '', depth = 0): readonly string[] {
  if (depth > MAX_DEPTH) return [`${indent}…`];
  const shape = shapeOf(schema);
  if (shape.kind === 'variants') {
    return shape.variants.flatMap((variant, index) => [
      `${indent}${index === 0 ? 'either' : 'or'} ${kindText(variant)}`,
      ...outline(variant, indent + INDENT, depth + 1),
    ]);
  }
  if (shape.kind !== 'object') return [];
  const { properties = {}, required = [] } = shape.object;
  return Object.entries(properties).flatMap(([name, field]) => {
    const mark = required.includes(name) ? '*' : '';
    const said = field.description === undefined ? '' : ` – ${field.description}`;
    return [
      `${indent}${name}${mark}: ${kindText(field)}${said}`,
      ...outline(field, indent + INDENT, depth + 1),
    ];
  });
}

type Shape =
  | { readonly kind: 'object'; readonly object: JsonSchema }
  | { readonly kind: 'variants'; readonly variants: readonly JsonSchema[] }
  | { readonly kind: 'plain' };

/** Unwraps lists and nullable schemas to the fields or variants inside. */
function shapeOf(schema: JsonSchema): Shape {
  if (schema.properties !== undefined) return { kind: 'object', object: schema };
  if (schema.items !== undefined) return shapeOf(schema.items);
  const variants = variantsOf(schema);
  const [only] = variants;
  if (variants.length === 1 && only !== undefined) return shapeOf(only);
  const areDeep = variants.some((variant) => shapeOf(variant).kind !== 'plain');
  return areDeep ? { kind: 'variants', variants } : { kind: 'plain' };
}

function variantsOf({ anyOf, oneOf }: JsonSchema): readonly JsonSchema[] {
  return (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
}

/** The kind of a value in one line: `whole number, 1..100, default 10`. */
export function kindText(schema: JsonSchema): string {
  const { default: standard } = schema;
  const parts = [bareKind(schema), ...bounds(schema)];
  if (standard !== undefined) parts.push(`default ${JSON.stringify(standard)}`);
  return parts.join(', ');
}

function bareKind(schema: JsonSchema): string {
  const { $ref: reference, type, items, enum: values, format, anyOf, oneOf } = schema;
  if (reference !== undefined) return reference.replace(/^.*\//, '');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (items !== undefined) return `list of ${kindText(items)}`;
  const all = anyOf ?? oneOf;
  if (all !== undefined) return [...new Set(all.map(kindText))].join(' or ');
  if (format !== undefined && type === 'string') return `text (${format})`;
  const kinds = [type ?? 'anything'].flat();
  return kinds.map((kind) => KINDS[kind] ?? kind).join(' or ');
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  array: 'list',
};

function bounds(schema: JsonSchema): readonly string[] {
  const { minimum, maximum, minLength, maxLength, maxItems, pattern, format } = schema;
  return [
    rangeText(minimum, finite(maximum), ''),
    rangeText(minLength, maxLength, ' characters'),
    rangeText(undefined, maxItems, ' items'),
    // The name of a format makes the pattern redundant.
    pattern === undefined || format !== undefined ? '' : `matches ${pattern}`,
  ].filter((text) => text !== '');
}

/** Ignores the bounds that zod adds to all integers, the range in which a double is exact. */
function finite(bound: number | undefined): number | undefined {
  return bound !== undefined && bound >= Number.MAX_SAFE_INTEGER ? undefined : bound;
}

function rangeText(min: number | undefined, max: number | undefined, unit: string): string {
  const from = min === undefined || min <= Number.MIN_SAFE_INTEGER ? undefined : min;
  if (from === undefined && max === undefined) return '';
  if (from === undefined) return `at most ${max}${unit}`;
  return max === undefined ? `at least ${from}${unit}` : `${from}..${max}${unit}`;
}
