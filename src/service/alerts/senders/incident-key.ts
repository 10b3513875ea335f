import { reportsEnd } from '../../../model/alerting/alert.ts';
import { stableId } from '../../../model/ids.ts';
import type { AlertNotice } from '../notice.ts';

/** Whether a notice reports a problem, its acknowledgement or its end. */
export type IncidentAction = 'trigger' | 'acknowledge' | 'resolve';

export function incidentActionOf({
  alertType,
  acknowledgement,
}: Pick<AlertNotice, 'alertType' | 'acknowledgement'>): IncidentAction {
  if (acknowledgement !== undefined) return acknowledgement.isUndone ? 'trigger' : 'acknowledge';
  return reportsEnd(alertType) ? 'resolve' : 'trigger';
}

/**
 * The key by which an incident service recognises a problem (deduplication key). All notices of a problem have the same
 * key, from the first alert to the recovery, so that the recovery closes what the alert opened. A check has one problem
 * at a time; after its end the same key opens a new incident. A certificate has its own key: its alert has no end, and
 * the recovery of the check must not close it.
 */
export function incidentKeyOf(
  accountId: string,
  { alertType, check, location }: Pick<AlertNotice, 'alertType' | 'check' | 'location'>,
): string {
  const subject = alertType === 'ALERT_SSL' ? 'certificate' : 'condition';
  return stableId('incident', accountId, location?.id ?? check.id, subject);
}
