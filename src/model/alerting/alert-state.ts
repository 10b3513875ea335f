import { ALERT_OF_STEP, type AlertType, type Condition, type Trouble } from './alert.ts';
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

/**
 * A check as alerts see it. Trouble is of one of four kinds:
 *
 * | `told` | `isHushed` | subscribers |
 * |---|---|---|
 * | null | false | get a notice once the trouble has lasted to the threshold |
 * | degraded, failing | false | got a notice of this state; may get reminders and the recovery |
 * | null | true | get no notice of it or its recovery: it began while the check was silent |
 */
export interface AlertState {
  readonly condition: Condition;
  /** The last state of the current trouble that was sent to subscribers. */
  readonly told: Trouble | null;
  readonly isHushed: boolean;
  /** The slot in which the condition began; epoch milliseconds. */
  readonly sinceMs: number;
  /** Slots in a row in the condition; not counted while it is passing. */
  readonly runs: number;
  /** The last slot that is one of them. */
  readonly countedMs: number;
  readonly places: readonly LocationVerdict[];
  /** When the last notice or reminder was sent; epoch milliseconds. */
  readonly toldAtMs: number;
  /** How many reminders were sent since the last notice. */
  readonly reminders: number;
}

export const NEVER_RUN: AlertState = {
  condition: 'passing',
  told: null,
  isHushed: false,
  sinceMs: 0,
  runs: 0,
  countedMs: 0,
  places: [],
  toldAtMs: 0,
  reminders: 0,
};

/** The circumstances in which a state is judged. */
export interface AlertScene {
  readonly rules: AlertRules;
  /** null where locations rotate, or there is only one. */
  readonly parallel: ParallelLocations | null;
  /** Where locations rotate: how far behind the others a run may be and still count, else 0. */
  readonly turnLateMs: number;
  /** Nothing is sent: the check is muted, silenced or paused. */
  readonly isSilent: boolean;
  /** Now; epoch milliseconds. */
  readonly atMs: number;
}

export interface AlertStep {
  readonly state: AlertState;
  /** NO_ALERT where no notice is sent. */
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
 *   it, therefore a REMAIN where that is not the first run.
 * - Between degraded and failing there is no threshold.
 * - Where locations rotate and a newer run elsewhere has passed, trouble of an older run does not
 *   begin a row: it is sent only where one run is enough.
 * - A recovery is sent only where the trouble was sent, and from the state that was last sent.
 * - Trouble that begins in silence is never sent. Trouble that began before the silence is sent by
 *   the first run after it, where the threshold was reached meanwhile.
 *
 * @returns null where the run does not count: it is too late, or the check no longer runs there
 */
export function afterRun(
  before: AlertState,
  verdict: LocationVerdict,
  scene: AlertScene,
): AlertStep | null {
  const { parallel, turnLateMs } = scene;
  const places = withVerdict(before.places, verdict, parallel, turnLateMs);
  if (places === null) return null;
  const condition =
    parallel === null
      ? conditionAfterRotation(before.condition, places, verdict)
      : conditionOver(places, parallel);
  const here = { ...before, places };
  if (condition === 'passing') return recovered(here, scene);
  if (condition === before.condition) return remaining(here, verdict, scene);
  return changed(here, condition, verdict, scene);
}

function recovered(before: AlertState, { isSilent }: AlertScene): AlertStep {
  const { told, places } = before;
  const alert = told === null || isSilent ? 'NO_ALERT' : ALERT_OF_STEP[told].passing;
  return { state: { ...NEVER_RUN, places }, alert, reminder: 0, dueAtMs: null };
}

function remaining(before: AlertState, verdict: LocationVerdict, scene: AlertScene): AlertStep {
  const { condition, countedMs } = before;
  const counted = slotToCount(before.places, condition, countedMs, scene.parallel);
  const state =
    counted === null ? before : { ...before, runs: before.runs + 1, countedMs: counted };
  // A location that passes does not confirm the trouble; what is due does not depend on it.
  if (verdict.condition === 'passing' || !isReached(state, verdict.slotMs, scene.rules)) {
    return quiet(state, scene);
  }
  return notice(state, ALERT_OF_STEP[condition][condition], scene);
}

function changed(
  before: AlertState,
  condition: Trouble,
  verdict: LocationVerdict,
  scene: AlertScene,
): AlertStep {
  const { slotMs } = verdict;
  const { parallel } = scene;
  const counted = slotToCount(before.places, condition, Number.NEGATIVE_INFINITY, parallel);
  const state = {
    ...before,
    condition,
    sinceMs: slotMs,
    runs: 1,
    countedMs: counted ?? slotMs,
  };
  const begins = before.condition === 'passing';
  if (begins && isBehind(before.places, verdict, parallel)) {
    // A newer run passed, so the trouble was over by then: it is sent at once, or never.
    const isTold = !scene.isSilent && isReached(state, slotMs, scene.rules);
    return isTold ? notice(state, ALERT_OF_STEP.passing[condition], scene) : quiet(before, scene);
  }
  const recoversUnreported = before.condition === 'failing' && before.isHushed;
  if (scene.isSilent) return quiet({ ...state, isHushed: before.told === null }, scene);
  if (recoversUnreported || (begins && !isReached(state, slotMs, scene.rules)))
    return quiet(state, scene);
  return notice(state, ALERT_OF_STEP[before.condition][condition], scene);
}

/**
 * The state as time passes without a run: thresholds in minutes are reached between runs, and
 * reminders come due. A reminder that comes due in silence is skipped and not sent later.
 */
export function afterTime(before: AlertState, scene: AlertScene): AlertStep {
  const { condition, told, reminders, toldAtMs } = before;
  const { rules, isSilent, atMs } = scene;
  if (condition === 'passing') return quiet(before, scene);
  const alert = ALERT_OF_STEP[condition][condition];
  if (told === null) {
    const reached = rules.escalation.by === 'time' && isReached(before, atMs, rules);
    if (!reached) return quiet(before, scene);
    if (!isSilent) return notice(before, alert, scene);
    return { ...quiet(before, scene), dueAtMs: null };
  }
  if (reminders >= rules.reminders.amount || atMs < toldAtMs + rules.reminders.everyMs) {
    return quiet(before, scene);
  }
  if (isSilent) return quiet({ ...before, toldAtMs: atMs }, scene);
  const state = { ...before, toldAtMs: atMs, reminders: reminders + 1 };
  return { state, alert, reminder: state.reminders, dueAtMs: dueAt(state, rules) };
}

/** Whether trouble not yet sent has lasted long enough at the instant. */
function isReached(state: AlertState, instantMs: number, { escalation }: AlertRules): boolean {
  if (state.told !== null || state.isHushed) return false;
  if (escalation.by === 'runs') return state.runs >= escalation.runs;
  return instantMs - state.sinceMs >= escalation.forMs;
}

function quiet(state: AlertState, { rules }: AlertScene): AlertStep {
  return { state, alert: 'NO_ALERT', reminder: 0, dueAtMs: dueAt(state, rules) };
}

/** In silence the notice is postponed to the next run. */
function notice(before: AlertState, alert: AlertType, scene: AlertScene): AlertStep {
  const { condition } = before;
  if (condition === 'passing') return quiet(before, scene);
  if (scene.isSilent) return { ...quiet(before, scene), dueAtMs: null };
  const state: AlertState = {
    ...before,
    told: condition,
    isHushed: false,
    toldAtMs: scene.atMs,
    reminders: 0,
  };
  return { state, alert, reminder: 0, dueAtMs: dueAt(state, scene.rules) };
}

function dueAt(state: AlertState, { escalation, reminders }: AlertRules): number | null {
  if (state.condition === 'passing') return null;
  if (state.told !== null) {
    return state.reminders < reminders.amount ? state.toldAtMs + reminders.everyMs : null;
  }
  if (state.isHushed || escalation.by === 'runs') return null;
  return state.sinceMs + escalation.forMs;
}
