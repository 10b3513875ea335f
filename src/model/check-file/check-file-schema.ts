import { z } from 'zod';
import { ALERT_CHANNEL_SHAPES, ALERT_CHANNEL_TYPES } from '../alerting/alert-channel.ts';
import { CHECK_SHAPES, commonFields, subscriptionSchema } from '../check/check.ts';
import { ownVariableSchema } from '../check/variable.ts';
import { RUNNABLE_CHECK_TYPES } from '../enums.ts';
import { CHECK_ID, RESERVED_CHECK_IDS_TEXT } from '../ids.ts';
import { MERGED_FIELDS, WITHOUT_DEFAULT } from './defaults.ts';
import {
  entrySchemaOf,
  fileEscalationSchema,
  replacedFields,
  SECTIONS,
  type Section,
} from './sections.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;
type Properties = Readonly<Record<string, JsonSchema>>;

const id = z.string().regex(CHECK_ID);
const ENTRY_ID = id.describe('The id of the entry in this file.');
/** Agents without a service accept every id, so the schema refuses none. */
const RESERVED_NOTE = `A service refuses new checks and heartbeats with the id ${RESERVED_CHECK_IDS_TEXT}: these are paths of its API.`;
const CHECK_ENTRY_ID = id.describe(`The id of the check. ${RESERVED_NOTE}`);
const HEARTBEAT_ENTRY_ID = id.describe(`The id of the heartbeat. ${RESERVED_NOTE}`);

/**
 * Fields that a file writes differently: they may name an entry of the file instead of an API id.
 */
const REFERENCES = {
  groupId: z
    .union([z.string().min(1), z.number()])
    .nullable()
    .default(null)
    .describe('The group of the check: its id in this file, or its number in the service.'),
  alertChannelSubscriptions: z
    .array(
      z.union([
        subscriptionSchema.extend({
          alertChannelId: z
            .union([z.string().min(1), z.number()])
            .describe('The channel: its id in this file, or its number in the service.'),
        }),
        subscriptionSchema.omit({ alertChannelId: true }).extend({
          alertChannelName: z
            .string()
            .min(1)
            .describe(
              'The name of the channel: of an email channel its address, of a Slack channel its host.',
            ),
        }),
      ]),
    )
    // Without it the service decides, so `[]` is not its default.
    .optional()
    .describe(commonFields.alertChannelSubscriptions.description ?? ''),
} as const;

const clientCertificate = z.strictObject({
  host: z
    .string()
    .describe(
      'A host or an IP address without scheme and port. `*.` may replace the first label of a name.',
    ),
  cert: z.string().describe('PEM text, or the path of a PEM file beside this file.'),
  key: z.string().describe('PEM text, or the path of a PEM file beside this file.'),
  ca: z.string().nullable().default(null).describe('PEM text, or the path of a PEM file.'),
  passphrase: z.string().nullable().default(null).describe('The passphrase of the key.'),
});

/**
 * The JSON Schema (draft 7, which editors know best) of a check file, made from the schemas with
 * which files are read. It accepts every valid file. Only `vedette validate` checks what a JSON
 * Schema cannot express, such as a rule between two fields.
 */
export function checkFileSchema(): JsonSchema {
  const checks = RUNNABLE_CHECK_TYPES.map((type) => {
    const whole = entryForm(CHECK_SHAPES[type].shape, new Set(['logicalId']), CHECK_ENTRY_ID);
    return { type, ...withoutRequired(whole) };
  });
  const channels = ALERT_CHANNEL_TYPES.map((type) => ({
    type,
    form: entryForm(ALERT_CHANNEL_SHAPES[type].shape, replacedKeys('alertChannels')),
  }));
  const sections = SECTIONS.filter((section) => section !== 'alertChannels');
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Check file of Vedette',
    type: 'object',
    properties: {
      $schema: { description: 'Where this schema is, for editors of JSON files.' },
      name: {
        ...jsonOf(id.nullable()),
        description:
          'The name of the file, which `vedette apply` needs where several files write to one service.',
      },
      variables: listOf(
        jsonOf(ownVariableSchema),
        'Values for {{NAME}} in all checks of the file, as {key, value, secret}.',
      ),
      defaults: {
        ...defaultsForm(checks.map(({ form }) => form)),
        description: 'Fields of every check that has them and does not set them itself.',
      },
      checks: { ...byType('checkType', checks, 'check'), description: 'The checks, one or more.' },
      clientCertificates: listOf(
        jsonOf(clientCertificate),
        'Certificates by which the agent identifies itself to servers that ask for one.',
      ),
      escalationStep: {
        ...jsonOf(fileEscalationSchema.nullable()),
        description:
          'The channels to which alerts of the account are escalated if nobody acknowledges them, and after how many minutes; null for no escalation. If omitted, the stored step does not change.',
      },
      alertChannels: byType('type', channels, 'channel'),
      ...Object.fromEntries(
        sections.map((section) => [section, listOf({ $ref: refOf(section) })] as const),
      ),
    },
    additionalProperties: false,
    anyOf: ['checks', ...SECTIONS].map((section) => ({ required: [section] })),
    // Fields that are missing in a check may be in `defaults`.
    if: { not: { required: ['defaults'] } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: {
      properties: {
        checks: {
          items: { allOf: checks.map(({ type, required }) => ifType('checkType', type, required)) },
        },
      },
    },
    definitions: Object.fromEntries([
      ...checks.map(({ type, form }) => [definitionOf('check', type), form] as const),
      ...channels.map(({ type, form }) => [definitionOf('channel', type), form] as const),
      ...sections.map(
        (section) =>
          [
            section,
            entryForm(
              entrySchemaOf(section, null)?.shape ?? {},
              replacedKeys(section),
              section === 'heartbeats' ? HEARTBEAT_ENTRY_ID : ENTRY_ID,
            ),
          ] as const,
      ),
    ]),
  };
}

function replacedKeys(section: Section): ReadonlySet<string> {
  return new Set(replacedFields(section).keys());
}

/** An entry of the file: its id, and the fields of the API as a file writes them. */
function entryForm(
  shape: z.core.$ZodShape,
  left: ReadonlySet<string>,
  idSchema: z.ZodType = ENTRY_ID,
): JsonSchema {
  const fields = Object.entries(shape).flatMap(([key, schema]) => {
    if (left.has(key)) return [];
    // The id is the default of the name.
    if (key === 'name') return [[key, z.optional(schema)] as const];
    return [[key, Object.hasOwn(REFERENCES, key) ? REFERENCES[key as 'groupId'] : schema] as const];
  });
  return jsonOf(z.strictObject({ id: idSchema, ...Object.fromEntries(fields) }));
}

function jsonOf(schema: z.core.$ZodType): JsonSchema {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    override: ({ zodSchema, jsonSchema }) => {
      // The value is converted to lower case first: the pattern would refuse capitals.
      const checks = zodSchema._zod.def.checks ?? [];
      if (checks.some(({ _zod }) => _zod.def.check === 'overwrite')) delete jsonSchema.pattern;
    },
  });
  return json;
}

function listOf(items: JsonSchema, description?: string): JsonSchema {
  return { type: ['array', 'null'], items, ...(description === undefined ? {} : { description }) };
}

/** A list of entries whose forms differ by the value of one field. */
function byType(
  field: string,
  types: readonly { readonly type: string; readonly form: JsonSchema }[],
  kind: string,
): JsonSchema {
  return {
    type: kind === 'check' ? 'array' : ['array', 'null'],
    items: {
      type: 'object',
      required: ['id', field],
      properties: { [field]: { enum: types.map(({ type }) => type) } },
      allOf: types.map(({ type }) =>
        ifType(field, type, { $ref: refOf(definitionOf(kind, type)) }),
      ),
    },
  };
}

function ifType(field: string, type: string, form: JsonSchema): JsonSchema {
  return {
    if: { properties: { [field]: { const: type } }, required: [field] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: form,
  };
}

function definitionOf(kind: string, type: string): string {
  return `${kind}-${type}`;
}

function refOf(definition: string): string {
  return `#/definitions/${definition}`;
}

/** Separates a form from its required fields, including those inside of MERGED_FIELDS. */
function withoutRequired(whole: JsonSchema): {
  readonly form: JsonSchema;
  readonly required: JsonSchema;
} {
  const merged = MERGED_FIELDS.map((field) => {
    const { required = [], ...loose } = objectIn(propertiesOf(whole)[field] ?? {});
    return { field, loose: replacedObject(propertiesOf(whole)[field] ?? {}, loose), required };
  });
  return {
    form: {
      ...whole,
      properties: {
        ...propertiesOf(whole),
        ...Object.fromEntries(merged.map(({ field, loose }) => [field, loose])),
      },
      required: ['id', 'checkType'],
    },
    required: {
      required: whole.required ?? [],
      properties: Object.fromEntries(
        merged.flatMap(({ field, required }) =>
          required.length === 0 ? [] : [[field, { required }] as const],
        ),
      ),
    },
  };
}

function propertiesOf({ properties = {} }: JsonSchema): Properties {
  return properties as Properties;
}

/** The schema of the object in a schema that also allows null. */
function objectIn(schema: JsonSchema): JsonSchema {
  return schema.anyOf?.find((one) => one.properties !== undefined) ?? schema;
}

function replacedObject(schema: JsonSchema, object: JsonSchema): JsonSchema {
  if (schema.anyOf === undefined) return object;
  const anyOf = schema.anyOf.map((one) => (one.properties === undefined ? one : object));
  return { ...schema, anyOf };
}

/** The fields of all check types; each accepts what any of the types accepts. */
function defaultsForm(forms: readonly JsonSchema[]): JsonSchema {
  const { id: _, ...fields } = unionOf(forms);
  const kept = Object.entries(fields).filter(([key]) => !WITHOUT_DEFAULT.includes(key));
  return {
    type: ['object', 'null'],
    properties: Object.fromEntries(kept),
    additionalProperties: false,
  };
}

function unionOf(forms: readonly JsonSchema[]): Properties {
  const keys = new Set(forms.flatMap((form) => Object.keys(propertiesOf(form))));
  return Object.fromEntries(
    [...keys].map((key) => {
      const variants = distinct(
        forms.map((form) => propertiesOf(form)[key]).filter((form) => form !== undefined),
      );
      const [first = {}] = variants;
      if (variants.length <= 1) return [key, first];
      return [key, key === 'request' ? requestForm(variants) : { anyOf: variants }];
    }),
  );
}

function requestForm(variants: readonly JsonSchema[]): JsonSchema {
  return { type: 'object', properties: unionOf(variants), additionalProperties: false };
}

function distinct(schemas: readonly JsonSchema[]): JsonSchema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
}
