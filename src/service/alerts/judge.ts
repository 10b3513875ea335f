import { type Acknowledgement, isAcknowledged } from '../../model/alerting/acknowledgement.ts';
import { ALERT_OF_STEP, type AlertType, reportsFailure } from '../../model/alerting/alert.ts';
import {
  type AlertRules,
  alertRulesOf,
  alertSettingsSchema,
  escalationStepSchema,
} from '../../model/alerting/alert-settings.ts';
import { settingsInForce } from '../../model/alerting/alert-settings-in-force.ts';
import {
  type AlertContext,
  type AlertState,
  type AlertStep,
  afterRun,
  afterTime,
  escalated,
  NEVER_RUN,
} from '../../model/alerting/alert-state-machine.ts';
import { nextExpiryNotice } from '../../model/alerting/certificate-expiry.ts';
import { freshFor } from '../../model/alerting/late-verdicts.ts';
import {
  type LocationVerdict,
  type ParallelLocations,
  withVerdict,
} from '../../model/alerting/location-verdicts.ts';
import { sequenceIdOf } from '../../model/ids.ts';
import { slotRuleOf } from '../../model/schedule/slot-rule.ts';
import type { Parents } from './dependencies/parents.ts';
import type { Silence } from './maintenance-silences.ts';
import type { FlappingNews } from './notice.ts';
import type { AlertObservation } from './observation.ts';
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
  readonly flapping?: FlappingNews;
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

export interface JudgeParts {
  readonly atMs: number;
  readonly isSilenced: Silence;
  /** The checks that the subjects depend on. */
  readonly parents: Parents;
  /** Makes a UUID. */
  readonly ids: () => string;
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

/** The locations of a check that runs in parallel; null if they rotate, or there is only one. */
export function parallelOf(subject: AlertSubject, rules: AlertRules): ParallelLocations | null {
  const { runsParallel, locations } = subject;
  if (!runsParallel || locations.length < 2) return null;
  return { locations, freshMs: freshnessMs(subject), percent: rules.parallelPercent };
}

/** How long the verdict of one of several locations is valid. */
export function freshnessMs({ checkId, frequency, frequencyOffset }: AlertSubject): number {
  return freshFor(slotRuleOf(checkId, frequency, frequencyOffset).periodMs);
}

function rotationLagMsOf(subject: AlertSubject): number {
  const { runsParallel, locations } = subject;
  return runsParallel || locations.length < 2 ? 0 : freshnessMs(subject);
}

/**
 * The settings in force. A heartbeat has no further runs that could fail: if runs are counted, the first is enough.
 */
export function rulesOf({ settings, escalationStep, checkType }: AlertSubject): AlertRules {
  const read = (stored: unknown) => alertSettingsSchema.safeParse(stored).data ?? null;
  const rules = alertRulesOf(
    settingsInForce({
      ...settings,
      own: read(settings.own),
      group: read(settings.group),
      account: read(settings.account),
    }),
    escalationStepSchema.safeParse(escalationStep).data ?? null,
  );
  if (checkType !== 'HEARTBEAT' || rules.escalation.by === 'time') return rules;
  return { ...rules, escalation: { by: 'runs', runs: 1 } };
}

/** The location that the slot belongs to: a retry may run in another location. */
export function parallelLocationOf(
  { checkId, locations }: AlertSubject,
  run: { readonly location: string; readonly slotMs: number; readonly sequenceId: string | null },
): string {
  const { location, slotMs, sequenceId } = run;
  if (sequenceId === null || sequenceIdOf(checkId, location, slotMs) === sequenceId) {
    return location;
  }
  return locations.find((slug) => sequenceIdOf(checkId, slug, slotMs) === sequenceId) ?? location;
}

/** Collects the judgement of one check. */
class JudgementBuilder {
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

/**
 * Judges a check by its runs. Skips a deactivated check.
 *
 * @param earlier verdicts of stored results (`earlierVerdicts`) where the check was passing
 */
export function judgeRuns(
  subject: AlertSubject,
  observations: readonly AlertObservation[],
  earlier: readonly LocationVerdict[],
  { atMs, isSilenced, parents, ids }: JudgeParts,
): Judgement {
  const builder = new JudgementBuilder(subject, ids);
  if (!subject.isActive) return builder.judgement();
  const rules = rulesOf(subject);
  const parallel = parallelOf(subject, rules);
  const rotationLagMs = rotationLagMsOf(subject);
  const isObservedOnce = subject.checkType === 'HEARTBEAT';
  const known = bySlot(earlier).reduce(
    (verdicts, verdict) => withVerdict(verdicts, verdict, parallel, rotationLagMs) ?? verdicts,
    builder.record.state.verdicts,
  );
  builder.record = { ...builder.record, state: { ...builder.record.state, verdicts: known } };
  for (const observation of bySlot(observations)) {
    const { slotMs, location, condition } = observation;
    const silenced = subject.isMuted || isSilenced(subject.tags, slotMs);
    const facts = factsOf(observation);
    const sequenceId = observation.result?.sequenceId ?? null;
    const slotLocation = parallelLocationOf(subject, { location, slotMs, sequenceId });
    const hold = parents.holdAtSlot(subject, slotMs);
    const context = {
      rules,
      parallel,
      rotationLagMs,
      isSilenced: silenced,
      ...hold,
      isObservedOnce,
      atMs,
    };
    const verdict = { location: slotLocation, slotMs, condition };
    const step = afterRun(builder.record.state, verdict, context);
    if (step !== null) {
      if (condition !== 'passing') builder.record = { ...builder.record, lastRun: facts };
      builder.step(step, facts);
    }
    builder.certificate(facts, slotMs, silenced);
  }
  return builder.judgement();
}

/** The circumstances in which a check is judged now, without a run. */
export function contextOf(
  subject: AlertSubject,
  { atMs, isSilenced, parents }: Omit<JudgeParts, 'ids'>,
): AlertContext {
  const rules = rulesOf(subject);
  const { sinceMs } = subject.record?.state ?? NEVER_RUN;
  return {
    rules,
    parallel: parallelOf(subject, rules),
    rotationLagMs: rotationLagMsOf(subject),
    isSilenced: subject.isMuted || isSilenced(subject.tags, atMs),
    ...parents.holdAtTime(subject, sinceMs, atMs),
    isObservedOnce: subject.checkType === 'HEARTBEAT',
    atMs,
  };
}

/**
 * Judges a check that is due. A deactivated check is due again after its next run.
 */
export function judgeTime(
  subject: AlertSubject,
  { atMs, isSilenced, parents, ids }: JudgeParts,
): Judgement {
  const builder = new JudgementBuilder(subject, ids);
  const { state, lastRun } = builder.record;
  if (!subject.isActive || lastRun === null) {
    builder.record = { ...builder.record, dueAtMs: null };
    return builder.judgement();
  }
  const context = contextOf(subject, { atMs, isSilenced, parents });
  const escalatedState = escalated(state, context);
  if (escalatedState !== null) builder.escalate(escalatedState, lastRun);
  builder.step(afterTime(builder.record.state, context), lastRun);
  return builder.judgement();
}

function factsOf(observation: AlertObservation): RunFacts {
  const { location, responseTime, error, statusCode, startedAtMs, sslDaysRemaining, result } =
    observation;
  const { failure } = observation;
  return {
    resultId: result?.id ?? null,
    runLocation: location,
    responseTime,
    error,
    statusCode,
    startedAtMs,
    sslDaysRemaining,
    ...(failure === undefined ? {} : { failure }),
  };
}

function bySlot<T extends { readonly slotMs: number }>(items: readonly T[]): readonly T[] {
  return items.toSorted((one, other) => one.slotMs - other.slotMs);
}
