import type { Acknowledger } from '../../model/alerting/acknowledgement.ts';
import { type AlertType, type NoticeType, reportsEnd } from '../../model/alerting/alert.ts';
import type { ChannelBundling } from '../../model/alerting/channel-bundling.ts';
import { endOfProblem, type MonitoringProblem } from '../../model/alerting/monitoring-problems.ts';
import type { CheckType } from '../../model/enums.ts';
import type { Sql } from '../database/store.ts';
import type { DependentChecks } from './dependencies/dependents.sql.ts';
import type { ProblemSubject } from './monitoring-problems/subject.ts';
import type { FailureFacts } from './observation.ts';

/** A run that passed. */
export interface LastPassing {
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
  /** Milliseconds. */
  readonly responseTime: number;
  /** The status of the response; null without one. */
  readonly statusCode: string | null;
}

/** Whether an alert reports that a check flaps, or is calm again (src/service/README.md, "Flapping"). */
export type FlappingChange = 'started' | 'ended';

/** Why a channel was notified of an alert. */
export type NotifiedBy = 'CHECK' | 'ALL_CHECKS' | 'ESCALATION';

/** What the notices of one message have in common. */
export type BundleKey =
  | { readonly kind: 'digest' }
  | {
      readonly kind: 'problems' | 'reminders' | 'recoveries';
      readonly by: NonNullable<ChannelBundling['groupBy']>;
      /** The slug of the location, the name of the group, or the tag. */
      readonly value: string;
    };

/** An alert or a reminder, as the channels of the check's subscriptions receive it. */
export interface AlertNotice {
  readonly alertId: string;
  readonly alertType: AlertType;
  /** Epoch milliseconds: the time of the alert. */
  readonly atMs: number;
  readonly check: {
    readonly id: string;
    readonly name: string;
    readonly checkType: CheckType;
    readonly tags: readonly string[];
    readonly groupName: string | null;
  };
  /** The run that led to it; null or left out for the state of a heartbeat and for a location. */
  readonly resultId?: string | null;
  /** The zone of the account, in which people read times, added when it is sent. Default: UTC. */
  readonly timeZone?: string;
  /** The page that shows what happened, added when it is sent; null without PUBLIC_URL. */
  readonly link?: string | null;
  readonly runLocation: string;
  /** The private location of a check that runs in one only; left out for any other, and by earlier releases. */
  readonly onlyLocation?: string;
  /** Milliseconds. */
  readonly responseTime: number;
  readonly error: string | null;
  readonly statusCode: string | null;
  /** Epoch milliseconds: when the run that led to it began. */
  readonly startedAtMs: number;
  /**
   * Epoch milliseconds: since when the check fails or is degraded or, in a recovery, since when it was.
   * Left out for a certificate and a location, and by earlier releases.
   */
  readonly sinceMs?: number;
  /** Left out for a run that passed and for a heartbeat, and by earlier releases. */
  readonly failure?: FailureFacts;
  /** The last run that passed, added when a notice of a problem is sent; null or left out if none is known. */
  readonly lastPassing?: LastPassing | null;
  /**
   * The checks whose alerts wait while this one fails, added when a notice of a failure is sent; left out
   * if there are none.
   */
  readonly dependents?: DependentChecks;
  /** Whole days; null if no certificate was seen. */
  readonly sslDaysRemaining: number | null;
  /** 0 for the notice itself, then 1, 2, … for its reminders. */
  readonly reminder: number;
  /** Whether the check began to flap, or is calm again; left out for any other notice. */
  readonly flapping?: FlappingChange;
  /** The other notices of the same message, of which this is the first; added when it is sent. */
  readonly bundle?: {
    /** null if it is no longer known. */
    readonly key: BundleKey | null;
    readonly count: number;
    /** One line for each of the first notices. */
    readonly lines: readonly string[];
  };
  /**
   * The silent location that the notice is about. It has no check and no run: `alertType` (ALERT_FAILURE
   * or ALERT_RECOVERY) and `check` are then what replicas of the previous release show.
   */
  readonly location?: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    /** How many checks are assigned to it. */
    readonly checks: number;
  };
  /** The problem of monitoring itself that the notice is about, without check and run like a location. */
  readonly problem?: { readonly kind: MonitoringProblem; readonly subject: ProblemSubject };
  /**
   * The alert was acknowledged, or its acknowledgement undone: `alertType` is then that of the alert, which replicas of
   * the previous release show.
   */
  readonly acknowledgement?: {
    readonly by: Acknowledger;
    /** Whether it was undone. */
    readonly isUndone: boolean;
  };
  /** Minutes without acknowledgement after which the alert was escalated to this channel. */
  readonly escalatedAfterMinutes?: number;
  /**
   * Why this channel gets it: its subscription to the check or to all checks, or an earlier escalation of the problem.
   * Left out for other notices, and by earlier releases.
   */
  readonly notifiedBy?: NotifiedBy;
  /**
   * The previous notice of the check to this channel; null if there was none. Added when it is sent to a service that
   * identifies a problem by more than its key.
   */
  readonly previousNotice?: AlertNotice | null;
  /**
   * The channel gets it again, because it would otherwise end the alert of an ongoing problem; left out for the first
   * time. false if the previous delivery failed.
   */
  readonly isRepeated?: boolean;
  /** Only in a notice that is sent again: whether the channel has received it before. */
  readonly wasDelivered?: boolean;
  /** The page that acknowledges the alert, added when it is sent; null or left out if there is none. */
  readonly acknowledgeLink?: string | null;
}

/** The type that people see. */
export function noticeTypeOf({
  alertType,
  isOfLocation,
  problem = null,
  isUndone = null,
}: {
  readonly alertType: AlertType;
  readonly isOfLocation: boolean;
  readonly problem?: MonitoringProblem | null | undefined;
  /** Whether an acknowledgement was undone; null for other notices. */
  readonly isUndone?: boolean | null;
}): NoticeType {
  if (problem !== null) return reportsEnd(alertType) ? endOfProblem(problem) : problem;
  if (isUndone !== null) return isUndone ? 'ALERT_UNACKNOWLEDGED' : 'ALERT_ACKNOWLEDGED';
  if (!isOfLocation) return alertType;
  return alertType === 'ALERT_FAILURE' ? 'LOCATION_SILENT' : 'LOCATION_RECOVERY';
}

/** The deliveries to send (transactional outbox). */
export interface Outbox {
  /**
   * Stores one delivery for each subscribed channel that wants the notice, in the transaction that gives the alerts and
   * locks their checks.
   *
   * @param escalated channels that get the notices of an alert as if they were subscribed to its check. By alert,
   *   because the next alert of the check in the same call may be of another problem
   */
  put(
    tx: Sql,
    accountId: string,
    notices: readonly AlertNotice[],
    escalated?: readonly { readonly alertId: string; readonly channelId: number }[],
  ): Promise<void>;
}
