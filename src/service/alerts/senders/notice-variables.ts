import { cutText } from '../../../runtime/text/cut-text.ts';
import { type AlertNotice, noticeTypeOf } from '../notice.ts';
import { headlineOf, MAX_ERROR_BYTES } from './headline.ts';
import type { OpenDelivery } from './send.ts';

type Value = string | number | null | readonly string[];

interface NoticeVariable {
  readonly name: string;
  /** For the documentation. */
  readonly meaning: string;
  readonly of: (delivery: Pick<OpenDelivery, 'deliveryId' | 'notice'>) => Value;
}

/** The variables of a webhook's template, and the fields of the default body, in this order. */
export const NOTICE_VARIABLES: readonly NoticeVariable[] = [
  {
    name: 'ALERT_TITLE',
    meaning: 'One line that says what happened, for people.',
    of: ({ notice }) => headlineOf(notice),
  },
  {
    name: 'ALERT_TYPE',
    meaning:
      'One of the alert types, for example ALERT_FAILURE, or LOCATION_SILENT or LOCATION_RECOVERY.',
    of: ({ notice: { alertType, location } }) =>
      noticeTypeOf({ alertType, isOfLocation: location !== undefined }),
  },
  {
    name: 'ALERT_ID',
    meaning: 'The id of the alert, as /v1/check-alerts has it for checks.',
    of: ({ notice }) => notice.alertId,
  },
  {
    name: 'ALERT_TIME',
    meaning: 'When the alert was created: ISO 8601, UTC.',
    of: ({ notice }) => isoTime(notice.atMs),
  },
  {
    name: 'DELIVERY_ID',
    meaning: 'The id of this notice to this channel: the same when it is sent again.',
    of: ({ deliveryId }) => deliveryId,
  },
  {
    name: 'REMINDER',
    meaning: '0 for the notice itself, then 1, 2, … for its reminders.',
    of: ({ notice }) => notice.reminder,
  },
  {
    name: 'CHECK_ID',
    meaning: 'The id of the check; null, as its name and type, for a silent location.',
    of: ({ notice }) => ofCheck(notice, ({ check }) => check.id),
  },
  {
    name: 'CHECK_NAME',
    meaning: 'The name of the check.',
    of: ({ notice }) => ofCheck(notice, ({ check }) => check.name),
  },
  {
    name: 'CHECK_TYPE',
    meaning: 'The type of the check, for example URL.',
    of: ({ notice }) => ofCheck(notice, ({ check }) => check.checkType),
  },
  {
    name: 'GROUP_NAME',
    meaning: 'The name of the group that the check is in; null without one.',
    of: ({ notice }) => notice.check.groupName,
  },
  {
    name: 'TAGS',
    meaning:
      'The tags of the check as a list; a template prints them separated by commas, or iterates with each.',
    of: ({ notice }) => notice.check.tags,
  },
  {
    name: 'RUN_LOCATION',
    meaning: 'The location of the run that caused the alert, or the silent location.',
    of: ({ notice }) => notice.runLocation,
  },
  {
    name: 'RESPONSE_TIME',
    meaning: 'How long that run took, in milliseconds; null for a silent location.',
    of: ({ notice }) => ofCheck(notice, ({ responseTime }) => responseTime),
  },
  {
    name: 'STATUS_CODE',
    meaning: 'The status of the response, as text; null if there is none.',
    of: ({ notice }) => notice.statusCode,
  },
  {
    name: 'ERROR_MESSAGE',
    meaning: 'What failed, truncated to 2,000 bytes; null if nothing did.',
    of: ({ notice }) => (notice.error === null ? null : cutText(notice.error, MAX_ERROR_BYTES)),
  },
  {
    name: 'RESULT_LINK',
    meaning:
      'The page of that run, of the silent location, or of the heartbeat; null if PUBLIC_URL is not set.',
    of: ({ notice }) => notice.link ?? null,
  },
  {
    name: 'STARTED_AT',
    meaning:
      'When that run began, or when an agent of the silent location last polled: ISO 8601, UTC.',
    of: ({ notice }) => isoTime(notice.startedAtMs),
  },
  {
    name: 'SSL_DAYS_REMAINING',
    meaning: 'Whole days until the certificate expires; null if no certificate was seen.',
    of: ({ notice }) => notice.sslDaysRemaining,
  },
];

/** null for the notice of a location. */
function ofCheck(notice: AlertNotice, of: (notice: AlertNotice) => Value): Value {
  return notice.location === undefined ? of(notice) : null;
}

/** Their values for one notice to one channel. */
export function variablesOf(
  delivery: Pick<OpenDelivery, 'deliveryId' | 'notice'>,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(NOTICE_VARIABLES.map(({ name, of }) => [name, of(delivery)]));
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
