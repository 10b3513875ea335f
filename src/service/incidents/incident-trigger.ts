import type { Check } from '../../model/check/check.ts';
import { serviceIdSchema } from '../../model/status-page/status-page.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Sql } from '../database/store.ts';
import { announceUpdates } from '../status-pages/subscriptions/shared.sql.ts';
import { openIncidentOfCheck, resolveIncidentOfCheck } from './trigger.sql.ts';

/** The fields of the incident that a failure of the check opens. */
export type TriggerIncident = NonNullable<Check['triggerIncident']>;

/**
 * Opens and resolves incidents of status pages when checks fail and recover (src/service/README.md,
 * "Status pages and incidents"), in the transaction that judges the check and locks it. Neither call
 * fails because of the trigger's content or of what people did to the incident: the transaction also
 * stores results.
 */
export interface IncidentTrigger {
  /**
   * Called with the first failure notice. Does nothing while the check has an open incident. If the account has
   * no such service, only logs a warning.
   */
  opened(
    tx: Sql,
    accountId: string,
    incident: {
      readonly checkId: string;
      readonly trigger: TriggerIncident;
      readonly atMs: number;
    },
  ): Promise<void>;
  /**
   * Called with the recovery, even if the check no longer has a trigger or is deleted. Does nothing if a user
   * has resolved or deleted the incident.
   */
  resolved(
    tx: Sql,
    accountId: string,
    incident: { readonly checkId: string; readonly atMs: number },
  ): Promise<void>;
}

/** The text of the last update of an incident that a check resolves, for readers of the page. */
export const RECOVERED_TEXT = 'The service has recovered.';

/** Longer than any valid id. */
const MAX_LOGGED_CHARS = 100;

export function createIncidentTrigger({
  log,
  ids,
}: {
  readonly log: Logger;
  /** Makes a UUID. */
  readonly ids: () => string;
}): IncidentTrigger {
  return {
    async opened(tx, accountId, { checkId, trigger, atMs }) {
      const { serviceId, name, severity, description, notifySubscribers } = trigger;
      const updateId = ids();
      const outcome = serviceIdSchema.safeParse(serviceId).success
        ? await openIncidentOfCheck(tx, {
            accountId,
            checkId,
            serviceId,
            incidentId: ids(),
            updateId,
            name,
            severity,
            // An update must have a text.
            description: description === '' ? name : description,
            notifySubscribers,
            atMs,
          })
        : 'no service';
      if (outcome === 'opened' && notifySubscribers) {
        await announceUpdates(tx, { accountId, updateIds: [updateId], atMs });
      }
      if (outcome !== 'no service') return;
      log.warn(
        { accountId, checkId, serviceId: serviceId.slice(0, MAX_LOGGED_CHARS) },
        'a check failed and opened no incident: the service of its triggerIncident does not exist',
      );
    },

    async resolved(tx, accountId, { checkId, atMs }) {
      const updateId = ids();
      const resolved = { accountId, checkId, updateId, text: RECOVERED_TEXT, atMs };
      if (await resolveIncidentOfCheck(tx, resolved)) {
        await announceUpdates(tx, { accountId, updateIds: [updateId], atMs });
      }
    },
  };
}
