import {
  AUTH_FIELDS,
  AUTH_TYPES,
  SECRET_AUTH_FIELDS,
} from '../../../src/model/check/request/request-auth.ts';
import { RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../../src/model/enums.ts';
import type { OpenApiDocument } from './document.ts';

type Schema = { readonly [key: string]: unknown };

/** The properties of a field in the OpenAPI document that the form of a check needs. */
interface Facts {
  readonly kind: string;
  readonly isNullable?: true;
  readonly isRequired?: true;
  readonly default?: unknown;
  readonly values?: readonly unknown[];
  readonly min?: number;
  readonly max?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly text?: string;
  /** The kinds of authentication that have the field. */
  readonly authTypes?: readonly string[];
  readonly isSecret?: true;
}

type Fields = Readonly<Record<string, Facts>>;

/** Larger bounds, such as 2⁵³ − 1, are left out: they mean nothing to people. */
const MAX_TOLD = 1_000_000_000;

/**
 * The fields of a new check of each type by their paths, such as `request.headers[].key`.
 * Fields that all types have in common are in `all`.
 */
export function checkFieldsOf(document: OpenApiDocument): Readonly<Record<string, Fields>> {
  const schemas = (document as unknown as { components: { schemas: Record<string, Schema> } })
    .components.schemas;
  const byType = new Map<RunnableCheckType, Map<string, Facts>>();
  for (const type of RUNNABLE_CHECK_TYPES) {
    const name = `Typed${type.charAt(0)}${type.slice(1).toLowerCase()}CheckInput`;
    const fields = new Map<string, Facts>();
    collect({ $ref: `#/components/schemas/${name}` }, '', schemas, fields);
    byType.set(type, fields);
  }
  const all: Record<string, Facts> = {};
  const own = new Map<string, Record<string, Facts>>();
  for (const [type, fields] of byType) {
    for (const [path, facts] of fields) {
      const text = JSON.stringify(facts);
      const isShared = [...byType.values()].every(
        (other) => JSON.stringify(other.get(path)) === text,
      );
      if (isShared) all[path] = facts;
      else own.set(type, { ...own.get(type), [path]: facts });
    }
  }
  return { all, ...Object.fromEntries(own) };
}

/** Numbers and lists of other forms, by the schema of their body. A path ends with the name. */
const OTHER_NUMBERS = {
  group: ['CheckGroupInput', ['concurrency']],
  channel: ['EmailAlertChannelInput', ['groupWindow', 'degradedDigestHour', 'sslExpiryThreshold']],
  escalation: ['EscalationStepInput', ['minutes', 'alertChannelIds']],
  alertSettings: ['AlertSettingsInput', ['parallelRunFailureThreshold.percentage']],
} as const satisfies Readonly<Record<string, readonly [string, readonly string[]]>>;

/**
 * The bounds and defaults of numbers, and of the lengths of lists, that forms of other resources ask for, as the
 * document has them.
 */
export function numberLimitsOf(
  document: OpenApiDocument,
): Readonly<Record<string, Readonly<Record<string, Pick<Facts, 'min' | 'max' | 'default'>>>>> {
  const schemas = (document as unknown as { components: { schemas: Record<string, Schema> } })
    .components.schemas;
  const limitOf = (name: string, path: string) => {
    let found = resolved(schemas[name] ?? {}, schemas);
    for (const part of path.split('.')) {
      const properties = (found.schema.properties ?? {}) as Readonly<Record<string, Schema>>;
      found = resolved(properties[part] ?? {}, schemas);
    }
    const { schema, isNullable } = found;
    const facts = factsOf(schema, isNullable, false);
    const min = facts.min ?? schema.minItems;
    const max = facts.max ?? facts.maxItems;
    if (typeof min !== 'number' || max === undefined)
      throw new Error(`${name}.${path} has no bounds`);
    return { min, max, ...(facts.default === undefined ? {} : { default: facts.default }) };
  };
  return Object.fromEntries(
    Object.entries(OTHER_NUMBERS).map(([form, [name, fields]]) => [
      form,
      Object.fromEntries(fields.map((path) => [path.split('.').at(-1), limitOf(name, path)])),
    ]),
  );
}

/** Fields of responses that a body may have, and which are ignored, have no type. */
function collect(
  given: Schema,
  path: string,
  schemas: Readonly<Record<string, Schema>>,
  fields: Map<string, Facts>,
  isRequired = false,
): void {
  const { schema, isNullable } = resolved(given, schemas);
  const { type, properties, items, required } = schema;
  if (typeof type !== 'string') return;
  if (path !== '') {
    fields.set(path, { ...factsOf(schema, isNullable, isRequired), ...authFactsOf(path) });
  }
  if (type === 'array') {
    collect(items as Schema, `${path}[]`, schemas, fields);
    return;
  }
  for (const [name, inner] of Object.entries((properties ?? {}) as Record<string, Schema>)) {
    const isNeeded = ((required ?? []) as readonly string[]).includes(name);
    collect(inner, path === '' ? name : `${path}.${name}`, schemas, fields, isNeeded);
  }
}

/** Follows references, and removes null from alternatives. Keys beside a $ref take precedence. */
function resolved(
  given: Schema,
  schemas: Readonly<Record<string, Schema>>,
): { readonly schema: Schema; readonly isNullable: boolean } {
  let schema = given;
  let isNullable = false;
  for (;;) {
    const { $ref, allOf, anyOf, ...rest } = schema;
    if (typeof $ref === 'string') {
      schema = { ...schemas[$ref.replace('#/components/schemas/', '')], ...rest };
    } else if (Array.isArray(allOf)) {
      schema = { ...Object.assign({}, ...allOf), ...rest };
    } else if (Array.isArray(anyOf)) {
      const others = (anyOf as readonly Schema[]).filter(({ type }) => type !== 'null');
      if (others.length !== 1)
        throw new Error(`a field has several forms: ${JSON.stringify(given)}`);
      isNullable ||= others.length < anyOf.length;
      schema = { ...others[0], ...rest };
    } else if (Array.isArray(schema.type)) {
      const types = (schema.type as readonly string[]).filter((type) => type !== 'null');
      isNullable ||= types.length < schema.type.length;
      schema = { ...schema, type: types[0] };
    } else {
      return { schema, isNullable };
    }
  }
}

function factsOf(schema: Schema, isNullable: boolean, isRequired: boolean): Facts {
  const { type, minimum, maximum, maxLength, maxItems, description } = schema;
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  return {
    kind: type as string,
    ...(isNullable ? { isNullable } : {}),
    ...(isRequired ? { isRequired } : {}),
    ...('default' in schema ? { default: schema.default } : {}),
    ...(Array.isArray(values) ? { values } : {}),
    ...(typeof minimum === 'number' ? { min: minimum } : {}),
    ...(typeof maximum === 'number' && maximum < MAX_TOLD ? { max: maximum } : {}),
    ...(typeof maxLength === 'number' ? { maxLength } : {}),
    ...(typeof maxItems === 'number' ? { maxItems } : {}),
    ...(typeof description === 'string' ? { text: description } : {}),
  };
}

/** Rules of the fields of `auth` that the document has only in descriptions. */
function authFactsOf(path: string): Pick<Facts, 'authTypes' | 'isSecret'> {
  const name = /^request\.auth\.(\w+)$/.exec(path)?.[1];
  if (name === undefined || name === 'type') return {};
  const authTypes = AUTH_TYPES.filter((type) => {
    const { needed, optional } = AUTH_FIELDS[type];
    return [...needed, ...optional].some((field) => field === name);
  });
  const isSecret = SECRET_AUTH_FIELDS.some((field) => field === name);
  return { authTypes, ...(isSecret ? { isSecret } : {}) };
}
