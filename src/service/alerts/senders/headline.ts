import { zonedTime } from '../../../model/account/time-zone.ts';
import type { NoticeType } from '../../../model/alerting/alert.ts';
import {
  type MonitoringProblem,
  type MonitoringProblemEnd,
  PROBLEM_RULES,
} from '../../../model/alerting/monitoring-problems.ts';
import { countText } from '../../../runtime/text/count-text.ts';
import { cutText } from '../../../runtime/text/cut-text.ts';
import { twoUnitText } from '../../../runtime/text/duration-text.ts';
import { onOneLine } from '../../../runtime/text/one-line.ts';
import type { DependentChecks } from '../dependencies/dependents.sql.ts';
import { subjectName } from '../monitoring-problems/subject.ts';
import { type AlertNotice, type LastPassing, noticeTypeOf } from '../notice.ts';
import { incidentActionOf } from './incident-key.ts';

/** The error of a result may be long, and a template may repeat it. */
export const MAX_ERROR_BYTES = 2000;

const WHAT_HAPPENED: Readonly<
  Record<Exclude<NoticeType, 'ALERT_SSL' | MonitoringProblem | MonitoringProblemEnd>, string>
> = {
  NO_ALERT: 'has no alert',
  ALERT_FAILURE: 'has failed',
  ALERT_FAILURE_REMAIN: 'is still failing',
  ALERT_FAILURE_DEGRADED: 'no longer fails, but is degraded',
  ALERT_RECOVERY: 'has recovered',
  ALERT_DEGRADED: 'is degraded',
  ALERT_DEGRADED_REMAIN: 'is still degraded',
  ALERT_DEGRADED_FAILURE: 'was degraded and has failed',
  ALERT_DEGRADED_RECOVERY: 'is no longer degraded',
  ALERT_ACKNOWLEDGED: 'has acknowledged the alert of',
  ALERT_UNACKNOWLEDGED: 'has undone the acknowledgement of the alert of',
  LOCATION_SILENT: 'is silent: its checks do not run',
  LOCATION_RECOVERY: 'is no longer silent',
};

/** One line, whatever the name of the check contains. */
export function headlineOf(
  notice: Omit<AlertNotice, 'alertId' | 'runLocation' | 'responseTime'>,
): string {
  const { acknowledgement, alertType, bundle, check, location, problem, reminder } = notice;
  if (bundle !== undefined) return bundleHeadline(bundle);
  if (problem !== undefined) {
    const { kind, subject } = problem;
    const text = PROBLEM_RULES[kind].headline(onOneLine(subjectName(subject)));
    const lasted = lastedMs(notice);
    return lasted === null ? text : `Over: ${text} (after ${twoUnitText(lasted)})`;
  }
  const isUndone = acknowledgement?.isUndone ?? null;
  const type = noticeTypeOf({ alertType, isOfLocation: location !== undefined, isUndone }) as
    | keyof typeof WHAT_HAPPENED
    | 'ALERT_SSL';
  const name = onOneLine(location === undefined ? check.name : `Location ${location.name}`);
  const { escalatedAfterMinutes, flapping, sslDaysRemaining } = notice;
  if (type === 'ALERT_SSL') return `The certificate of ${name} ${expiryText(sslDaysRemaining)}`;
  if (acknowledgement !== undefined) {
    return `${onOneLine(acknowledgement.by.name)} ${WHAT_HAPPENED[type]} ${name}`;
  }
  if (flapping === 'started') {
    return `${name} is flapping: it sends no more alerts until it is calm`;
  }
  if (flapping === 'ended') return `${name} no longer flaps: it ${WHAT_HAPPENED[type]}`;
  const text = `${name} ${WHAT_HAPPENED[type]}`;
  if (escalatedAfterMinutes !== undefined) {
    return `${text} (not acknowledged for ${countText(escalatedAfterMinutes, 'minute')})`;
  }
  if (reminder > 0) return `${text} (reminder ${reminder})`;
  const lasted = lastedMs(notice);
  return lasted === null ? text : `${text} (after ${twoUnitText(lasted)})`;
}

/** For a notice of the end of a problem: how long the problem lasted, in milliseconds; null if that is not known. */
export function lastedMs(
  notice: Pick<
    AlertNotice,
    'acknowledgement' | 'alertType' | 'location' | 'problem' | 'atMs' | 'sinceMs' | 'startedAtMs'
  >,
): number | null {
  const { location, problem, atMs, sinceMs, startedAtMs } = notice;
  if (incidentActionOf(notice) !== 'resolve') return null;
  if (location !== undefined || problem !== undefined) return atMs - startedAtMs;
  return sinceMs === undefined ? null : startedAtMs - sinceMs;
}

const BUNDLE_WORDS = {
  problems: 'have problems',
  reminders: 'still have problems',
  recoveries: 'have recovered',
} as const;
const GROUPING_WORDS = { LOCATION: 'of location', GROUP: 'of group', TAG: 'with tag' } as const;

function bundleHeadline({ key, count }: NonNullable<AlertNotice['bundle']>): string {
  const notifications = countText(count, 'notification');
  if (key === null) return `${notifications} of checks`;
  if (key.kind === 'digest') return `Digest of degraded checks: ${notifications}`;
  const { kind, by, value } = key;
  const subjects = `${countText(count, 'check')} ${GROUPING_WORDS[by]} ${onOneLine(value)}`;
  return `${subjects} ${BUNDLE_WORDS[kind]}`;
}

/** The label of the list in a message for several notices, in `noticeFacts`. */
export const BUNDLE_LABEL = 'Checks';

function bundleFacts(
  { atMs, timeZone = 'UTC', link }: AlertNotice,
  { count, lines }: NonNullable<AlertNotice['bundle']>,
): readonly (readonly [string, string])[] {
  const rest = count - lines.length;
  const list = rest > 0 ? [...lines, `… and ${rest} more`] : lines;
  return [
    [BUNDLE_LABEL, list.join('\n')],
    ['Time', zonedTime(atMs, timeZone)],
    ...(link === undefined || link === null ? [] : [['Details', link] as const]),
  ];
}

function expiryText(days: number | null): string {
  if (days === null) return 'expires soon';
  if (days < 0) return 'has expired';
  if (days === 0) return 'expires within a day';
  return `expires in ${countText(days, 'day')}`;
}

/** The rows below the headline, most important first: some receivers show only the first ones. */
export function noticeFacts(notice: AlertNotice): readonly (readonly [string, string])[] {
  const { check, location, runLocation, responseTime, statusCode, error, sslDaysRemaining } =
    notice;
  const { failure, lastPassing = null, timeZone = 'UTC', dependents } = notice;
  if (notice.bundle !== undefined) return bundleFacts(notice, notice.bundle);
  if (location !== undefined) return locationFacts(notice, location);
  if (notice.problem !== undefined) return problemFacts(notice, notice.problem);
  const facts: readonly (readonly [string, string | null])[] = [
    ['Error', error === null ? null : cutText(error, MAX_ERROR_BYTES)],
    ['Certificate', notice.alertType === 'ALERT_SSL' ? expiryText(sslDaysRemaining) : null],
    ['Location', onOneLine(runLocation)],
    sinceFact(notice, timeZone),
    ['Code', failure?.code ?? null],
    ['Phase', failure?.phase ?? null],
    ['Status', statusCode],
    ['What to try', failure?.advice ?? null],
    ['Depending on it', dependents === undefined ? null : dependentsText(dependents)],
    ['Last passed', lastPassing === null ? null : passingText(lastPassing, timeZone)],
    ['Response time', `${Math.round(responseTime)} ms`],
    ['Time', zonedTime(notice.startedAtMs, timeZone)],
    ['Check', `${onOneLine(check.name)} (${check.checkType}, ${check.id})`],
    ['Group', check.groupName === null ? null : onOneLine(check.groupName)],
    ['Tags', check.tags.length === 0 ? null : check.tags.map(onOneLine).join(', ')],
    ['Details', notice.link ?? null],
  ];
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}

function sinceFact(notice: AlertNotice, timeZone: string): readonly [string, string | null] {
  const lasted = lastedMs(notice);
  if (lasted !== null) return ['Lasted', twoUnitText(lasted)];
  const { sinceMs } = notice;
  return ['Since', sinceMs === undefined ? null : zonedTime(sinceMs, timeZone)];
}

function dependentsText({ total, failing, names }: DependentChecks): string {
  if (failing === 0) return `${countText(total, 'check')}: alerts wait while this one fails`;
  const rest = failing - names.length;
  const listed = [...names.map(onOneLine), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  return `${failing} of ${countText(total, 'check')} failing, alerts wait: ${listed}`;
}

export function passingText(
  { startedAtMs, responseTime, statusCode }: LastPassing,
  timeZone: string,
): string {
  const value = `${Math.round(responseTime)} ms${statusCode === null ? '' : `, status ${statusCode}`}`;
  return `${zonedTime(startedAtMs, timeZone)}: ${value}`;
}

function locationFacts(
  notice: AlertNotice,
  { name, slug, checks }: NonNullable<AlertNotice['location']>,
): readonly (readonly [string, string])[] {
  const { startedAtMs, timeZone = 'UTC', error, link = null } = notice;
  const lasted = lastedMs(notice);
  const facts: readonly (readonly [string, string])[] = [
    ['Location', `${onOneLine(name)} (${slug})`],
    ['Checks', String(checks)],
    ['Silent since', zonedTime(startedAtMs, timeZone)],
    ...(lasted === null ? [] : [['Lasted', twoUnitText(lasted)] as const]),
  ];
  return [
    ...facts,
    ...(error === null ? [] : [['Error', cutText(error, MAX_ERROR_BYTES)] as const]),
    ...(link === null ? [] : [['Details', link] as const]),
  ];
}

function problemFacts(
  notice: AlertNotice,
  { subject }: NonNullable<AlertNotice['problem']>,
): readonly (readonly [string, string])[] {
  const { startedAtMs, timeZone = 'UTC', error, link = null } = notice;
  const lasted = lastedMs(notice);
  const facts: readonly (readonly [string, string | null])[] = [
    [
      'Location',
      subject.kind === 'location' ? `${onOneLine(subject.name)} (${subject.slug})` : null,
    ],
    ['Channel', subject.kind === 'channel' ? `${onOneLine(subject.name)} (${subject.type})` : null],
    lasted === null ? ['Since', zonedTime(startedAtMs, timeZone)] : ['Lasted', twoUnitText(lasted)],
    ['Error', error === null ? null : cutText(error, MAX_ERROR_BYTES)],
    ['Details', link],
  ];
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]));
}
