import {
  type AlertContext,
  afterRun,
  afterTime,
  escalated,
  NEVER_RUN,
} from '../../model/alerting/alert-state-machine.ts';
import { type LocationVerdict, withVerdict } from '../../model/alerting/location-verdicts.ts';
import { parallelLocationOf, parallelOf, rotationLagMsOf, rulesOf } from './check-rules.ts';
import type { Parents } from './dependencies/parents.ts';
import { type Judgement, JudgementBuilder } from './judgement-builder.ts';
import type { Silence } from './maintenance-silences.ts';
import type { AlertObservation } from './observation.ts';
import type { AlertSubject, RunFacts } from './states.sql.ts';

export interface JudgeParts {
  readonly atMs: number;
  readonly isSilenced: Silence;
  /** The checks that the subjects depend on. */
  readonly parents: Parents;
  /** Makes a UUID. */
  readonly ids: () => string;
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
