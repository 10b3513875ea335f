import { type Acknowledgement, isAcknowledged } from '../../model/alerting/acknowledgement.ts';
import { ALERT_OF_STEP, type AlertType, reportsFailure } from '../../model/alerting/alert.ts';
import {
  type AlertState,
  type AlertStep,
  NEVER_RUN,
} from '../../model/alerting/alert-state-machine.ts';
import { nextExpiryNotice } from '../../model/alerting/certificate-expiry.ts';
import type { FlappingChange } from './notice.ts';
import type { AlertRecord, AlertSubject, RunFacts } from './states.sql.ts';

/** An alert to create, or a reminder of one. */
export interface GivenAlert {
  readonly alertId: string;
  readonly alertType: AlertType;
  /** 0 for the alert itself. */
  readonly reminder: number;
  /**
   * Epoch milliseconds: the slot in which the condition began; at its end, that of the condition that ended. null for a
   * certificate.
   */
  readonly sinceMs: number | null;
  readonly facts: RunFacts;
  /** Whether the check began to flap, or is calm again; left out for any other alert. */
  readonly flapping?: FlappingChange;
  /** The acknowledgement of the problem, if it did not get worse since; else null. */
  readonly acknowledgement: Acknowledgement | null;
  /** The channels to which the problem was escalated. */
  readonly escalatedTo: readonly number[];
}

export interface Judgement {
  readonly subject: AlertSubject;
  readonly record: AlertRecord;
  /** Whether to store the record: that of a check that passed and passes contains nothing new. */
  readonly isNews: boolean;
  /** In the order of their runs. */
  readonly alerts: readonly GivenAlert[];
  readonly incidents: readonly ('opened' | 'resolved')[];
  /** An alert to send to the channels of the escalation step now; null for none. */
  readonly escalation: GivenAlert | null;
}

const NO_RECORD: AlertRecord = {
  state: NEVER_RUN,
  lastRun: null,
  alertId: null,
  hasIncident: false,
  dueAtMs: null,
  notifiedExpiry: null,
  acknowledgement: null,
  escalatedTo: [],
};

/** Collects the judgement of one check. */
export class JudgementBuilder {
  readonly alerts: GivenAlert[] = [];
  readonly incidents: ('opened' | 'resolved')[] = [];
  escalation: GivenAlert | null = null;
  readonly #subject: AlertSubject;
  readonly #ids: () => string;
  record: AlertRecord;

  constructor(subject: AlertSubject, ids: () => string) {
    this.#subject = subject;
    this.#ids = ids;
    this.record = subject.record ?? NO_RECORD;
  }

  /** @param facts of the run that the step is about */
  step({ state, alert, reminder, dueAtMs }: AlertStep, facts: RunFacts): void {
    const { sinceMs } = state.condition === 'passing' ? this.record.state : state;
    this.record = { ...this.record, state, dueAtMs };
    if (alert !== 'NO_ALERT') {
      const alertId = reminder === 0 ? this.#ids() : (this.record.alertId ?? this.#ids());
      const acknowledgement = isAcknowledged(state) ? this.record.acknowledgement : null;
      const { escalatedTo } = this.record;
      const given = { alertId, alertType: alert, reminder, sinceMs, facts };
      this.alerts.push({ ...given, acknowledgement, escalatedTo });
      this.record = { ...this.record, alertId };
      const { triggerIncident } = this.#subject;
      if (reportsFailure(alert) && reminder === 0 && triggerIncident && !this.record.hasIncident) {
        this.incidents.push('opened');
        this.record = { ...this.record, hasIncident: true };
      }
    }
    if (state.condition !== 'passing') return;
    if (this.record.hasIncident) this.incidents.push('resolved');
    this.record = {
      ...this.record,
      lastRun: null,
      alertId: null,
      hasIncident: false,
      acknowledgement: null,
      escalatedTo: [],
    };
  }

  /** @param state after the escalation step */
  escalate(state: AlertState, facts: RunFacts): void {
    const { condition, sinceMs } = state;
    const { alertId, escalatedTo } = this.record;
    this.record = { ...this.record, state };
    if (alertId === null) return;
    const alertType = ALERT_OF_STEP[condition][condition];
    const given = { alertId, alertType, reminder: 0, sinceMs, facts };
    this.escalation = { ...given, acknowledgement: null, escalatedTo };
  }

  certificate(facts: RunFacts, slotMs: number, isSilenced: boolean): void {
    const { sslDaysRemaining: daysRemaining } = facts;
    if (daysRemaining === null) return;
    const notifiedExpiry = nextExpiryNotice(this.record.notifiedExpiry, { slotMs, daysRemaining });
    if (notifiedExpiry === null) return;
    this.record = { ...this.record, notifiedExpiry };
    if (isSilenced) return;
    const given = { alertId: this.#ids(), alertType: 'ALERT_SSL', reminder: 0 } as const;
    const nobody = { acknowledgement: null, escalatedTo: [] };
    this.alerts.push({ ...given, ...nobody, sinceMs: null, facts });
  }

  judgement(): Judgement {
    const { record, alerts, incidents, escalation } = this;
    const before = this.#subject.record ?? NO_RECORD;
    const isOrWasUnhealthy = [before, record].some(({ state }) => state.condition !== 'passing');
    const isNews =
      record !== before && (isOrWasUnhealthy || record.notifiedExpiry !== before.notifiedExpiry);
    return { subject: this.#subject, record, isNews, alerts, incidents, escalation };
  }
}
