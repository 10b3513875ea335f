import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { nextSlotAfter } from '../../../../src/model/schedule/slot-rule.ts';
import type { Expected, StarvationCheck } from './checks.ts';

/** A time in which the targets answered nobody, [from, to] in epoch milliseconds. */
export type Gap = readonly [fromMs: number, toMs: number];

export interface ReceivedResult extends CheckResult {
  /** When the test read it, epoch milliseconds. */
  readonly receivedMs: number;
}

/** The reports of an agent, and the known state of its targets. */
export interface Observed {
  readonly results: readonly ReceivedResult[];
  readonly missed: readonly MissedSlots[];
  /** Begin of the starvation, epoch milliseconds: only later slots are judged. */
  readonly fromMs: number;
  readonly gaps: readonly Gap[];
}

export interface HealthyVerdict {
  /** Judged FINALs. */
  readonly finals: number;
  /** FINALs that prove nothing, because the target answered nobody meanwhile. */
  readonly notJudged: number;
  /** Sentences. */
  readonly falseFailures: readonly string[];
  readonly falseDegraded: readonly string[];
  /** Response times of the judged ones. */
  readonly timesMs: readonly number[];
}

/** Judges the FINALs of all checks of healthy targets. */
export function judgeHealthy(
  checks: readonly StarvationCheck[],
  { results, fromMs, gaps }: Observed,
): HealthyVerdict {
  const healthy = new Map(
    checks.filter(({ expected }) => expected === 'passed').map((check) => [check.id, check]),
  );
  const finals = results.filter(
    ({ resultType, checkId, checkRunId }) =>
      resultType === 'FINAL' && healthy.has(checkId) && checkRunId > fromMs,
  );
  const judged = finals.filter(
    ({ checkId, startedAt, stoppedAt }) =>
      healthy.get(checkId)?.isAnsweredByTargets !== true ||
      !isDisturbed(gaps, Date.parse(startedAt), Date.parse(stoppedAt)),
  );
  const named = (end: Expected): readonly string[] =>
    judged
      .filter((result) => endOf(result) === end)
      .map((result) => `${result.checkId} ${whenOf(result.checkRunId, fromMs)}: ${whyOf(result)}`);
  return {
    finals: judged.length,
    notJudged: finals.length - judged.length,
    falseFailures: named('failed'),
    falseDegraded: named('degraded'),
    timesMs: judged.map(({ responseTime }) => responseTime),
  };
}

export type FaultyVerdict =
  /** `afterMs`: from the slot until the test read the result. */
  | { readonly kind: 'reported'; readonly afterMs: number }
  /** Some slot is not accounted for yet. `slots` has what is known. */
  | { readonly kind: 'pending'; readonly slots: string }
  /** Neither of the two slots has the expected result. */
  | { readonly kind: 'unreported'; readonly slots: string };

/**
 * Judges a check of a faulty target: one of its first two slots under starvation has the expected
 * FINAL. If the targets answered nobody for some of that time, the next two slots decide.
 *
 * @param mayLackCpu whether the next two slots also decide if the agent reports that it had too little CPU to run
 *   these: the same share of a CPU is enough on one machine, and too little on another
 */
export function judgeFaulty(
  check: StarvationCheck,
  observed: Observed,
  { mayLackCpu = false }: { readonly mayLackCpu?: boolean } = {},
): FaultyVerdict {
  const { periodMs, expected } = check;
  const outcomes = outcomesOf(check, observed);
  const slots = [...outcomes]
    .sort(([one], [other]) => one - other)
    .map(([slotMs, { what }]) => `${whenOf(slotMs, observed.fromMs)} ${what}`)
    .join(', ');
  let firstMs = firstSlotOf(check, observed);
  // The run of an earlier slot, which began without starvation, was still active.
  if (outcomes.get(firstMs)?.what === 'previous_run_active') firstMs += periodMs;
  for (let slotMs = firstMs; ; slotMs += 2 * periodMs) {
    const pair = [slotMs, slotMs + periodMs].map((each) => ({ each, of: outcomes.get(each) }));
    const report = pair.find(({ of }) => of?.what === expected);
    if (report?.of !== undefined) {
      return { kind: 'reported', afterMs: report.of.atMs - report.each };
    }
    if (pair.some(({ of }) => of === undefined)) return { kind: 'pending', slots };
    const isExcused =
      check.isAnsweredByTargets && isDisturbed(observed.gaps, slotMs, slotMs + 2 * periodMs);
    const lackedCpu = mayLackCpu && pair.every(({ of }) => of !== undefined && hadNoRun(of.what));
    if (!isExcused && !lackedCpu) return { kind: 'unreported', slots };
  }
}

/** Whether a slot had no run because the agent had too little CPU, or the run of another slot took long. */
function hadNoRun(what: string): boolean {
  return what === 'agent_starved' || what === 'previous_run_active';
}

interface Outcome {
  /** The FINAL's, or why the slot was missed. */
  readonly what: string;
  /** When the test read the FINAL, epoch milliseconds. */
  readonly atMs: number;
}

/** The records by slot, from the begin of the starvation on. */
function outcomesOf(
  { id, periodMs }: StarvationCheck,
  { results, missed, fromMs }: Observed,
): ReadonlyMap<number, Outcome> {
  const ran = results
    .filter(({ checkId, resultType }) => checkId === id && resultType === 'FINAL')
    .map((result) => {
      const outcome: Outcome = { what: endOf(result), atMs: result.receivedMs };
      return [result.checkRunId, outcome] as const;
    });
  const lost = missed
    .filter(({ checkId }) => checkId === id)
    .flatMap(({ slot, count, reason }) =>
      Array.from({ length: count }, (_, index) => {
        const outcome: Outcome = { what: reason, atMs: Number.NaN };
        return [slot + index * periodMs, outcome] as const;
      }),
    );
  return new Map([...ran, ...lost].filter(([slotMs]) => slotMs > fromMs));
}

/** NaN before the agent has said anything about the check. */
function firstSlotOf(
  { id, periodMs }: StarvationCheck,
  { results, missed, fromMs }: Observed,
): number {
  const slotMs =
    results.find(({ checkId }) => checkId === id)?.checkRunId ??
    missed.find(({ checkId }) => checkId === id)?.slot ??
    Number.NaN;
  return nextSlotAfter({ periodMs, phaseMs: slotMs % periodMs }, fromMs);
}

function isDisturbed(gaps: readonly Gap[], startMs: number, endMs: number): boolean {
  return gaps.some(([fromMs, toMs]) => fromMs <= endMs && toMs >= startMs);
}

function endOf({ hasFailures, hasErrors, isDegraded }: CheckResult): Expected {
  if (hasFailures || hasErrors) return 'failed';
  return isDegraded ? 'degraded' : 'passed';
}

function whenOf(slotMs: number, fromMs: number): string {
  return `after ${((slotMs - fromMs) / 1000).toFixed(1)} s`;
}

/** For diagnosis: what failed, and what the kernel and the event loop measured. */
function whyOf(result: CheckResult): string {
  const { apiCheckResult, tcpCheckResult, dnsCheckResult, icmpCheckResult, responseTime } = result;
  const detail = apiCheckResult ?? tcpCheckResult ?? dnsCheckResult ?? icmpCheckResult;
  const failed = detail?.assertions.find(({ error }) => error !== null);
  const phases =
    apiCheckResult?.response?.timingPhases ??
    apiCheckResult?.timingPhases ??
    tcpCheckResult?.timingPhases ??
    dnsCheckResult?.timingPhases;
  const measured = { phases, ...detail?.timing, tcp: (apiCheckResult ?? tcpCheckResult)?.tcp };
  const why = detail?.requestErrorCode ?? failed?.error ?? 'its time';
  return `${why}, ${responseTime} ms, ${JSON.stringify(measured)}`;
}

/** The causes that the agent's log names for its starvation. */
export function causesIn(log: string): readonly string[] {
  return [...log.matchAll(/"cause":"([^"]+)"/g)].map(([, cause = '']) => cause);
}
