import { isAcknowledged, waitAfterNotice } from '../../model/alerting/acknowledgement.ts';
import {
  ALERT_OF_STEP,
  type AlertType,
  reportsFailure,
  type UnhealthyCondition,
} from '../../model/alerting/alert.ts';
import { earlierOf, withNothingUnsent } from '../../model/alerting/alert-state-machine.ts';
import {
  calmAtMs,
  countAlert,
  type Flapping,
  flappingWindowMs,
  STEADY,
} from '../../model/alerting/flapping.ts';
import { slotRuleOf } from '../../model/schedule/slot-rule.ts';
import type { JudgeParts } from './judge.ts';
import type { GivenAlert, Judgement } from './judgement-builder.ts';
import { incidentActionOf } from './senders/incident-key.ts';
import type { AlertRecord, AlertSubject } from './states.sql.ts';

/**
 * Reduces the alerts of a check that flaps to two: that it flaps, and that it is calm again. Its incident stays open in
 * between. Ignores certificates.
 */
export function withFlapping(
  judgement: Judgement,
  { atMs, isSilenced, ids }: Pick<JudgeParts, 'atMs' | 'isSilenced' | 'ids'>,
): Judgement {
  const { subject, alerts, incidents } = judgement;
  const before = subject.record?.flapping ?? STEADY;
  if (before.started === null && !alerts.some(isChange)) return judgement;
  const judged = before.started === null ? judgement.record : withAcknowledgement(judgement);
  const windowMs = flappingWindowMs(periodMsOf(subject));
  const calmMs = calmAtMs(before, windowMs);
  if (calmMs !== null && atMs >= calmMs) {
    const { isActive, isMuted, tags } = subject;
    const silenced = !isActive || isMuted || isSilenced(tags, atMs);
    return calmed({ ...judgement, record: judged }, before, { isSilenced: silenced, ids, atMs });
  }

  let flapping = before;
  const given = alerts.flatMap((alert): readonly GivenAlert[] => {
    if (alert.alertType === 'ALERT_SSL') return [alert];
    if (!isChange(alert)) return flapping.started === null ? [alert] : [];
    const { alertId } = alert;
    const as = conditionIn(alert.alertType);
    const isCounted = !BETWEEN_PROBLEMS.includes(alert.alertType);
    const counted = countAlert(flapping, { alertId, as, isCounted, atMs, windowMs });
    flapping = counted.flapping;
    if (counted.step === 'given') return [alert];
    if (counted.step === 'withheld' || flapping.started === null) return [];
    const { sinceMs } = flapping.started;
    const escalatedTo = [...new Set([...judged.escalatedTo, ...alert.escalatedTo])];
    const alertType = ALERT_OF_STEP.passing[as];
    return [{ ...alert, escalatedTo, alertType, sinceMs, flapping: 'started' }];
  });
  const { started } = flapping;
  const record: AlertRecord = { ...judged, flapping };
  if (started === null) return { ...judgement, record, alerts: given, isNews: true };
  const wasOpen = subject.record?.hasIncident ?? false;
  const opens = !wasOpen && incidents.includes('opened');
  return {
    ...judgement,
    isNews: true,
    alerts: given,
    incidents: opens ? ['opened'] : [],
    record: {
      ...record,
      // Kept while it passes: the alert that it is calm reports its last run.
      lastRun: record.lastRun ?? alerts.at(-1)?.facts ?? subject.record?.lastRun ?? null,
      alertId: started.alertId,
      escalatedTo: given.findLast(isStart)?.escalatedTo ?? record.escalatedTo,
      hasIncident: wasOpen || opens,
      dueAtMs: subject.isActive ? earlierOf(record.dueAtMs, calmAtMs(flapping, windowMs)) : null,
    },
  };
}

function isStart({ flapping }: GivenAlert): boolean {
  return flapping === 'started';
}

/**
 * The record of a check that flaps, with the acknowledgement and the escalation of its alert: a passing run in between
 * ends neither.
 */
function withAcknowledgement({ subject, record }: Judgement): AlertRecord {
  if (subject.record === null) return record;
  const { state, acknowledgement, escalatedTo } = subject.record;
  const { wait } = record.state;
  return {
    ...record,
    acknowledgement: record.acknowledgement ?? acknowledgement,
    escalatedTo: [...new Set([...escalatedTo, ...record.escalatedTo])],
    state: {
      ...record.state,
      acknowledged: record.state.acknowledged ?? state.acknowledged,
      wait: wait === null ? state.wait : waitAfterNotice(state.wait, wait.worst, wait.sinceMs),
    },
  };
}

/** The check is calm: sends its current condition. */
function calmed(
  { subject, record, alerts, incidents, escalation }: Judgement,
  { started }: Flapping,
  { isSilenced, ids, atMs }: Pick<JudgeParts, 'atMs' | 'ids'> & { readonly isSilenced: boolean },
): Judgement {
  const { state } = record;
  const facts = alerts.at(-1)?.facts ?? record.lastRun ?? subject.record?.lastRun ?? null;
  const others = alerts.filter(({ alertType }) => alertType === 'ALERT_SSL');
  const isSent = !isSilenced && facts !== null && started !== null;
  const { condition } = state;
  const calm: AlertRecord = { ...record, flapping: STEADY };
  const { escalatedTo } = record;
  if (condition === 'passing') {
    const alertType = ALERT_OF_STEP[started?.as ?? 'failing'].passing;
    const end = { alertId: ids(), alertType, reminder: 0, flapping: 'ended' } as const;
    const nobody = { acknowledgement: null, escalatedTo };
    const wasOpen = subject.record?.hasIncident ?? false;
    return {
      subject,
      isNews: true,
      alerts: isSent ? [...others, { ...end, ...nobody, sinceMs: started.sinceMs, facts }] : others,
      incidents: wasOpen ? ['resolved'] : [],
      escalation,
      record: {
        ...calm,
        state: { ...state, acknowledged: null, wait: null },
        lastRun: null,
        alertId: null,
        acknowledgement: null,
        escalatedTo: [],
        hasIncident: false,
        dueAtMs: null,
      },
    };
  }
  if (!isSent)
    return { subject, isNews: true, alerts: others, incidents, escalation, record: calm };
  const alertId = ids();
  const alertType = ALERT_OF_STEP[condition][condition];
  const end = { alertId, alertType, reminder: 0, flapping: 'ended' } as const;
  const acknowledgement = isAcknowledged(state) ? record.acknowledgement : null;
  const of = { acknowledgement, escalatedTo };
  return {
    subject,
    isNews: true,
    alerts: [...others, { ...end, ...of, sinceMs: state.sinceMs, facts }],
    escalation,
    incidents: incidents.filter((change) => change === 'opened'),
    record: {
      ...calm,
      alertId,
      state: {
        ...withNothingUnsent(state),
        notified: condition,
        notifiedAtMs: atMs,
        reminders: 0,
      },
    },
  };
}

/** Alerts that neither begin nor end a problem. */
const BETWEEN_PROBLEMS: readonly AlertType[] = ['ALERT_FAILURE_DEGRADED', 'ALERT_DEGRADED_FAILURE'];

/** Whether it begins, ends or changes a problem. */
function isChange({ alertType, reminder }: GivenAlert): boolean {
  return reminder === 0 && alertType !== 'ALERT_SSL';
}

/** The condition that an alert reports, or whose end it reports. */
function conditionIn(alertType: AlertType): UnhealthyCondition {
  const isOfFailure =
    incidentActionOf({ alertType }) === 'resolve'
      ? alertType === 'ALERT_RECOVERY'
      : reportsFailure(alertType);
  return isOfFailure ? 'failing' : 'degraded';
}

/** Milliseconds; 0 for a heartbeat, which does not run. */
function periodMsOf({ checkId, checkType, frequency, frequencyOffset }: AlertSubject): number {
  if (checkType === 'HEARTBEAT') return 0;
  return slotRuleOf(checkId, frequency, frequencyOffset).periodMs;
}
