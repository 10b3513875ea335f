import { zonedTime } from '../../../model/account/time-zone.ts';
import { cutText } from '../../../runtime/text/cut-text.ts';
import { twoUnitText } from '../../../runtime/text/duration-text.ts';
import { type AlertNotice, noticeTypeOf } from '../notice.ts';
import { plainTextOf } from './adapters/message-texts.ts';
import { headlineOf, lastedMs, MAX_ERROR_BYTES, passingText } from './headline.ts';
import { messageFactsOf } from './message-facts.ts';
import type { OpenDelivery } from './send.ts';

type Value = string | number | null | readonly string[];

interface NoticeVariable {
  readonly name: string;
  /** For the documentation. */
  readonly meaning: string;
  readonly of: (delivery: Pick<OpenDelivery, 'deliveryId' | 'notice'>) => Value;
}

/** The variables of templates, and the fields of the default body of a webhook, in this order. */
export const NOTICE_VARIABLES: readonly NoticeVariable[] = [
  {
    name: 'ALERT_TITLE',
    meaning: 'One line that says what happened, for people.',
    of: ({ notice }) => headlineOf(notice),
  },
  {
    name: 'ALERT_TYPE',
    meaning:
      'One of the alert types, for example ALERT_FAILURE, ALERT_ACKNOWLEDGED, ALERT_UNACKNOWLEDGED, LOCATION_SILENT, LOCATION_RECOVERY, or a problem of monitoring itself and its end, for example CHANNEL_FAILING and CHANNEL_FAILING_RECOVERY.',
    of: ({ notice: { alertType, location, problem, acknowledgement } }) =>
      noticeTypeOf({
        alertType,
        isOfLocation: location !== undefined,
        problem: problem?.kind,
        isUndone: acknowledgement?.isUndone ?? null,
      }),
  },
  {
    name: 'ALERT_ID',
    meaning: 'The id of the alert; for checks, the one in /v1/check-alerts.',
    of: ({ notice }) => notice.alertId,
  },
  {
    name: 'ALERT_TIME',
    meaning: 'When the alert was created: ISO 8601, UTC.',
    of: ({ notice }) => isoTime(notice.atMs),
  },
  {
    name: 'DELIVERY_ID',
    meaning: 'The id of this notification to this channel: the same when it is sent again.',
    of: ({ deliveryId }) => deliveryId,
  },
  {
    name: 'REMINDER',
    meaning: '0 for the notification itself, then 1, 2, … for its reminders.',
    of: ({ notice }) => notice.reminder,
  },
  {
    name: 'ACKNOWLEDGE_LINK',
    meaning:
      'The page on which whoever has this link acknowledges the alert; null at a recovery, for certificates, silent locations, problems of monitoring itself and several notifications in one message, and without PUBLIC_URL (except under `vedette up`) or ENCRYPTION_KEY.',
    of: ({ notice }) => notice.acknowledgeLink ?? null,
  },
  {
    name: 'ACKNOWLEDGED_BY',
    meaning:
      'In ALERT_ACKNOWLEDGED and ALERT_UNACKNOWLEDGED the email of the user, or the name of the API key or channel; else null.',
    of: ({ notice }) => notice.acknowledgement?.by.name ?? null,
  },
  {
    name: 'ESCALATED_AFTER_MINUTES',
    meaning:
      'For a channel of the escalation step: for how many minutes nobody acknowledged the alert; else null.',
    of: ({ notice }) => notice.escalatedAfterMinutes ?? null,
  },
  {
    name: 'CHECK_ID',
    meaning:
      'The id of the check; null, as its name and type, for a silent location and a problem of monitoring itself.',
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
    meaning:
      'The location of the run that caused the alert, or the silent location; empty for a problem of monitoring itself that is not about a location.',
    of: ({ notice }) => notice.runLocation,
  },
  {
    name: 'RESPONSE_TIME',
    meaning:
      'How long that run took, in milliseconds; null for a silent location and a problem of monitoring itself.',
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
      'The page of that run, of the silent location, of the heartbeat, or of what the problem is about; null without PUBLIC_URL (except under `vedette up`).',
    of: ({ notice }) => notice.link ?? null,
  },
  {
    name: 'STARTED_AT',
    meaning:
      'When that run began, when an agent of the silent location last polled, or when the problem began: ISO 8601, UTC.',
    of: ({ notice }) => isoTime(notice.startedAtMs),
  },
  {
    name: 'SSL_DAYS_REMAINING',
    meaning: 'Whole days until the certificate expires; null if no certificate was seen.',
    of: ({ notice }) => notice.sslDaysRemaining,
  },
  {
    name: 'FLAPPING',
    meaning: 'STARTED if the check begins to flap, ENDED if it is calm again; else null.',
    of: ({ notice: { flapping } }) => flapping?.toUpperCase() ?? null,
  },
  {
    name: 'WAITING_CHECKS',
    meaning:
      'The names of at most 10 failing checks that depend on the failing one: their alerts wait. Empty otherwise.',
    of: ({ notice }) => notice.dependents?.names ?? [],
  },
  {
    name: 'NOTICE_COUNT',
    meaning:
      'How many notifications the message contains: 1, unless the channel has `groupBy` or `degradedDigestHour`. The variables of the check are then those of the first notification.',
    of: ({ notice }) => notice.bundle?.count ?? 1,
  },
  {
    name: 'NOTICE_LIST',
    meaning:
      'A list with a line for each notification, at most 20; empty if the message contains only one.',
    of: ({ notice }) => notice.bundle?.lines ?? [],
  },
  {
    name: 'ALERT_TEXT',
    meaning:
      'The text below the title, as lines of plain text: the error, then the other facts. Times are in the time zone of the account.',
    // Links have variables of their own.
    of: ({ notice }) => plainTextOf(messageFactsOf({ ...notice, acknowledgeLink: null })),
  },
  {
    name: 'SINCE',
    meaning:
      'When the check began to fail or to be degraded, the location became silent, or the problem of monitoring itself began, in the time zone of the account; null for a certificate.',
    of: ({ notice }) => sinceText(notice),
  },
  {
    name: 'LASTED',
    meaning: 'How long the problem lasted, such as 1 h 5 min; null until its end.',
    of: ({ notice }) => {
      const lasted = lastedMs(notice);
      return lasted === null ? null : twoUnitText(lasted);
    },
  },
  {
    name: 'ERROR_CODE',
    meaning: 'The error code of that run; null if it has none.',
    of: ({ notice }) => notice.failure?.code ?? null,
  },
  {
    name: 'ERROR_PHASE',
    meaning: 'In which phase that run failed, such as dns or response; null if it did not fail.',
    of: ({ notice }) => notice.failure?.phase ?? null,
  },
  {
    name: 'WHAT_TO_TRY',
    meaning: 'What to try first; null if that run did not fail.',
    of: ({ notice }) => notice.failure?.advice ?? null,
  },
  {
    name: 'LAST_PASSED',
    meaning:
      'When the last run passed, in the time zone of the account, with its response time and status; null if it is not known, and at the end of a problem.',
    of: ({ notice: { lastPassing = null, timeZone = 'UTC' } }) =>
      lastPassing === null ? null : passingText(lastPassing, timeZone),
  },
];

/** null for the notice of a location or of a problem of monitoring itself. */
function ofCheck(notice: AlertNotice, of: (notice: AlertNotice) => Value): Value {
  return notice.location === undefined && notice.problem === undefined ? of(notice) : null;
}

/** The values of all variables for one notice to one channel. */
export function variablesOf(
  delivery: Pick<OpenDelivery, 'deliveryId' | 'notice'>,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(NOTICE_VARIABLES.map(({ name, of }) => [name, of(delivery)]));
}

function sinceText({
  location,
  problem,
  startedAtMs,
  sinceMs,
  timeZone = 'UTC',
}: AlertNotice): string | null {
  const isOfCheck = location === undefined && problem === undefined;
  const fromMs = isOfCheck ? sinceMs : startedAtMs;
  return fromMs === undefined ? null : zonedTime(fromMs, timeZone);
}

function isoTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
