import { z } from 'zod';
import { alertSettingsSchema } from '../alerting/alert-settings.ts';
import { FREQUENCIES, LOCATIONS, RUNTIME_IDS } from '../enums.ts';
import { logicalIdField } from '../logical-id.ts';
import { FILE_SUB_MINUTE_OFFSETS, maxFrequencyOffset } from '../schedule/frequency.ts';
import { dependsOnField } from './dependencies.ts';
import { dnsRequestSchema } from './request/dns.ts';
import { apiRequestSchema, urlRequestSchema } from './request/http.ts';
import { icmpRequestSchema } from './request/icmp.ts';
import { tcpRequestSchema } from './request/tcp.ts';
import { retryStrategySchema } from './retry.ts';
import { type CheckScripts, scriptFields, scriptRules } from './scripts.ts';
import { packetLossThresholds, thresholds, withFittingDefault } from './thresholds.ts';
import { MAX_OWN_VARIABLES, ownVariablesSchema } from './variable.ts';

const SEVERITIES = ['CRITICAL', 'MAJOR', 'MEDIUM', 'MINOR'] as const;

const triggerIncidentSchema = z
  .strictObject({
    serviceId: z
      .string()
      .min(1)
      .describe('The id of the service of status pages that the incident affects.'),
    severity: z.enum(SEVERITIES).describe('How severe it is.'),
    name: z.string().min(1).max(200).describe('The name of the incident.'),
    description: z.string().max(2000).default('').describe('The text that readers see.'),
    notifySubscribers: z
      .boolean()
      .default(false)
      .describe('Whether the subscribers of the page are notified.'),
  })
  .meta({ title: 'TriggerIncident' });

/** An alert channel that is notified of a check. */
export const subscriptionSchema = z.strictObject({
  alertChannelId: z.number().describe('The id of the alert channel.'),
  activated: z.boolean().default(true).describe('Whether the channel is notified of the check.'),
});

/** The writable fields that every check type has: src/model/README.md, "Fields of every check". */
export const commonFields = {
  name: z.string().min(1).max(255).describe('The name of the check.'),
  activated: z.boolean().default(true).describe('Whether the check runs.'),
  muted: z.boolean().default(false).describe('Whether the check sends no alerts.'),
  doubleCheck: z
    .boolean()
    .default(true)
    .describe(
      'Whether a failed run is retried once, without delay. Applies only if `retryStrategy` is omitted.',
    )
    .meta({ deprecated: true }),
  shouldFail: z
    .boolean()
    .default(false)
    .describe(
      'Inverts the criterion: for example, a status of 400 or higher, or no response, passes.',
    ),
  locations: z
    .array(z.enum(LOCATIONS))
    .nullable()
    .default(null)
    .describe(
      'Public locations: stored but not used, as no agent serves them. Responses warn of them. Through the API, a check needs at least one location, here or in `privateLocations`. Not needed in a check file.',
    ),
  privateLocations: z
    .array(z.string().min(1).max(255))
    .nullable()
    .default(null)
    .describe(
      'The slugs of the private locations that run the check, for example `["office"]`. Through the API, a check needs at least one location, here or in `locations`. Not needed in a check file.',
    ),
  tags: z
    .array(z.string().min(1).max(255))
    .max(100)
    .default([])
    .describe('Labels for grouping and filtering.'),
  alertSettings: alertSettingsSchema.optional().describe('When failures send alerts.'),
  useGlobalAlertSettings: z
    .boolean()
    .default(true)
    .describe('Whether the alert settings of the account replace those of the check.'),
  groupId: z
    .number()
    .nullable()
    .default(null)
    .describe('The id of the group that the check belongs to.'),
  groupOrder: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe(
      'The position of the check in its group. If the group is run, its checks run in this order.',
    ),
  runtimeId: z
    .enum(RUNTIME_IDS)
    .nullable()
    .default(null)
    .describe('Stored but not used: scripts run in one runtime, whichever is named.'),
  alertChannelSubscriptions: z
    .array(subscriptionSchema)
    .default([])
    .describe(
      'The alert channels that are notified of the check. If omitted, a new check gets every channel of the account, and an existing one keeps its own. An empty list in a check file: no channel.',
    ),
  /** Omitted: `doubleCheck` decides. null: no retries. */
  retryStrategy: retryStrategySchema
    .nullable()
    .optional()
    .describe('How a failed run is retried; null for no retries.'),
  triggerIncident: triggerIncidentSchema
    .nullable()
    .optional()
    .describe('The incident that a failure opens on a status page.'),
  dependsOn: dependsOnField,
  runParallel: z
    .boolean()
    .default(false)
    .describe('Whether all locations run every slot. If false, they run the slots in rotation.'),
  variables: ownVariablesSchema(MAX_OWN_VARIABLES)
    .default([])
    .describe(
      'Values for the templates of the check, as {key, value, secret}. They take precedence over all other variables.',
    ),
  description: z.string().max(500).nullable().default(null).describe('A note for users.'),
  /** Omitted, unless a file with a name manages the check. */
  logicalId: logicalIdField
    .unwrap()
    .optional()
    .describe(
      'The name of the check file that manages it (`vedette apply`), `/` and the id; null or omitted if no file with a name does. Not in a check file.',
    ),
  frequency: z
    .literal(FREQUENCIES)
    .default(10)
    .describe(
      'Minutes between runs. 0: `frequencyOffset` gives the seconds between runs, see Checks that run every few seconds.',
    ),
  frequencyOffset: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe(
      'If `frequency` is 0: the seconds between runs, 10, 20 or 30, or 15 without a service (required). Otherwise: shifts the slots by steps of 6 s, at most frequency · 10 steps (for a frequency above 60: steps of 60 min, at most frequency / 60). If omitted, the shift is derived from the id of the check.',
    ),
};

/** The field that tells the types of checks apart. */
export function checkTypeField<const Type extends string>(type: Type) {
  return z.literal(type).describe('The type of the check. It never changes.');
}

function sent<Schema extends z.ZodType>(request: Schema): Schema {
  return request.describe('What the check sends, and what it expects.');
}

const urlCheck = z.strictObject({
  checkType: checkTypeField('URL'),
  ...commonFields,
  ...thresholds('URL', 5000, 30_000),
  request: sent(urlRequestSchema),
});
const apiCheck = z.strictObject({
  checkType: checkTypeField('API'),
  ...commonFields,
  ...thresholds('API', 20_000, 30_000),
  ...scriptFields,
  request: sent(apiRequestSchema),
});
const tcpCheck = z.strictObject({
  checkType: checkTypeField('TCP'),
  ...commonFields,
  ...thresholds('TCP', 5000, 5000),
  request: sent(tcpRequestSchema),
});
const dnsCheck = z.strictObject({
  checkType: checkTypeField('DNS'),
  ...commonFields,
  ...thresholds('DNS', 1000, 5000),
  request: sent(dnsRequestSchema),
});
const icmpCheck = z.strictObject({
  checkType: checkTypeField('ICMP'),
  ...commonFields,
  ...packetLossThresholds,
  request: sent(icmpRequestSchema),
});

/** Each type's own fields, before the rules between fields. */
export const CHECK_SHAPES = {
  URL: urlCheck,
  API: apiCheck,
  TCP: tcpCheck,
  DNS: dnsCheck,
  ICMP: icmpCheck,
} as const;

/**
 * The rules between fields: src/model/README.md, "Thresholds", src/model/README.md, "Fields of
 * every check".
 */
function crossFieldRules(check: CommonBody, context: z.RefinementCtx): void {
  const refuse = (path: string[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });

  const { frequency, frequencyOffset, checkType } = check;
  if (frequency === 0) {
    if (!FILE_SUB_MINUTE_OFFSETS.includes(frequencyOffset ?? 0)) {
      refuse(['frequencyOffset'], 'must be 10, 15, 20 or 30 (seconds) when frequency is 0');
    }
  } else if (frequencyOffset !== null) {
    const max = maxFrequencyOffset(frequency);
    if (frequencyOffset > max) {
      refuse(['frequencyOffset'], `must be from 1 to ${max} when frequency is ${frequency}`);
    }
  }

  const pair =
    check.checkType === 'ICMP'
      ? (['degradedPacketLossThreshold', 'maxPacketLossThreshold'] as const)
      : (['degradedResponseTime', 'maxResponseTime'] as const);
  const values = check as unknown as Record<string, number | null>;
  const degraded = values[pair[0]] ?? null;
  const max = values[pair[1]] ?? null;
  if (degraded !== null && max !== null && degraded > max) {
    refuse([pair[0]], `must not be over ${pair[1]}, which is ${max}`);
  }

  if (check.checkType === 'API') scriptRules(check, context);

  const onlyOn = check.retryStrategy?.onlyOn ?? [];
  if (onlyOn.length > 0 && checkType !== 'URL' && checkType !== 'API') {
    refuse(['retryStrategy', 'onlyOn'], 'must be left out: it is for URL and API checks only');
  }
}

/** The fields that differ between otherwise equal checks. */
export const OWN_FIELDS = ['name', 'request'] as const;

/**
 * The rules between fields do not read OWN_FIELDS, so that otherwise equal checks share a result.
 */
type CommonBody = CommonOf<CheckBody>;
type CommonOf<Body> = Body extends unknown ? Omit<Body, (typeof OWN_FIELDS)[number]> : never;

type CheckBody =
  | z.infer<typeof urlCheck>
  | z.infer<typeof apiCheck>
  | z.infer<typeof tcpCheck>
  | z.infer<typeof dnsCheck>
  | z.infer<typeof icmpCheck>;

/** Any check that an agent can run, as the API and the check file take it, without its id. */
export const checkBodySchema = z.preprocess(
  withFittingDefault,
  z
    .discriminatedUnion('checkType', [urlCheck, apiCheck, tcpCheck, dnsCheck, icmpCheck])
    .superRefine(crossFieldRules),
);

/** A check with its id and every default filled in: what is scheduled and run. */
export type Check = CheckBody & {
  readonly id: string;
  /** Replaces its script fields: includes the scripts of its group, and the code of snippets. */
  readonly scripts?: CheckScripts;
};
export type CheckOf<Type extends Check['checkType']> = Extract<Check, { checkType: Type }>;
