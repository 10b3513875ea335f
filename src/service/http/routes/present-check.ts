import { commonFields } from '../../../model/check.ts';
import { retryStrategySchema } from '../../../model/retry.ts';
import type { StoredCheck } from '../../features/checks.ts';

const NO_CHANNELS = { email: [], webhook: [], slack: [], sms: [] };
const DEFAULT_REMINDERS = { amount: 0, interval: 5 };
const DEFAULT_PARALLEL_THRESHOLD = { enabled: false, percentage: 10 };

/** A check as the API tells it: spec 2.2. */
export function presentCheck({
  check,
  createdAt,
  updatedAt,
}: StoredCheck): Record<string, unknown> {
  const { alertSettings, retryStrategy, triggerIncident, frequencyOffset, ...fields } = check;
  return {
    ...fields,
    alertSettings: presentAlertSettings(alertSettings),
    ...(retryStrategy === undefined
      ? {}
      : { retryStrategy: retryStrategy ?? retryStrategySchema.parse({ type: 'NO_RETRIES' }) }),
    ...(triggerIncident === undefined || triggerIncident === null ? {} : { triggerIncident }),
    ...(frequencyOffset === null ? {} : { frequencyOffset }),
    alertChannels: NO_CHANNELS,
    created_at: createdAt.toISOString().slice(0, 10),
    updated_at: updatedAt?.toISOString() ?? null,
  };
}

/** With all that holds where nothing else is said. */
function presentAlertSettings(given: StoredCheck['check']['alertSettings']): object {
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
