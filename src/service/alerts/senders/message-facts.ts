import { type AlertType, reportsEnd } from '../../../model/alerting/alert.ts';
import { shortenedToBytes } from '../../../runtime/text/cut-text.ts';
import { onOneLine } from '../../../runtime/text/one-line.ts';
import type { AlertNotice } from '../notice.ts';
import { BUNDLE_LABEL, headlineOf, noticeFacts } from './headline.ts';
import { type IncidentAction, incidentActionOf } from './incident-key.ts';

/** The current severity: `ok` at the end of a problem. */
export type Severity = 'critical' | 'warning' | 'ok';

/** The facts by which a service may route a notice. They hardly change while a problem lasts. */
export interface RoutingFacts {
  readonly about: 'check' | 'certificate' | 'location' | 'monitoring';
  /** The severity of the problem, also in notices of its acknowledgement and its end. */
  readonly severity: ProblemSeverity;
  readonly subject: MessageSubject;
  /** The slug of the location that the notice is about, or of the only one in which the check runs; else null. */
  readonly location: string | null;
}

export type ProblemSeverity = Exclude<Severity, 'ok'>;

/** A row below the headline: its label and its value. */
export type FactRow = readonly [label: string, value: string];

/** The content of a notice, before a channel formats it. */
export interface MessageFacts {
  readonly action: IncidentAction;
  readonly severity: Severity;
  /** One line that says what happened, without the reason. */
  readonly headline: string;
  /** One line with the reason, for lock screens that show nothing else. */
  readonly title: string;
  /**
   * What failed, the list of a message for several notices, or the output of the channel's template; null for none of
   * these.
   */
  readonly error: string | null;
  /** The label of `error`, where it is not the output of a template. */
  readonly errorLabel: string;
  /** Whether `error` is the output of a template: then there are no rows. */
  readonly isCustom: boolean;
  /** All other facts without the link, most important first. */
  readonly rows: readonly FactRow[];
  /** All facts without the link, for fields that machines read. */
  readonly details: readonly FactRow[];
  /** The page of what happened; null without PUBLIC_URL. */
  readonly link: string | null;
  /** The page that acknowledges the alert; null if there is none. */
  readonly acknowledgeLink: string | null;
  /** The check or the location. */
  readonly subject: MessageSubject;
  /** At the end of a problem, those of its last notice, if they are known. */
  readonly routing: RoutingFacts;
  /** The previous notice, which this one replaces; null if it replaces none. */
  readonly replaces: ReplacedNotice | null;
  /** Epoch milliseconds: when the notice was made. */
  readonly atMs: number;
  /** Epoch milliseconds: when the run began that led to it. */
  readonly startedAtMs: number;
}

export interface ReplacedNotice {
  readonly routing: RoutingFacts;
  /** Its content; null if that is not known. */
  readonly facts: MessageFacts | null;
}

interface MessageSubject {
  readonly id: string;
  readonly name: string;
  /** `URL`, `HEARTBEAT` and so on, `LOCATION`, or the kind of a problem of monitoring itself. */
  readonly kind: string;
  readonly group: string | null;
  readonly tags: readonly string[];
}

const SEVERITIES: Readonly<Record<AlertType, Severity>> = {
  NO_ALERT: 'ok',
  ALERT_FAILURE: 'critical',
  ALERT_FAILURE_REMAIN: 'critical',
  ALERT_FAILURE_DEGRADED: 'warning',
  ALERT_RECOVERY: 'ok',
  ALERT_DEGRADED: 'warning',
  ALERT_DEGRADED_REMAIN: 'warning',
  ALERT_DEGRADED_FAILURE: 'critical',
  ALERT_DEGRADED_RECOVERY: 'ok',
  ALERT_SSL: 'warning',
};

export function messageFactsOf(notice: AlertNotice): MessageFacts {
  const { bundle, link = null, acknowledgeLink = null } = notice;
  const action = incidentActionOf(notice);
  // Some services refuse a message with an empty value.
  const facts = noticeFacts({ ...notice, link: null }).filter(([, value]) => value.trim() !== '');
  const headline = headlineOf(notice);
  // The longest text gets the field for which channels have the most room.
  const errorLabel = bundle === undefined ? 'Error' : BUNDLE_LABEL;
  return {
    action,
    // An acknowledgement must not wake anybody.
    severity: action === 'acknowledge' ? 'warning' : SEVERITIES[notice.alertType],
    headline,
    title: titleOf(headline, notice),
    error: facts.find(([label]) => label === errorLabel)?.[1] ?? null,
    errorLabel,
    isCustom: false,
    rows: facts.filter(([label]) => label !== errorLabel),
    details: facts,
    link,
    acknowledgeLink,
    subject: { ...subjectOf(notice), ...(bundle === undefined ? {} : { name: headline }) },
    ...routesOf(notice),
    atMs: notice.atMs,
    startedAtMs: notice.startedAtMs,
  };
}

function subjectOf({ check, location, problem }: AlertNotice): MessageSubject {
  return {
    id: location?.id ?? check.id,
    name: location?.name ?? check.name,
    kind: problem?.kind ?? (location === undefined ? check.checkType : 'LOCATION'),
    group: check.groupName,
    tags: check.tags,
  };
}

/** The severity of the problem; at its end, the one that it had. */
const PROBLEM_SEVERITIES: Readonly<Record<AlertType, ProblemSeverity>> = {
  NO_ALERT: 'warning',
  ALERT_FAILURE: 'critical',
  ALERT_FAILURE_REMAIN: 'critical',
  ALERT_FAILURE_DEGRADED: 'warning',
  ALERT_RECOVERY: 'critical',
  ALERT_DEGRADED: 'warning',
  ALERT_DEGRADED_REMAIN: 'warning',
  ALERT_DEGRADED_FAILURE: 'critical',
  ALERT_DEGRADED_RECOVERY: 'warning',
  ALERT_SSL: 'warning',
};

/** The previous severity, for the types that report a change of it. */
const SEVERITIES_BEFORE: Readonly<Partial<Record<AlertType, ProblemSeverity>>> = {
  ALERT_FAILURE_DEGRADED: 'critical',
  ALERT_DEGRADED_FAILURE: 'warning',
};

/**
 * A channel may not get every notice of a problem, and the name and tags of a check may change meanwhile. Therefore the
 * last notice that the channel got counts, if it is known.
 */
function routesOf(notice: AlertNotice): Pick<MessageFacts, 'routing' | 'replaces'> {
  const { alertType, previousNotice, isRepeated = false } = notice;
  const own = routingOf(notice);
  if (isRepeated) return { routing: own, replaces: null };
  if (previousNotice === undefined) {
    const severity = SEVERITIES_BEFORE[alertType];
    const replaced = { routing: { ...own, severity: severity ?? own.severity }, facts: null };
    return { routing: own, replaces: severity === undefined ? null : replaced };
  }
  const isOfProblem = previousNotice !== null && !reportsEnd(previousNotice.alertType);
  if (!isOfProblem) return { routing: own, replaces: null };
  const before = routingOf(previousNotice);
  if (reportsEnd(alertType)) return { routing: before, replaces: null };
  const { timeZone = 'UTC' } = notice;
  const facts = messageFactsOf({ ...previousNotice, timeZone });
  return { routing: own, replaces: { routing: before, facts } };
}

function routingOf(notice: AlertNotice): RoutingFacts {
  const { alertType, location, problem, onlyLocation = null } = notice;
  const slug = problem?.subject.kind === 'location' ? problem.subject.slug : onlyLocation;
  return {
    about: aboutOf(notice),
    severity: PROBLEM_SEVERITIES[alertType],
    subject: subjectOf(notice),
    location: location?.slug ?? slug,
  };
}

function aboutOf({ alertType, location, problem }: AlertNotice): RoutingFacts['about'] {
  if (location !== undefined) return 'location';
  if (problem !== undefined) return 'monitoring';
  return alertType === 'ALERT_SSL' ? 'certificate' : 'check';
}

/** In UTF-8: about two lines of a lock screen. */
const MAX_REASON_BYTES = 150;

/**
 * The headline of a location contains the reason already. One of several reasons, or that of an acknowledged alert,
 * would mislead.
 */
function titleOf(headline: string, notice: AlertNotice): string {
  const { error, location, acknowledgement, bundle } = notice;
  const isWhole = [location, acknowledgement, bundle].some((each) => each !== undefined);
  const reason = error === null || isWhole ? '' : onOneLine(error);
  return reason === '' ? headline : `${headline}: ${shortenedToBytes(reason, MAX_REASON_BYTES)}`;
}
