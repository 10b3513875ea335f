import type { GivenAlert } from '../judgement-builder.ts';
import type { AlertNotice } from '../notice.ts';
import type { AlertSubject } from '../states.sql.ts';

/** The notice to channels of an alert of a check, or of a reminder of it. */
export function noticeOfAlert(
  { checkId: id, name, checkType, tags, groupName, locations }: AlertSubject,
  alert: Omit<GivenAlert, 'acknowledgement' | 'escalatedTo'>,
  atMs: number,
): AlertNotice {
  const { alertId, alertType, reminder, sinceMs, facts, flapping } = alert;
  const [onlyLocation, ...others] = locations;
  return {
    ...facts,
    alertId,
    alertType,
    atMs,
    // A check and its group may have the same tag.
    check: { id, name, checkType, tags: [...new Set(tags)], groupName },
    reminder,
    ...(sinceMs === null ? {} : { sinceMs }),
    ...(onlyLocation === undefined || others.length > 0 ? {} : { onlyLocation }),
    ...(flapping === undefined ? {} : { flapping }),
  };
}
