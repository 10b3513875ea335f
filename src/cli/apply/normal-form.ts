import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { type Check, checkBodySchema, commonFields } from '../../model/check/check.ts';
import { retryStrategySchema } from '../../model/check/retry.ts';
import { mapCredentials } from '../../model/credentials/credential-fields.ts';
import { MASK } from '../../model/credentials/mask.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { parseTolerantly, problemOf } from '../../wire/v1/tolerant-parse.ts';

const alertSettingsSchema = commonFields.alertSettings.unwrap();
const { runBasedEscalation, timeBasedEscalation, reminders, parallelRunFailureThreshold } =
  alertSettingsSchema.shape;

/** The strategy of `doubleCheck` if none is given: one immediate retry in another location. */
const DOUBLE_CHECK = retryStrategySchema.parse({
  type: 'SINGLE_RETRY',
  baseBackoffSeconds: 0,
  sameRegion: false,
});
const NO_RETRIES = retryStrategySchema.parse({ type: 'NO_RETRIES' });

/**
 * Fills in all defaults of two checks, so that equivalent checks are equal, and an update overwrites every field
 * of the service. If neither has a retry strategy, only `doubleCheck` decides about retries.
 *
 * @param leavesChannels whether the second leaves its alert channels to the service, and so has the subscriptions of
 *   the first
 */
export function comparable(
  one: Check,
  other: Check,
  leavesChannels: boolean,
): readonly [Check, Check] {
  const isGiven = one.retryStrategy !== undefined || other.retryStrategy !== undefined;
  const before = normalForm(one, isGiven);
  const after = normalForm(other, isGiven);
  const { alertChannelSubscriptions } = leavesChannels ? before : after;
  return [before, { ...after, alertChannelSubscriptions }];
}

function normalForm(check: Check, withStrategy: boolean): Check {
  const { retryStrategy: strategy, doubleCheck, logicalId, ...fields } = check;
  const fallback = doubleCheck ? DOUBLE_CHECK : NO_RETRIES;
  const retryStrategy = strategy === undefined ? fallback : (strategy ?? NO_RETRIES);
  return {
    ...fields,
    doubleCheck,
    alertChannelSubscriptions: [...sortedSubscriptions(check.alertChannelSubscriptions)],
    alertSettings: alertSettingsOf(check.alertSettings),
    ...(withStrategy ? { retryStrategy } : {}),
    // A service of the previous release does not know the field.
    ...(typeof logicalId === 'string' ? { logicalId } : {}),
    triggerIncident: check.triggerIncident ?? null,
  };
}

/** Sorts subscriptions: their order has no meaning, and differs between responses and files. */
export function sortedSubscriptions<One>(subscriptions: readonly One[]): readonly One[];
export function sortedSubscriptions(subscriptions: unknown): unknown;
export function sortedSubscriptions(subscriptions: unknown): unknown {
  if (!Array.isArray(subscriptions)) return subscriptions;
  return subscriptions.toSorted((one: unknown, other: unknown) =>
    channelIdOf(one) < channelIdOf(other) ? -1 : 1,
  );
}

function channelIdOf(subscription: unknown): string {
  return String(namesChannelSchema.safeParse(subscription).data?.alertChannelId);
}

const namesChannelSchema = z.looseObject({ alertChannelId: z.union([z.string(), z.number()]) });

export function alertSettingsOf(
  given: Check['alertSettings'],
): NonNullable<Check['alertSettings']> {
  const settings = given ?? alertSettingsSchema.parse({});
  const escalation =
    settings.escalationType === 'RUN_BASED'
      ? { runBasedEscalation: runBasedEscalation.unwrap().parse({}) }
      : { timeBasedEscalation: timeBasedEscalation.unwrap().parse({}) };
  return {
    ...escalation,
    reminders: reminders.unwrap().parse({}),
    parallelRunFailureThreshold: parallelRunFailureThreshold.unwrap().parse({}),
    ...settings,
  };
}

/** The fields that identify a check. */
const namedSchema = z.looseObject({ id: z.string(), checkType: z.string() });

/**
 * Stands for the value of a secret variable or a credential, which the service never returns. It differs from
 * every value in a file, because it is unknown whether the two are equal.
 */
export const UNKNOWN_SECRET: string = randomUUID();

/** Fields that the service adds. */
const RESPONSE_ONLY: readonly string[] = ['id', 'created_at', 'updated_at', 'alertChannels'];

/** A check as the API returns it; `check` is null if this release cannot parse it. */
export interface KnownCheck {
  readonly id: string;
  readonly checkType: string;
  readonly check: Check | null;
}

/**
 * @param json one entry of a list of checks
 * @throws VedetteError of kind `environment` if it is not a check
 */
export function knownCheckOf(json: unknown): KnownCheck {
  const named = namedSchema.safeParse(json);
  if (!named.success) {
    const message = `SERVICE_URL names no Vedette service: an entry of its list of checks is not valid (${problemOf(named.error)})`;
    throw new VedetteError('environment', 'SERVICE_FAILED', message);
  }
  const { id, checkType } = named.data;
  const fields = Object.entries(named.data)
    .filter(([field]) => !RESPONSE_ONLY.includes(field))
    .map(([field, value]) => [field, withUnknown(field, value)]);
  // A newer service may return fields that this release does not know.
  const body = parseTolerantly(checkBodySchema, Object.fromEntries(fields));
  return { id, checkType, check: body.ok ? { ...body.value, id } : null };
}

const secretSchema = z.looseObject({ secret: z.literal(true), value: z.null().optional() });

function withUnknown(field: string, value: unknown): unknown {
  if (field === 'variables') return withSecrets(value);
  if (field !== 'request') return value;
  return mapCredentials(value, (text) => (text === MASK ? UNKNOWN_SECRET : text));
}

function withSecrets(variables: unknown): unknown {
  if (!Array.isArray(variables)) return variables;
  return variables.map((variable: unknown) => {
    const secret = secretSchema.safeParse(variable);
    return secret.success ? { ...secret.data, value: UNKNOWN_SECRET } : variable;
  });
}
