import { z } from 'zod';
import { CHECK_SHAPES, commonFields } from '../../model/check/check.ts';
import { changedApiRequestSchema } from '../../model/check/request/http.ts';
import { MAX_OWN_VARIABLES, ownVariableSchema } from '../../model/check/variable.ts';
import { CHECK_TYPES, RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../model/enums.ts';
import { heartbeatResponse } from '../heartbeats/heartbeat-response.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import { RESPONSE_FIELDS } from './response-fields.ts';

const { value, ...ownVariable } = ownVariableSchema.shape;
/** Also accepts variables as responses show them. */
const changedVariables = z
  .array(
    z
      .strictObject({
        ...ownVariable,
        value: value
          .nullable()
          .optional()
          .describe('null or omitted for a secret variable keeps the stored value.'),
      })
      .meta({ title: 'CheckVariableChanges' }),
  )
  .max(MAX_OWN_VARIABLES)
  .optional()
  .describe(commonFields.variables.description ?? '');

/** The schemas of one check type's routes. */
export interface TypeSchemas {
  readonly create: z.ZodType<Record<string, unknown>>;
  /** Nothing is required, and omitted fields get no defaults. */
  readonly update: z.ZodType<Record<string, unknown>>;
  readonly response: z.ZodType<Record<string, unknown>>;
}

const RESPONSES = {
  URL: CHECK_SHAPES.URL.extend(RESPONSE_FIELDS),
  API: CHECK_SHAPES.API.extend(RESPONSE_FIELDS),
  TCP: CHECK_SHAPES.TCP.extend(RESPONSE_FIELDS),
  DNS: CHECK_SHAPES.DNS.extend(RESPONSE_FIELDS),
  ICMP: CHECK_SHAPES.ICMP.extend(RESPONSE_FIELDS),
} as const;

function schemasOf(type: RunnableCheckType): TypeSchemas {
  const { checkType, ...fields } = CHECK_SHAPES[type].shape;
  return {
    create: z.strictObject({
      ...fields,
      ...ignored(['warnings']),
      checkType: checkType.optional(),
    }),
    update: z.strictObject({
      ...optionalFieldsOf(fields),
      ...ignored(['created_at', 'updated_at', 'alertChannels', 'warnings']),
      variables: changedVariables,
      ...(type === 'API'
        ? { request: changedApiRequestSchema.optional().describe(fields.request.description ?? '') }
        : {}),
      checkType: checkType.optional(),
      id: z.string().optional().describe('The same as in the path.'),
    }),
    response: RESPONSES[type],
  };
}

export const TYPE_SCHEMAS: Readonly<Record<RunnableCheckType, TypeSchemas>> = {
  URL: schemasOf('URL'),
  API: schemasOf('API'),
  TCP: schemasOf('TCP'),
  DNS: schemasOf('DNS'),
  ICMP: schemasOf('ICMP'),
};

/** A rule for new checks that their JSON Schema cannot express. */
export const NEEDS_LOCATION =
  'A new check needs at least one location: in `privateLocations`, as `["office"]`, or in `locations` (400).';

const TYPES_TEXT = `one of ${RUNNABLE_CHECK_TYPES.join(', ')}`;

/** Why a new check cannot be of a type; null if it can. */
export function typeProblem(checkType: unknown): string | null {
  if (RUNNABLE_CHECK_TYPES.some((type) => type === checkType)) return null;
  if (checkType === undefined) return `is missing; it must be ${TYPES_TEXT}`;
  const must = `must be ${TYPES_TEXT}`;
  if (checkType === 'HEARTBEAT')
    return `${must}: create a heartbeat with POST /v1/checks/heartbeats`;
  if (!CHECK_TYPES.some((type) => type === checkType)) return must;
  return `${must}: no agent runs ${checkType} checks, as agents have neither a browser, nor Node.js for scripts, nor a language model`;
}

/** A check of any type, selected by its checkType. */
export const anyCheckBody = z.preprocess(
  (body, context) => {
    if (typeof body !== 'object' || body === null) return body;
    const message = typeProblem((body as { checkType?: unknown }).checkType);
    if (message === null) return body;
    context.addIssue({ code: 'custom', path: ['checkType'], message });
    return z.NEVER;
  },
  z.discriminatedUnion('checkType', [
    CHECK_SHAPES.URL.extend(ignored(['warnings'])).meta({ title: 'TypedUrlCheckInput' }),
    CHECK_SHAPES.API.extend(ignored(['warnings'])).meta({ title: 'TypedApiCheckInput' }),
    CHECK_SHAPES.TCP.extend(ignored(['warnings'])).meta({ title: 'TypedTcpCheckInput' }),
    CHECK_SHAPES.DNS.extend(ignored(['warnings'])).meta({ title: 'TypedDnsCheckInput' }),
    CHECK_SHAPES.ICMP.extend(ignored(['warnings'])).meta({ title: 'TypedIcmpCheckInput' }),
  ]),
);

/** Discriminated by checkType: trying the six variants one by one takes several times as long. */
export const anyCheckResponse: z.ZodType<Record<string, unknown>> = z.discriminatedUnion(
  'checkType',
  [RESPONSES.URL, RESPONSES.API, RESPONSES.TCP, RESPONSES.DNS, RESPONSES.ICMP, heartbeatResponse],
);
