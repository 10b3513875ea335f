import type { Check } from '../../model/check/check.ts';
import { serviceIdSchema } from '../../model/status-page/status-page.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Sql } from '../database/port.ts';
import { openIncidentOfCheck, resolveIncidentOfCheck } from './trigger.sql.ts';

/** What a check says of the incident that its failure opens. */
export type TriggerIncident = NonNullable<Check['triggerIncident']>;

/**
 * Opens and resolves incidents of status pages as checks fail and recover (src/service/README.md,
 * "Status pages and incidents"). Called in the transaction of whoever judges the check, which holds
 * its lock. Neither call fails by what the trigger says or by what people did to the incident
 * meanwhile: results must not be lost by it.
 */
export interface IncidentTrigger {
  /**
   * With the first failure notice. Does nothing where the incident that the check opened before is
   * still open, and only logs where the trigger names a service that the account has not.
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
   * With the recovery, whether the check still has a trigger or not, and also once it is deleted.
   * Does nothing where somebody resolved or deleted the incident meanwhile.
   */
  resolved(
    tx: Sql,
    accountId: string,
    incident: { readonly checkId: string; readonly atMs: number },
  ): Promise<void>;
}

/** Longer than any id that is one. */
const MAX_LOGGED_CHARS = 100;
/** Readers of the page are told this. */
const RECOVERED = 'The service has recovered.';

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
      const outcome = serviceIdSchema.safeParse(serviceId).success
        ? await openIncidentOfCheck(tx, {
            accountId,
            checkId,
            serviceId,
            incidentId: ids(),
            updateId: ids(),
            name,
            severity,
            // Readers cannot make anything of nothing.
            description: description === '' ? name : description,
            notifySubscribers,
            atMs,
          })
        : 'no service';
      if (outcome !== 'no service') return;
      log.warn(
        { accountId, checkId, serviceId: serviceId.slice(0, MAX_LOGGED_CHARS) },
        'a check failed and opened no incident: its triggerIncident names a service of status pages that is not there',
      );
    },

    async resolved(tx, accountId, { checkId, atMs }) {
      const resolved = { accountId, checkId, updateId: ids(), description: RECOVERED, atMs };
      await resolveIncidentOfCheck(tx, resolved);
    },
  };
}
