import { z } from 'zod';
import { type Check, checkBodySchema, commonFields } from '../../model/check.ts';
import { retryStrategySchema } from '../../model/retry.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { parseTolerantly, problemOf } from '../../wire/v1/tolerant-parse.ts';

/** A check with nothing left to say: two that mean the same are the same in this form. */
export type NormalCheck = Check;

const alertSettingsSchema = commonFields.alertSettings.unwrap();
const { runBasedEscalation, timeBasedEscalation, reminders, parallelRunFailureThreshold } =
  alertSettingsSchema.shape;

/** `doubleCheck` where no strategy is given: one retry at once, in another location; or none. */
const DOUBLE_CHECK = retryStrategySchema.parse({
  type: 'SINGLE_RETRY',
  baseBackoffSeconds: 0,
  sameRegion: false,
});
const NO_RETRIES = retryStrategySchema.parse({ type: 'NO_RETRIES' });

/**
 * Fills in what holds where nothing is said, also where that depends on another field; so no update
 * leaves behind what the service knew before.
 */
export function normalForm(check: Check): NormalCheck {
  const { retryStrategy: strategy, doubleCheck } = check;
  const unsaid = doubleCheck ? DOUBLE_CHECK : NO_RETRIES;
  return {
    ...check,
    alertSettings: alertSettingsOf(check.alertSettings),
    retryStrategy: strategy === undefined ? unsaid : (strategy ?? NO_RETRIES),
    triggerIncident: check.triggerIncident ?? null,
  };
}

function alertSettingsOf(given: Check['alertSettings']): NonNullable<Check['alertSettings']> {
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

/** Enough of a check to say which one it is. */
const namedSchema = z.looseObject({ id: z.string(), checkType: z.string() });

/** What the service adds. */
const RESPONSE_ONLY: readonly string[] = ['id', 'created_at', 'updated_at', 'alertChannels'];

/** A check as the API tells it: null where this release cannot make sense of it. */
export interface KnownCheck {
  readonly id: string;
  readonly checkType: string;
  readonly check: NormalCheck | null;
}

/**
 * @param json one entry of a list of checks
 * @throws VedetteError of kind `environment` where it is no check at all
 */
export function knownCheckOf(json: unknown): KnownCheck {
  const named = namedSchema.safeParse(json);
  if (!named.success) {
    const message = `SERVICE_URL names no Vedette service: an entry of its list of checks is none (${problemOf(named.error)})`;
    throw new VedetteError('environment', 'SERVICE_FAILED', message);
  }
  const { id, checkType } = named.data;
  const fields = Object.entries(named.data).filter(([field]) => !RESPONSE_ONLY.includes(field));
  // A newer service may tell more than this release knows.
  const body = parseTolerantly(checkBodySchema, Object.fromEntries(fields));
  return { id, checkType, check: body.ok ? normalForm({ ...body.value, id }) : null };
}
