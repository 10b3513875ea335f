import { z } from 'zod';
import type { CheckResult } from '../../model/result/result.ts';
import { checkBody, type OneOffMessage, sentScripts } from './assignment.ts';
import { count, id, instant, openCode, text } from './fields.ts';

/** A check that is not saved, to be run once: src/service/README.md, "Trials of checks". */
export const trialEnvelope = z.object({
  trialId: id,
  check: checkBody,
  scripts: sentScripts,
  /** Epoch milliseconds: the `checkRunId` of its result. */
  slot: instant,
  /** Epoch milliseconds of the service's clock. From then on it must not be started. */
  notAfter: instant,
});
export type TrialMessage = z.output<typeof trialEnvelope>;

/** The trial as a run: its check has the id of the trial, which is also its `sequenceId`. */
export function oneOffOfTrial({
  trialId,
  check,
  scripts,
  slot,
  notAfter,
}: TrialMessage): OneOffMessage {
  return {
    runId: trialId,
    checkId: trialId,
    check,
    scripts,
    reason: 'requested',
    slot,
    sequenceId: trialId,
    notBefore: null,
    notAfter,
    retriesMade: 0,
    firstStartedAt: null,
  };
}

/** Whether a result is that of the trial, which has only one. */
export function isResultOfTrial(
  result: Pick<
    CheckResult,
    'checkId' | 'sequenceId' | 'checkRunId' | 'resultType' | 'attempts' | 'runLocation'
  >,
  trial: { readonly trialId: string; readonly slot: number; readonly location: string },
): boolean {
  return (
    result.checkId === trial.trialId &&
    result.sequenceId === trial.trialId &&
    result.checkRunId === trial.slot &&
    result.resultType === 'FINAL' &&
    result.attempts === 0 &&
    result.runLocation === trial.location
  );
}

/** How a trial ended. Sent once, and never stored by the agent. */
export const trialReportSchema = z.object({
  agentId: id,
  epoch: count,
  trialId: id,
  /** A result, or null if it was not run. Its own schema judges it: see `readRecord`. */
  result: z.unknown(),
  /** Why it was not run: a reason of missed slots, or `refused`; null with a result. */
  missed: openCode.nullable(),
  /** Why the agent cannot read the check; null for every other reason. */
  problem: text(600).nullable(),
});
export type TrialReport = z.output<typeof trialReportSchema>;

/**
 * False if the trial has already ended, or does not belong to the agent, which forgets it in any
 * case.
 */
export const trialResponseSchema = z.object({ accepted: z.boolean() });
