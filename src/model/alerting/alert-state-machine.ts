import { MINUTE_MS, SECOND_MS } from '../time-units.ts';
import {
  type Acknowledgeable,
  escalationDueAtMs,
  isAcknowledged,
  knownCondition,
  waitAfterNotice,
} from './acknowledgement.ts';
import {
  ALERT_OF_STEP,
  type AlertType,
  type Condition,
  type UnhealthyCondition,
  worseOf,
} from './alert.ts';
import type { AlertRules } from './alert-settings.ts';
import {
  conditionAfterRotation,
  conditionOver,
  isBehind,
  type LocationVerdict,
  type ParallelLocations,
  slotToCount,
  withVerdict,
} from './location-verdicts.ts';
import { reminderDueAtMs } from './reminders.ts';

/** The delay of a notice that is due in silence, or of an escalation that is held. */
const POSTPONED_MS = MINUTE_MS;

/**
 * The alert state of a check. If it is not passing:
 *
 * | `notified` | `startedSilenced` | subscribers |
 * |---|---|---|
 * | null | false | get a notice once the problem has lasted to the threshold |
 * | degraded, failing | false | got a notice of this state; may get reminders and the recovery |
 * | any | true | got no notice, as the condition began in silence: they get one after the silence |
 */
export interface AlertState extends Acknowledgeable {
  readonly condition: Condition;
  /** The last condition that was sent to subscribers since the check last passed. */
  readonly notified: UnhealthyCondition | null;
  readonly startedSilenced: boolean;
  /** The slot in which the condition began; epoch milliseconds. 0 for a check that always passed. */
  readonly sinceMs: number;
  /** Slots in a row in the condition; not counted while it is passing. */
  readonly runs: number;
  /** The last slot that `runs` counts; epoch milliseconds. */
  readonly countedMs: number;
  readonly verdicts: readonly LocationVerdict[];
  /** When the last notice or reminder was sent; epoch milliseconds. */
  readonly notifiedAtMs: number;
  /** How many reminders were sent since the last notice. */
  readonly reminders: number;
  /**
   * Since when a notice of the condition waits for the checks that this one depends on; epoch
   * milliseconds. Left out if none waits.
   */
  readonly heldAtMs?: number;
  /**
   * The slot that ended its last failure; epoch milliseconds. Left out if it never failed, and by
   * earlier releases.
   */
  readonly failureEndedMs?: number;
}

export const NEVER_RUN: AlertState = {
  condition: 'passing',
  notified: null,
  startedSilenced: false,
  sinceMs: 0,
  runs: 0,
  countedMs: 0,
  verdicts: [],
  notifiedAtMs: 0,
  reminders: 0,
  acknowledged: null,
  wait: null,
};

/**
 * - `none`: the check depends on no other.
 * - `briefly`: no check that it depends on is known to fail. A notice waits PARENTS_GRACE_MS, in
 *   case one of them is about to be found failing.
 * - `held`: one of them fails, or failed at the time of the run.
 */
export type Hold = 'none' | 'briefly' | 'held';

const PARENTS_GRACE_MS = 20 * SECOND_MS;
/** How often a notice that waits is judged again between runs. */
const HELD_CHECK_MS = MINUTE_MS;

/** The circumstances in which a state is judged. */
export interface AlertContext {
  readonly rules: AlertRules;
  /** null if locations rotate, or there is only one. */
  readonly parallel: ParallelLocations | null;
  /** If locations rotate: how far behind the others a run may be and still count; otherwise 0. */
  readonly rotationLagMs: number;
  /** Nothing is sent: the check is muted, silenced or paused. */
  readonly isSilenced: boolean;
  /** Whether notices of a problem wait for the checks that this one depends on. Default: none. */
  readonly hold?: Hold;
  /** Until when a notice is held; epoch milliseconds. null (the default): not known. */
  readonly holdUntilMs?: number | null;
  /** A heartbeat: runs show only that a problem has ended, not that it lasts. Default: false. */
  readonly isObservedOnce?: boolean;
  /** Now; epoch milliseconds. */
  readonly atMs: number;
}

export interface AlertStep {
  readonly state: AlertState;
  /** NO_ALERT if no notice is sent. */
  readonly alert: AlertType;
  /** 0 for the first notice, else the number of the reminder. */
  readonly reminder: number;
  /** When to call `afterTime` if no run comes before; may be past. null: never. */
  readonly dueAtMs: number | null;
}

/**
 * The state after one more run that judged the check (the table of src/service/README.md,
 * "Alerts").
 *
 * - From passing, the threshold must be reached first. The alert is that of the step that reaches
 *   it, therefore a REMAIN if that is not the first run.
 * - Between degraded and failing there is no threshold.
 * - If locations rotate and a newer run elsewhere has passed, a problem in an older run does not
 *   start a count of runs: it is sent only if one run is enough.
 * - A recovery is sent only if the problem was sent, and from the condition that was last sent.
 * - A held notice is sent by the first run at which nothing holds it any more, or by `afterTime`.
 *   Recoveries are never held.
 * - If a problem begins, gets worse or gets better in silence, the first run after the silence
 *   sends it, provided that it still lasts and the threshold is reached. For a heartbeat,
 *   `afterTime` sends it. A problem that ends in silence is never sent.
 *
 * @returns null if the run does not count: it is too late, or the check no longer runs there
 */
export function afterRun(
  before: AlertState,
  verdict: LocationVerdict,
  context: AlertContext,
): AlertStep | null {
  const { parallel, rotationLagMs } = context;
  const verdicts = withVerdict(before.verdicts, verdict, parallel, rotationLagMs);
  if (verdicts === null) return null;
  const condition =
    parallel === null
      ? conditionAfterRotation(before.condition, verdicts, verdict)
      : conditionOver(verdicts, parallel);
  const endsFailure = before.condition === 'failing' && condition !== 'failing';
  const here = { ...before, verdicts, ...(endsFailure ? { failureEndedMs: verdict.slotMs } : {}) };
  if (condition === 'passing') return recovered(here, verdict, context);
  if (condition === before.condition) return remaining(here, verdict, context);
  return changed(here, condition, verdict, context);
}

function recovered(
  before: AlertState,
  { slotMs }: LocationVerdict,
  { isSilenced }: AlertContext,
): AlertStep {
  const { notified, verdicts, failureEndedMs } = before;
  const alert = notified === null || isSilenced ? 'NO_ALERT' : ALERT_OF_STEP[notified].passing;
  const sinceMs = before.condition === 'passing' ? before.sinceMs : slotMs;
  const ended = failureEndedMs === undefined ? {} : { failureEndedMs };
  const state = { ...NEVER_RUN, sinceMs, verdicts, ...ended };
  return { state, alert, reminder: 0, dueAtMs: null };
}

function remaining(before: AlertState, verdict: LocationVerdict, context: AlertContext): AlertStep {
  const { condition, countedMs } = before;
  const counted = slotToCount(before.verdicts, condition, countedMs, context.parallel);
  const state =
    counted === null ? before : { ...before, runs: before.runs + 1, countedMs: counted };
  // A location that passes does not confirm the problem; what is due does not depend on it.
  if (verdict.condition === 'passing' || !isReached(state, verdict.slotMs, context.rules)) {
    return quiet(state, context);
  }
  return notice(state, alertOfUnsent(state), context);
}

/** The alert for a condition of which no notice was sent yet. */
function alertOfUnsent({ condition, notified, heldAtMs }: AlertState): AlertType {
  const before = heldAtMs === undefined ? condition : 'passing';
  return ALERT_OF_STEP[notified ?? before][condition];
}

function changed(
  before: AlertState,
  condition: UnhealthyCondition,
  verdict: LocationVerdict,
  context: AlertContext,
): AlertStep {
  const { slotMs } = verdict;
  const { parallel } = context;
  const counted = slotToCount(before.verdicts, condition, Number.NEGATIVE_INFINITY, parallel);
  const state = {
    ...before,
    condition,
    sinceMs: slotMs,
    runs: 1,
    countedMs: counted ?? slotMs,
  };
  const begins = before.condition === 'passing';
  if (begins && isBehind(before.verdicts, verdict, parallel)) {
    // A newer run passed, so the problem was over by then: it is sent at once, or never.
    const isSent =
      !context.isSilenced && context.hold !== 'held' && isReached(state, slotMs, context.rules);
    return isSent
      ? notice(state, ALERT_OF_STEP.passing[condition], { ...context, hold: 'none' })
      : quiet(before, context);
  }
  const isHeld = before.heldAtMs !== undefined;
  if (context.isSilenced)
    return quiet({ ...state, startedSilenced: !isHeld && before.notified !== condition }, context);
  if (before.notified === condition) {
    // Back in the condition that was sent, there is nothing left to send.
    return quiet(withNothingUnsent(state), context);
  }
  if (isHeld) return notice(state, alertOfUnsent(state), context);
  if (begins && !isReached(state, slotMs, context.rules)) return quiet(state, context);
  return notice(state, ALERT_OF_STEP[before.condition][condition], context);
}

/**
 * The state as time passes without a run: thresholds in minutes are reached between runs, and
 * reminders come due. A reminder that comes due in silence, or is held, is skipped and not sent later.
 */
export function afterTime(before: AlertState, context: AlertContext): AlertStep {
  const { condition, notified, reminders } = before;
  const { rules, isSilenced, hold, atMs } = context;
  if (condition === 'passing') return quiet(before, context);
  if (before.heldAtMs !== undefined) return notice(before, alertOfUnsent(before), context);
  const alert = ALERT_OF_STEP[condition][condition];
  if (notified === null) {
    const isDecidedByTime = rules.escalation.by === 'time' || context.isObservedOnce === true;
    const reached = isDecidedByTime && isReached(before, atMs, rules);
    return reached ? notice(before, alert, context) : quiet(before, context);
  }
  const dueAtMs = reminderOf(before, rules);
  if (dueAtMs === null || atMs < dueAtMs) return quiet(before, context);
  if (isSilenced || hold === 'held') return quiet({ ...before, notifiedAtMs: atMs }, context);
  // A reminder would report a condition that was not sent.
  if (before.startedSilenced) return notice(before, alertOfUnsent(before), context);
  const state = { ...before, notifiedAtMs: atMs, reminders: reminders + 1 };
  return { state, alert, reminder: state.reminders, dueAtMs: dueAt(state, context) };
}

/**
 * Takes the escalation step if it is due. It waits in silence, and while a check that this one
 * depends on fails.
 *
 * @returns null if the step is not taken now
 */
export function escalated(before: AlertState, context: AlertContext): AlertState | null {
  const { wait, heldAtMs } = before;
  const { rules, atMs } = context;
  const dueAtMs = escalationDueAtMs(before, rules.escalateAfterMs ?? null);
  if (wait === null || dueAtMs === null || atMs < dueAtMs) return null;
  if (heldAtMs !== undefined || isEscalationPostponed(before, context)) return null;
  return { ...before, wait: { ...wait, isEscalated: true } };
}

function isEscalationPostponed(
  { startedSilenced }: AlertState,
  { isSilenced, hold }: AlertContext,
): boolean {
  return isSilenced || startedSilenced || hold === 'held';
}

/**
 * Acknowledges the problem: ends reminders and escalation until it gets worse than subscribers know it.
 *
 * @param flapsAs the condition that the notice of the flapping reported; null if the check does not flap
 */
export function acknowledge(
  before: AlertState,
  context: AlertContext,
  flapsAs: UnhealthyCondition | null = null,
): AlertStep {
  const acknowledged = worseOf(knownCondition(before), flapsAs ?? 'passing');
  if (acknowledged === 'passing') return quiet(before, context);
  return quiet({ ...before, acknowledged }, context);
}

/** Undoes the acknowledgement: reminders and escalation are due as if the alert were sent now. */
export function unacknowledge(before: AlertState, context: AlertContext): AlertStep {
  const { atMs } = context;
  const wait = before.wait === null ? null : { ...before.wait, sinceMs: atMs };
  return quiet({ ...before, acknowledged: null, wait, notifiedAtMs: atMs }, context);
}

/** Whether a problem not yet sent has lasted long enough at the instant. */
function isReached(state: AlertState, instantMs: number, { escalation }: AlertRules): boolean {
  if (state.heldAtMs !== undefined) return true;
  // Between degraded and failing there is no threshold.
  if (state.notified !== null) return state.startedSilenced;
  if (escalation.by === 'runs') return state.runs >= escalation.runs;
  return instantMs - state.sinceMs >= escalation.forMs;
}

function quiet(state: AlertState, context: AlertContext): AlertStep {
  const { heldAtMs } = state;
  const dueAtMs = heldAtMs === undefined ? dueAt(state, context) : heldDueAtMs(heldAtMs, context);
  return { state, alert: 'NO_ALERT', reminder: 0, dueAtMs };
}

function heldDueAtMs(heldAtMs: number, { atMs, holdUntilMs = null }: AlertContext): number {
  const graceEndMs = heldAtMs + PARENTS_GRACE_MS;
  if (atMs < graceEndMs) return graceEndMs;
  const nextMs = atMs + HELD_CHECK_MS;
  return holdUntilMs === null ? nextMs : Math.min(nextMs, Math.max(atMs, holdUntilMs));
}

/** The state, but no notice waits for other checks or for the end of a silence any more. */
export function withNothingUnsent({ heldAtMs: _, ...state }: AlertState): AlertState {
  return { ...state, startedSilenced: false };
}

/**
 * Sends the notice, unless it has to wait: in silence for the next run (for a heartbeat, for a
 * minute), and if it is held, until the checks that this one depends on pass.
 */
function notice(before: AlertState, alert: AlertType, context: AlertContext): AlertStep {
  const { condition } = before;
  const { isSilenced, hold, atMs } = context;
  if (condition === 'passing') return quiet(before, context);
  if (isSilenced) {
    const postponed = quiet(before, context);
    if (before.heldAtMs !== undefined || before.notified !== null) return postponed;
    return { ...postponed, dueAtMs: context.isObservedOnce === true ? atMs + POSTPONED_MS : null };
  }
  const { heldAtMs = atMs } = before;
  if (hold === 'held' || (hold === 'briefly' && atMs < heldAtMs + PARENTS_GRACE_MS)) {
    return quiet({ ...before, heldAtMs }, context);
  }
  const state: AlertState = {
    ...withNothingUnsent(before),
    notified: condition,
    notifiedAtMs: atMs,
    reminders: 0,
    wait: waitAfterNotice(before.wait, condition, atMs),
  };
  return { state, alert, reminder: 0, dueAtMs: dueAt(state, context) };
}

function dueAt(state: AlertState, context: AlertContext): number | null {
  const { escalation } = context.rules;
  if (state.condition === 'passing') return null;
  if (state.notified !== null) {
    return earlierOf(reminderOf(state, context.rules), escalationOf(state, context));
  }
  if (escalation.by === 'runs') {
    const isUnsent = state.startedSilenced && context.isObservedOnce === true;
    return isUnsent ? context.atMs + POSTPONED_MS : null;
  }
  return state.sinceMs + escalation.forMs;
}

function reminderOf(state: AlertState, { reminders }: AlertRules): number | null {
  return isAcknowledged(state) ? null : reminderDueAtMs(state, reminders);
}

function escalationOf(state: AlertState, context: AlertContext): number | null {
  const { rules, atMs } = context;
  const dueAtMs = escalationDueAtMs(state, rules.escalateAfterMs ?? null);
  if (dueAtMs === null || !isEscalationPostponed(state, context)) return dueAtMs;
  return Math.max(dueAtMs, atMs + POSTPONED_MS);
}

/** The earlier of two times; null for never. */
export function earlierOf(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
