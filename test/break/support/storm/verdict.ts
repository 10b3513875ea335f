import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import type { StormCheck } from './checks.ts';
import type { Group } from './fixture.ts';
import type { Span, StormRecords, StormResult } from './records.ts';

/** The test's actions with their times; within a span the action was in progress. */
export interface Course {
  readonly outbreak: Span;
  readonly end: Span;
  /** How long runs may take that were in progress then. */
  readonly aftermathMs: number;
  /** Evaluates the slots in it. */
  readonly watched: Span;
  /**
   * Times in which the agent stood still, because other processes had the machine: it repeats
   * failures from then without reporting them, so that the storm may be over before it is detected.
   */
  readonly stoodStill: boolean;
}

/** Violations, as text: each list is empty if all is well. */
export interface StormFaults {
  /** Failures of healthy checks, or before the storm, or well after it. */
  readonly falseAlarms: readonly string[];
  /** Runs during the storm that passed, or failed for the wrong reason. */
  readonly wrong: readonly string[];
  /** Slots missed without a reason. */
  readonly missed: readonly string[];
  /** Checks without a failure in the storm, or without a success after it. */
  readonly silent: readonly string[];
}

const CODES: Readonly<Record<Group, string | null>> = {
  healthy: null,
  dropped: 'CONNECT_TIMEOUT',
  reset: 'CONNECTION_RESET',
  nameless: 'DNS_TIMEOUT',
};
/** The longest time until a run has failed permanently; a run in progress at the end may pass. */
const FAILS_WITHIN_MS: Readonly<Record<Group, number>> = {
  healthy: 0,
  dropped: 62_000,
  reset: 3_000,
  nameless: 7_000,
};
/** A run that began this long before the storm has ended. */
const RUN_MS = 2_000;

/** Evaluates all records of a storm. */
export function stormFaults(
  { results, missed }: StormRecords,
  checks: readonly StormCheck[],
  { outbreak, end, aftermathMs, watched, stoodStill }: Course,
): StormFaults {
  const known = new Map(checks.map((check) => [check.id, check]));
  const checkOf = ({ checkId }: { readonly checkId: string }): StormCheck => {
    const check = known.get(checkId);
    if (check === undefined) throw new Error(`there is no check ${checkId}`);
    return check;
  };
  const isPeaceful = (result: StormResult): boolean => {
    const { slotMs } = result;
    if (checkOf(result).group === 'healthy') return true;
    return slotMs < outbreak.fromMs - RUN_MS || slotMs > end.toMs + aftermathMs;
  };
  const isMidst = (result: StormResult): boolean => {
    const { group } = checkOf(result);
    const untilMs = end.fromMs - FAILS_WITHIN_MS[group];
    return group !== 'healthy' && result.slotMs > outbreak.toMs && result.slotMs < untilMs;
  };
  /** It was connected when its packets began to be dropped, and waits for an answer. */
  const isCutOff = (result: StormResult): boolean =>
    checkOf(result).group === 'dropped' &&
    result.code === 'RESPONSE_TIMEOUT' &&
    result.slotMs + result.lateMs < outbreak.toMs;
  const isWrong = (result: StormResult): boolean => {
    const { failed, code, isSlow, isFinal, retriesMade } = result;
    const { group, retries } = checkOf(result);
    if (failed && code !== CODES[group]) return !isCutOff(result) && (code !== null || !isSlow);
    if (!isMidst(result) || stoodStill) return false;
    return !failed || (isFinal && retriesMade !== retries);
  };
  const mayBeMissed = (slots: MissedSlots): boolean => {
    const { slot, lastSlot, reason } = slots;
    const { group } = checkOf(slots);
    const isInStorm = slot > outbreak.fromMs - RUN_MS && lastSlot < end.toMs + aftermathMs;
    if (group === 'healthy' || !isInStorm) return false;
    if (reason === 'agent_starved') return stoodStill;
    return reason === 'previous_run_active' && (group === 'dropped' || stoodStill);
  };
  const heardIn = (isTelling: (result: StormResult) => boolean): ReadonlySet<string> =>
    new Set(results.filter(isTelling).map(({ checkId }) => checkId));
  const hit = heardIn((result) => result.failed && result.code === CODES[checkOf(result).group]);
  const well = heardIn(
    ({ failed, isFinal, slotMs }) => isFinal && !failed && slotMs > end.toMs + aftermathMs,
  );
  const isSilent = ({ id, group }: StormCheck): boolean =>
    !well.has(id) || (group !== 'healthy' && !hit.has(id) && !stoodStill);
  const isWatched = ({ slot }: MissedSlots): boolean =>
    slot > watched.fromMs && slot <= watched.toMs;
  return {
    falseAlarms: results.filter((result) => result.failed && isPeaceful(result)).map(shown),
    wrong: results.filter(isWrong).map(shown),
    missed: missed
      .filter((slots) => isWatched(slots) && !mayBeMissed(slots))
      .map(({ checkId, slot, reason }) => `${checkId} at ${iso(slot)}: ${reason}`),
    silent: checks.filter(isSilent).map(({ id }) => id),
  };
}

function shown({ checkId, slotMs, failed, code, isFinal, retriesMade }: StormResult): string {
  const what = failed ? (code ?? 'failed') : 'passed';
  const kind = isFinal ? 'FINAL' : 'ATTEMPT';
  return `${checkId} at ${iso(slotMs)}: ${kind} after ${retriesMade} others ${what}`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
