import { cutText } from '../../../runtime/text/cut-text.ts';
import type { OpenDelivery } from '../delivery/outcome.ts';
import { headlineOf, MAX_ERROR_BYTES } from './headline.ts';

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
    meaning: 'One of the alert types, for example ALERT_FAILURE.',
    of: ({ notice }) => notice.alertType,
  },
  {
    name: 'ALERT_ID',
    meaning: 'The id of the alert, as /v1/check-alerts has it.',
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
  { name: 'CHECK_ID', meaning: 'The id of the check.', of: ({ notice }) => notice.check.id },
  { name: 'CHECK_NAME', meaning: 'The name of the check.', of: ({ notice }) => notice.check.name },
  {
    name: 'CHECK_TYPE',
    meaning: 'The type of the check, for example URL.',
    of: ({ notice }) => notice.check.checkType,
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
    meaning: 'The location of the run that caused the alert.',
    of: ({ notice }) => notice.runLocation,
  },
  {
    name: 'RESPONSE_TIME',
    meaning: 'How long that run took, in milliseconds.',
    of: ({ notice }) => notice.responseTime,
  },
  {
    name: 'STATUS_CODE',
    meaning: 'The status of the response, as text; null where there is none.',
    of: ({ notice }) => notice.statusCode,
  },
  {
    name: 'ERROR_MESSAGE',
    meaning: 'What failed, truncated to 2,000 bytes; null if nothing did.',
    of: ({ notice }) => (notice.error === null ? null : cutText(notice.error, MAX_ERROR_BYTES)),
  },
  {
    name: 'STARTED_AT',
    meaning: 'When that run began: ISO 8601, UTC.',
    of: ({ notice }) => isoTime(notice.startedAtMs),
  },
  {
    name: 'SSL_DAYS_REMAINING',
    meaning: 'Whole days until the certificate expires; null if no certificate was seen.',
    of: ({ notice }) => notice.sslDaysRemaining,
  },
];

/** Their values for one notice to one channel. */
export function variablesOf(
  delivery: Pick<OpenDelivery, 'deliveryId' | 'notice'>,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(NOTICE_VARIABLES.map(({ name, of }) => [name, of(delivery)]));
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
