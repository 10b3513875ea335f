import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { errorSchema } from './error-schema.ts';

/** The errors that the document describes; `default` stands for all others. */
export const ERROR_STATUSES = [
  400, 401, 402, 403, 404, 409, 410, 412, 413, 415, 422, 429, 503,
] as const;
export type ErrorStatus = (typeof ERROR_STATUSES)[number];

interface ErrorForm {
  /** The name of the response component; its schema is named the same with the suffix `Error`. */
  readonly name: string;
  readonly description: string;
  readonly attributes?: Readonly<Record<string, z.ZodType>>;
}

const retryAfterSeconds = z
  .int()
  .optional()
  .describe('Seconds until a repeated request may succeed.');

const FORMS: Readonly<Record<ErrorStatus, ErrorForm>> = {
  400: {
    name: 'BadRequest',
    description: 'The request is invalid.',
    attributes: {
      problems: z
        .array(
          z.object({
            path: z.string().describe('For example `body.request.port` or `query.limit`.'),
            message: z.string().describe('What is wrong there.'),
          }),
        )
        .optional()
        .describe('The first 20 problems of parameters and fields; omitted for other errors.'),
    },
  },
  401: {
    name: 'Unauthorized',
    description: 'The key is missing or not active, or the session has ended.',
    attributes: { advice: z.string().optional().describe('Which key to send.') },
  },
  402: {
    name: 'PaymentRequired',
    description: 'The plan of the account does not allow it.',
  },
  403: {
    name: 'Forbidden',
    description:
      'The role does not allow it, `x-service-account` names another account, or a page of another site sent the request.',
  },
  404: {
    name: 'NotFound',
    description: 'The resource does not exist or belongs to another account.',
    attributes: { resource: z.string().optional().describe('What does not exist.') },
  },
  409: {
    name: 'Conflict',
    description:
      'The request conflicts with what is stored, or one with its `Idempotency-Key` is in progress.',
  },
  410: {
    name: 'Gone',
    description: 'The events after the cursor are deleted: read the resources again.',
  },
  412: {
    name: 'PreconditionFailed',
    description: 'The resource is not the one that `If-Match` or `If-None-Match` requires.',
    attributes: {
      etag: z.string().nullable().optional().describe('The current ETag; null if there is none.'),
    },
  },
  413: {
    name: 'ContentTooLarge',
    description: 'The body is too large.',
    attributes: { limitBytes: z.int().optional().describe('The bytes that are allowed.') },
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is of the wrong type.',
    attributes: {
      allowed: z.array(z.string()).optional().describe('The content types that are accepted.'),
    },
  },
  422: {
    name: 'IdempotencyKeyReused',
    description: 'The `Idempotency-Key` was used for another request.',
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests; `Retry-After` says when to try again.',
    attributes: {
      limit: z.int().optional().describe('Requests allowed in a minute.'),
      retryAfterSeconds,
    },
  },
  503: {
    name: 'ServiceUnavailable',
    description:
      'The database or the store is not available; `Retry-After` says when to try again.',
    attributes: { retryAfterSeconds },
  },
};

const text = { type: 'string' } as const;
const count = { type: 'integer', minimum: 0 } as const;

/** Headers of responses. Their keys are the names of the components. */
const HEADERS = {
  ETag: {
    description: 'The validator of the resource, for `If-Match` and `If-None-Match`.',
    schema: text,
  },
  Location: { description: 'The path of what was created.', schema: text },
  Link: {
    description: 'The URLs of the parts `next`, `prev` and `first` of the list (RFC 8288).',
    schema: text,
  },
  'X-Next-Cursor': {
    description:
      'The cursor of the next part of the list; only with `cursor`. The last part has it, too, to read what is stored later: the last part is the one whose `Link` has no `next`.',
    schema: text,
  },
  'X-Total-Count': { description: 'The number of entries.', schema: count },
  'X-Total-Count-At-Least': {
    description: 'There may be more entries than X-Total-Count says.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Idempotent-Replayed': {
    description: 'This is the first response to the Idempotency-Key again.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Retry-After': { description: 'Seconds until a repeated request may succeed.', schema: count },
  'X-RateLimit-Limit': { description: 'Requests allowed in a minute.', schema: count },
  'X-RateLimit-Remaining': { description: 'Requests left in this minute.', schema: count },
  'X-RateLimit-Reset': { description: 'Seconds until the next minute begins.', schema: count },
  'X-Request-Id': { description: 'Names the request in the log of the service.', schema: text },
} as const;
export type HeaderName = keyof typeof HEADERS;

/** Headers of requests. Their keys are the names of the components. */
const PARAMETERS = {
  ServiceAccount: {
    name: 'x-service-account',
    description:
      'The id of the account that the request is about. Users of several accounts need it; by default it is the account that they joined first. A key belongs to one account, and may repeat its id.',
  },
  IfMatch: {
    name: 'If-Match',
    description:
      'The ETag of a read, with its quotation marks: refuses the request (412) if the resource has changed since.',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    description:
      'The ETag that the client has: the response is 304 while the resource is the same.',
  },
  IfNoneMatchOnWrite: {
    name: 'If-None-Match',
    description: '`*` creates a resource only if its id is free.',
  },
  LastEventId: {
    name: 'Last-Event-ID',
    description:
      'The `id` of the last event that the client has: the stream begins after it. Browsers send it when they connect again.',
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    description:
      'A new UUID for each request: a repeated request with the same key is not done twice.',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
} as const;
export type ParameterName = keyof typeof PARAMETERS;

export function headerRefs(names: readonly HeaderName[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export function parameterRef(name: ParameterName): object {
  return { $ref: `#/components/parameters/${name}` };
}

export function errorRef(status: ErrorStatus): object {
  return { $ref: `#/components/responses/${FORMS[status].name}` };
}

/** The components that operations refer to, except the schemas of bodies. */
export function standardComponents() {
  const forms = ERROR_STATUSES.map((status) => ({ status, ...FORMS[status] }));
  const headersOf = (status: ErrorStatus) =>
    headerRefs(['X-Request-Id', ...(status === 429 || status === 503 ? RETRY : [])]);
  return {
    schemas: {
      Error: jsonSchemaOf(errorSchema),
      ...Object.fromEntries(forms.map((form) => [`${form.name}Error`, errorJsonSchema(form)])),
    },
    responses: Object.fromEntries(
      forms.map(({ status, name, description }) => [
        name,
        { description, headers: headersOf(status), content: jsonOf(`${name}Error`) },
      ]),
    ),
    headers: HEADERS,
    parameters: Object.fromEntries(
      Object.entries(PARAMETERS).map(([key, parameter]) => [
        key,
        { in: 'header', required: false, schema: text, ...parameter },
      ]),
    ),
  };
}

const RETRY = ['Retry-After'] as const;

/** A JSON body with a schema of the components. */
function jsonOf(schema: string): object {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

function errorJsonSchema({ status, attributes }: ErrorForm & { readonly status: ErrorStatus }) {
  const { statusCode, error, attributes: others } = errorSchema.shape;
  return jsonSchemaOf(
    errorSchema.extend({
      statusCode: z.literal(status).describe(statusCode.description ?? ''),
      error: z.literal(STATUS_CODES[status] ?? 'Error').describe(error.description ?? ''),
      ...(attributes === undefined
        ? {}
        : { attributes: z.looseObject(attributes).describe(others.description ?? '') }),
    }),
  );
}

function jsonSchemaOf(schema: z.ZodType): object {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, { io: 'input' });
  return jsonSchema;
}
