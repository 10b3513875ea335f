import type { AlertType } from '../../../model/alerting/alert.ts';
import type { AlertNotice } from '../notice.ts';
import { headlineOf, noticeFacts } from './headline.ts';
import { type Phase, phaseOf } from './incident-key.ts';

/** How bad it is now: `ok` at the end of a problem. */
export type Severity = 'critical' | 'warning' | 'ok';

/** A row below the headline: its label and its value. */
export type FactRow = readonly [label: string, value: string];

/** What a notice says, before a channel gives it a form. */
export interface MessageFacts {
  readonly phase: Phase;
  readonly severity: Severity;
  /** One line, for a lock screen. */
  readonly headline: string;
  /** What failed; null if nothing did. */
  readonly error: string | null;
  /** All other facts without the link. */
  readonly rows: readonly FactRow[];
  /** The page of what happened; null without PUBLIC_URL. */
  readonly link: string | null;
  /** The check or the location. */
  readonly subject: {
    readonly id: string;
    readonly name: string;
    /** `URL`, `HEARTBEAT` and so on, or `LOCATION`. */
    readonly kind: string;
    readonly group: string | null;
    readonly tags: readonly string[];
  };
  /** Epoch milliseconds: when the notice was made. */
  readonly atMs: number;
  /** Epoch milliseconds: when the run began that led to it. */
  readonly startedAtMs: number;
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
  const { check, location, link = null } = notice;
  // Some services refuse a message with an empty value.
  const facts = noticeFacts({ ...notice, link: null }).filter(([, value]) => value.trim() !== '');
  return {
    phase: phaseOf(notice),
    severity: SEVERITIES[notice.alertType],
    headline: headlineOf(notice),
    error: facts.find(([label]) => label === 'Error')?.[1] ?? null,
    rows: facts.filter(([label]) => label !== 'Error'),
    link,
    subject: {
      id: location?.id ?? check.id,
      name: location?.name ?? check.name,
      kind: location === undefined ? check.checkType : 'LOCATION',
      group: check.groupName,
      tags: check.tags,
    },
    atMs: notice.atMs,
    startedAtMs: notice.startedAtMs,
  };
}
