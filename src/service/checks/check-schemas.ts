import { z } from 'zod';
import { ALERT_CHANNEL_SHAPES } from '../../model/alerting/alert-channel.ts';
import { CHECK_SHAPES, commonFields } from '../../model/check/check.ts';
import {
  heartbeatCheckSchema,
  heartbeatFields,
  rhythmFields,
} from '../../model/check/heartbeat.ts';
import { changedApiRequestSchema } from '../../model/check/request/http.ts';
import { retryStrategySchema } from '../../model/check/retry.ts';
import { MAX_OWN_VARIABLES, ownVariableSchema } from '../../model/check/variable.ts';
import { CHECK_TYPES, RUNNABLE_CHECK_TYPES, type RunnableCheckType } from '../../model/enums.ts';
import { ignored, optionalFieldsOf } from '../http/resources/resource-schemas.ts';
import { asShown, SHOWN_CHECK } from '../http/resources/shown-fields.ts';
import { warningsSchema } from '../http/resources/warnings.ts';

const { config: email } = ALERT_CHANNEL_SHAPES.EMAIL.shape;
const { config: webhook } = ALERT_CHANNEL_SHAPES.WEBHOOK.shape;
const { config: slack } = ALERT_CHANNEL_SHAPES.SLACK.shape;
const { config: sms } = ALERT_CHANNEL_SHAPES.SMS.shape;
const { key, locked, value: pairValue } = webhook.shape.queryParameters.unwrap().element.shape;
const pair = z.object({
  key: asShown(key),
  value: asShown(pairValue),
  locked: z.boolean().describe(locked.description ?? ''),
});

/** src/model/README.md, "Fields of every check". */
const alertChannels = z
  .object({
    email: z
      .array(z.object({ address: asShown(email.shape.address) }))
      .describe('Those that send mails.'),
    webhook: z
      .array(
        z.object({
          url: asShown(webhook.shape.url),
          name: asShown(webhook.shape.name),
          method: asShown(webhook.shape.method),
          headers: z.array(pair).describe(webhook.shape.headers.description ?? ''),
          queryParameters: z.array(pair).describe(webhook.shape.queryParameters.description ?? ''),
        }),
      )
      .describe('Those that send requests.'),
    slack: z
      .array(z.object({ url: asShown(slack.shape.url) }))
      .describe('Those that send messages to Slack.'),
    sms: z
      .array(z.object({ number: asShown(sms.shape.number), name: asShown(sms.shape.name) }))
      .describe('Those that send text messages.'),
    omitted: z
      .int()
      .optional()
      .describe(
        'How many more channels receive its alerts, whose data would exceed 64 KiB in total. They are in alertChannelSubscriptions.',
      ),
  })
  .meta({ title: 'CheckAlertChannels' });

const { value, ...ownVariable } = ownVariableSchema.shape;
const variables = z.array(
  z
    .strictObject({ ...ownVariable, value: value.nullable().describe('null if it is secret.') })
    .meta({ title: 'CheckVariable' }),
);
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

const offsetSchema = commonFields.frequencyOffset.unwrap().unwrap();

/**
 * The fields that a response adds to or replaces in a body: src/model/README.md, "Fields of every
 * check". If a field is null in the body and not nullable in responses, the response omits it.
 */
const responseFields = {
  alertSettings: commonFields.alertSettings.unwrap().describe('When a failure sends alerts.'),
  retryStrategy: retryStrategySchema
    .optional()
    .describe('How a failed run is retried; omitted if `doubleCheck` decides.'),
  triggerIncident: commonFields.triggerIncident
    .unwrap()
    .unwrap()
    .optional()
    .describe('The incident that a failure opens; omitted if there is none.'),
  frequencyOffset: offsetSchema
    .optional()
    .describe('The offset of the slots; omitted if it is derived from the id.'),
  variables: variables.describe(
    "Values for the check's templates; they take precedence over all other variables.",
  ),
  id: SHOWN_CHECK.checkId,
  created_at: z.iso.date().describe('The day of its creation, in UTC.'),
  updated_at: z.iso.datetime().nullable().describe('null until the first update.'),
  alertChannels: alertChannels.describe('The channels that receive the alerts of the check.'),
  warnings: warningsSchema,
};

/** The schemas of one check type's routes. */
export interface TypeSchemas {
  readonly create: z.ZodType<Record<string, unknown>>;
  /** Nothing is required, and omitted fields get no defaults. */
  readonly update: z.ZodType<Record<string, unknown>>;
  readonly response: z.ZodType<Record<string, unknown>>;
}

const RESPONSES = {
  URL: CHECK_SHAPES.URL.extend(responseFields),
  API: CHECK_SHAPES.API.extend(responseFields),
  TCP: CHECK_SHAPES.TCP.extend(responseFields),
  DNS: CHECK_SHAPES.DNS.extend(responseFields),
  ICMP: CHECK_SHAPES.ICMP.extend(responseFields),
} as const;

const {
  retryStrategy: _,
  frequencyOffset: __,
  variables: ___,
  ...heartbeatResponseFields
} = responseFields;
export const heartbeatResponse = heartbeatCheckSchema.extend({
  ...heartbeatResponseFields,
  lastPingAt: z.iso
    .datetime()
    .nullable()
    .describe('When the last ping arrived; null before the first.'),
  heartbeat: z
    .strictObject({
      ...rhythmFields,
      pingToken: z
        .string()
        .describe('Anyone who knows it can ping. ******** for keys without write access.'),
      pingUrl: z
        .string()
        .describe('Send a GET or POST request to it at the end of each run of the job.'),
    })
    .describe(heartbeatFields.heartbeat.description ?? ''),
});

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

/** A union discriminated by checkType: trying the six one by one takes several times as long. */
export const anyCheckResponse: z.ZodType<Record<string, unknown>> = z.discriminatedUnion(
  'checkType',
  [RESPONSES.URL, RESPONSES.API, RESPONSES.TCP, RESPONSES.DNS, RESPONSES.ICMP, heartbeatResponse],
);
