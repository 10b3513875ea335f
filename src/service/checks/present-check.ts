import { commonFields } from '../../model/check/check.ts';
import { retryStrategySchema } from '../../model/check/retry.ts';
import { maskRequest } from '../../model/credentials/credential-fields.ts';
import { ServiceError } from '../errors.ts';
import type { Viewer } from '../http/access/viewer.ts';
import type { CheckWithChannels } from './checks.ts';
import { maskChannels } from './masked-channels.ts';

const DEFAULT_REMINDERS = { amount: 0, interval: 5 };
const DEFAULT_PARALLEL_THRESHOLD = { enabled: false, percentage: 10 };

/**
 * A check as the API shows it: src/model/README.md, "Fields of every check". Its credentials are
 * hidden from every key. `presentHeartbeat` shows heartbeats.
 */
export function presentCheck(stored: CheckWithChannels, viewer: Viewer): Record<string, unknown> {
  const { check } = stored;
  if (check.checkType === 'HEARTBEAT')
    throw new ServiceError(500, 'A heartbeat check was presented as a check that runs');
  const {
    retryStrategy,
    triggerIncident: _,
    frequencyOffset,
    variables,
    request,
    ...fields
  } = check;
  return {
    ...fields,
    ...presentShared(stored, viewer),
    request: maskRequest(request),
    variables: variables.map(({ value, ...variable }) => ({
      ...variable,
      value: variable.secret ? null : value,
    })),
    ...(retryStrategy === undefined
      ? {}
      : { retryStrategy: retryStrategy ?? retryStrategySchema.parse({ type: 'NO_RETRIES' }) }),
    ...(frequencyOffset === null ? {} : { frequencyOffset }),
  };
}

/** The fields of every type that responses show in another form than they are stored. */
export function presentShared(
  { check, createdAt, updatedAt, alertChannels, warnings = [] }: CheckWithChannels,
  viewer: Viewer,
): Record<string, unknown> {
  const { alertSettings, triggerIncident } = check;
  return {
    alertSettings: presentAlertSettings(alertSettings),
    ...(triggerIncident === undefined || triggerIncident === null ? {} : { triggerIncident }),
    alertChannels: viewer.mayWrite ? alertChannels : maskChannels(alertChannels),
    created_at: createdAt.toISOString().slice(0, 10),
    updated_at: updatedAt?.toISOString() ?? null,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

/** Fills in all defaults. */
export function presentAlertSettings(given: CheckWithChannels['check']['alertSettings']): object {
  const settings = given ?? commonFields.alertSettings.unwrap().parse({});
  return {
    ...(settings.escalationType === 'RUN_BASED'
      ? { runBasedEscalation: { failedRunThreshold: 1 } }
      : { timeBasedEscalation: { minutesFailingThreshold: 5 } }),
    reminders: DEFAULT_REMINDERS,
    parallelRunFailureThreshold: DEFAULT_PARALLEL_THRESHOLD,
    ...settings,
  };
}
