import { nextRetryDelayMs, type RetryPlan, retryPlanOf } from '../../model/check/retry.ts';
import { sequenceIdOf } from '../../model/ids.ts';
import type { MissedReason } from '../../model/result/missed-slots.ts';
import { sleep } from '../../runtime/wait.ts';
import type { Evidence } from '../evidence/evidence-budget.ts';
import type { Attempt } from './attempt.ts';
import { attemptFamilies } from './attempt-families.ts';
import { buildResult, hasFailed } from './build-result.ts';
import { isRunCancelled } from './cancellation.ts';
import type { ResultContext, RunName } from './check-result.ts';
import { gatherEvidence, wantsEvidence } from './gather-evidence.ts';
import { isTaken, mayRunElsewhere, type RetryOffer } from './handover.ts';
import type { Run, RunnerParts } from './run.ts';
import { attemptUnstarved } from './unstarved-attempt.ts';

/**
 * One run: attempts until one passes, no further retry is due, or another location takes the next
 * one. Sends ATTEMPT results and one FINAL to the sink, or one missed slot with the reason why
 * there is no FINAL. A one-off run has no slot that could be missed: only the log reports that it
 * did not run. The FINAL of a run that is cancelled has no verdict.
 *
 * @returns why there is no FINAL; null if there is one, or another location makes it
 */
export async function runCheck(run: Run, parts: RunnerParts): Promise<MissedReason | null> {
  const { check, slotMs } = run;
  const { clock, sink } = parts;
  const plan = retryPlanOf(check.retryStrategy, check.doubleCheck);
  const location = parts.location();
  const sequenceId = run.sequenceId ?? sequenceIdOf(check.id, location, slotMs);
  const name = { location, slotMs, sequenceId };
  const startMs = clock.monotonicMs();
  const firstStartedAtMs = run.firstStartedAtMs ?? clock.wallMs();
  // The clock of another machine may be ahead.
  const earlierMs = Math.max(0, clock.wallMs() - firstStartedAtMs);

  // One-off runs are never skipped.
  if (run.sequenceId === null && parts.loadShedding.shedsRunOf(check.id)) {
    parts.onShed('run');
    parts.loadShedding.starved();
    return reportMissed(run, 'agent_starved', parts);
  }
  for (let { retriesMade } = run; ; retriesMade += 1) {
    const attempt = await attemptUnstarved(run, plan, { retriesMade, sequenceId }, parts);
    const cancelled = { ...name, retriesMade };
    if (isRunCancelled(run.signal)) {
      return await reportCancelled(
        run,
        typeof attempt === 'string' ? null : attempt,
        cancelled,
        parts,
      );
    }
    if (typeof attempt === 'string') {
      // A run on request, or a retry of another location, has no slot that could be skipped next.
      if (attempt === 'agent_starved' && run.sequenceId === null) {
        parts.loadShedding.hadNoVerdict(check.id);
      }
      return reportMissed(run, attempt, parts);
    }
    const missed = await missedReasonOf(attempt, run, parts);
    if (isRunCancelled(run.signal)) return await reportCancelled(run, attempt, cancelled, parts);
    if (missed !== null) {
      attempt.forget();
      return reportMissed(run, missed, parts);
    }

    const endMs = clock.monotonicMs();
    // No retry after a fault of the agent (hasErrors): it would fail again.
    const delayMs = attempt.verdict.hasFailures
      ? nextRetryDelayMs(plan, retriesMade, earlierMs + endMs - startMs, attempt.networkError)
      : null;
    const notBeforeMs = Math.round(clock.wallMs() + (delayMs ?? 0));
    const found = delayMs === null ? await runDiagnostics(run, plan, attempt, parts) : null;
    if (isRunCancelled(run.signal)) return await reportCancelled(run, attempt, cancelled, parts);
    const resultType = delayMs === null ? 'FINAL' : 'ATTEMPT';
    const about = { ...name, retriesMade, resultType, isCancelled: false } as const;
    sink.result(await buildResult(check, attempt, found, about, parts));
    if (delayMs === null) return null;

    const retry = { checkId: check.id, slotMs, sequenceId, firstStartedAtMs, notBeforeMs };
    const offer = plan.sameRegion ? null : { ...retry, retriesMade: retriesMade + 1 };
    const next = await waitForRetry(run, { offer, dueMs: endMs + delayMs }, parts);
    if (next === 'taken') return null;
    if (isRunCancelled(run.signal)) {
      return await reportCancelled(run, null, { ...name, retriesMade: retriesMade + 1 }, parts);
    }
    if (next === 'stopped') return reportMissed(run, 'agent_stopped', parts);
  }
}

/**
 * Ends the run with a FINAL that has no verdict.
 *
 * @param attempt the one that was under way; null between two attempts
 * @returns null: there is a FINAL
 */
async function reportCancelled(
  { check, signal }: Run,
  attempt: Attempt | null,
  name: RunName & Pick<ResultContext, 'retriesMade'>,
  parts: RunnerParts,
): Promise<null> {
  // Its signal has aborted, so that it probes nothing.
  const opening = `The run of the ${check.checkType} check "${check.id}" was cancelled before this attempt`;
  const options = { opening, signal, keepLongBody: false };
  const ended = attempt ?? (await attemptFamilies(check, parts, options));
  const about = { ...name, resultType: 'FINAL', isCancelled: true } as const;
  parts.sink.result(await buildResult(check, ended, null, about, parts));
  parts.log.info({ checkId: check.id }, 'a requested run was cancelled');
  return null;
}

/**
 * The diagnostic pass after the last failed attempt. Releases the permit for good: only the result
 * follows.
 */
function runDiagnostics(
  { check, signal, permit }: Run,
  plan: RetryPlan,
  attempt: Attempt,
  parts: RunnerParts,
): Promise<Evidence | null> {
  if (!wantsEvidence(attempt, parts)) return Promise.resolve(null);
  if (parts.loadShedding.sheds('evidence')) {
    parts.onShed('evidence');
    attempt.jobLog.conclude('info', 'No trace and no capture: the agent is short of CPU');
    return Promise.resolve(null);
  }
  // Frees body memory that may have been reserved, so that others need not wait for it.
  if (attempt.longBody === null) attempt.forget();
  return permit.rest(
    () => gatherEvidence(attempt, { check, plan, signal }, parts),
    () => true,
  );
}

/** With shouldFail, a check also passes without a response, which may be the fault of the agent. */
function passedWithResponse(attempt: Attempt): boolean {
  return !hasFailed(attempt) && attempt.failure === null;
}

/** Why a failed attempt is not the fault of the target; null if it counts. */
async function missedReasonOf(
  attempt: Attempt,
  { signal }: Run,
  { connectivity }: RunnerParts,
): Promise<MissedReason | null> {
  if (passedWithResponse(attempt)) return null;
  if (signal.aborted) return 'agent_stopped';
  const online = await connectivity.isOnline(signal);
  if (signal.aborted) return 'agent_stopped';
  return online ? null : 'agent_offline';
}

interface NextRetry {
  /** The offer to other locations; null if the retry stays here. */
  readonly offer: RetryOffer | null;
  /** Monotonic. */
  readonly dueMs: number;
}

/** `due`: the retry is made here, now. `taken`: another location makes it. */
async function waitForRetry(
  { check, signal, permit }: Run,
  { offer, dueMs }: NextRetry,
  { clock, handover, log }: RunnerParts,
): Promise<'due' | 'taken' | 'stopped'> {
  const isForOthers = offer !== null && handover !== null && mayRunElsewhere(check);
  // Without a delay, the permit need not be released.
  if (!isForOthers && dueMs <= clock.monotonicMs()) return 'due';
  const wait = async () => {
    if (isForOthers && (await isTaken(handover, offer, { signal, log }))) return 'taken';
    const leftMs = dueMs - clock.monotonicMs();
    const isDue = leftMs <= 0 ? !signal.aborted : await sleep(clock, leftMs, signal);
    return isDue ? 'due' : 'stopped';
  };
  return await permit.rest(wait, (next) => next !== 'due');
}

function reportMissed(run: Run, reason: MissedReason, { sink, log }: RunnerParts): MissedReason {
  const { check, slotMs, sequenceId } = run;
  if (sequenceId === null) {
    sink.missed({ checkId: check.id, slot: slotMs, lastSlot: slotMs, count: 1, reason });
  } else {
    log.warn({ checkId: check.id, reason }, 'a requested run was missed');
  }
  return reason;
}
