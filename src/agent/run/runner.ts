import type { Check } from '../../model/check/check.ts';
import { nextRetryDelayMs, type RetryPlan, retryPlanOf } from '../../model/check/retry.ts';
import { sequenceIdOf } from '../../model/ids.ts';
import type { CheckResult, MissedReason } from '../../model/result/result.ts';
import { slotRuleOf } from '../../model/schedule/slot-rule.ts';
import { sleep } from '../../runtime/wait.ts';
import { scrubResult } from '../../scrub/result-fields.ts';
import type { Evidence } from '../evidence/evidence-budget.ts';
import type { ResultSink } from '../output/result-sink.ts';
import type { BodyMemory, BodyUse } from '../probes/http/body/body-memory.ts';
import type { Permit } from '../scheduler/permits/permits.ts';
import { watchWork } from '../scheduler/permits/work-watch.ts';
import { saveEvidence } from './artifacts/evidence-artifacts.ts';
import { type ArtifactTaker, saveFailedBody } from './artifacts/failed-body.ts';
import { type EvidenceParts, gatherEvidence, wantsEvidence } from './artifacts/failure-evidence.ts';
import type { Attempt, AttemptParts } from './attempt.ts';
import { attemptFamilies } from './attempt-families.ts';
import { isRunCancelled } from './cancelled.ts';
import { concludeLog } from './conclude-log.ts';
import type { ConnectivityCheck } from './connectivity.ts';
import { type Handover, isTaken, mayRunElsewhere, type RetryOffer } from './handover.ts';
import { type ResultContext, type RunName, resultIdIn, toCheckResult } from './result.ts';
import type { CpuPressure, Sheddable } from './starvation/cpu-pressure.ts';

/**
 * Delays before a starved attempt is repeated; after the last one the run is missed. They grow, so
 * that repeats do not add to the starvation.
 */
const STARVED_PAUSES_MS = [0, 250, 500, 1000, 2000];
/** Repeats that even a retry after the slot's time gets. */
const MIN_STARVED_REPEATS = 2;
/** Bounds the repeats: a body may be longer each time. */
const MAX_MEMORY_WAITS = 2;
/** Longest wait of a retry that began after the slot's time. */
const MIN_MEMORY_WAIT_MS = 5_000;

export interface RunnerParts extends AttemptParts {
  /** The `runLocation` of results; called once per run. */
  readonly location: () => string;
  readonly sink: Pick<ResultSink, 'result' | 'missed'>;
  readonly connectivity: ConnectivityCheck;
  /** null if no other location can take retries. */
  readonly handover: Handover | null;
  /** null if artifacts cannot be stored. */
  readonly artifacts: ArtifactTaker | null;
  /** null: no diagnostic passes. */
  readonly evidence: EvidenceParts['evidence'];
  /** Called for each attempt that did not count because the agent was short of CPU. */
  readonly onStarved: () => void;
  readonly pressure: Pick<CpuPressure, 'sheds' | 'shedsRunOf' | 'hadNoVerdict' | 'starved'>;
  /** Called for each thing skipped because the agent is short of CPU. */
  readonly onShed: (what: Sheddable) => void;
  /** Called for each body that did not fit in memory: it is read again later, or cut. */
  readonly onBodyWithoutRoom: (use: BodyUse) => void;
}

export interface Run {
  readonly check: Check;
  /** Epoch milliseconds; names the run. */
  readonly slotMs: number;
  /** Set for a one-off run; null: derived from check, location and slot. */
  readonly sequenceId: string | null;
  /** Retries of this run that another location made. */
  readonly retriesMade: number;
  /** Epoch milliseconds of the run's first attempt in another location; null if there was none. */
  readonly firstStartedAtMs: number | null;
  /**
   * Ends the run at once: with the reason RUN_CANCELLED as cancelled, else as missed, because a stopping
   * agent is not an outage of the target.
   */
  readonly signal: AbortSignal;
  readonly permit: Permit;
}

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
  if (run.sequenceId === null && parts.pressure.shedsRunOf(check.id)) {
    parts.onShed('run');
    parts.pressure.starved();
    return reportMissed(run, 'agent_starved', parts);
  }
  for (let { retriesMade } = run; ; retriesMade += 1) {
    const attempt = await attemptUnstarved(run, plan, retriesMade, parts);
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
        parts.pressure.hadNoVerdict(check.id);
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
  if (parts.pressure.sheds('evidence')) {
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

/** The attempt's complete result, scrubbed of secrets. */
async function buildResult(
  check: Check,
  attempt: Attempt,
  found: Evidence | null,
  name: RunName & Pick<ResultContext, 'retriesMade' | 'resultType' | 'isCancelled'>,
  parts: RunnerParts,
): Promise<CheckResult> {
  const resultId = resultIdIn(name, name.retriesMade);
  const owner = { checkId: check.id, resultId };
  const { longBody } = attempt;
  if (longBody !== null && longBody.bytes.length < longBody.totalBytes && failed(attempt)) {
    parts.onBodyWithoutRoom('detail');
  }
  const { artifacts, log, secrets } = parts;
  // A new one each time: the vault may have more secrets by now.
  const scrubber = () => secrets.scrubberWith(attempt.secrets);
  const bodyAssets = await saveFailedBody(attempt, owner, { artifacts, log, scrubber });
  attempt.forget();
  const evidence = await saveEvidence(found, owner, attempt, { artifacts, log, scrubber });
  const context = { ...name, resultId, jobAssets: [...bodyAssets, ...evidence.assets], evidence };
  const { verdict, endpoint, jobLog } = attempt;
  if (verdict.hasFailures || verdict.hasErrors || verdict.isDegraded) {
    concludeLog(toCheckResult(check, attempt, context), check, endpoint, jobLog);
  }
  return scrubResult(toCheckResult(check, attempt, context), await scrubber());
}

function failed({ verdict }: Attempt): boolean {
  return verdict.hasFailures || verdict.hasErrors;
}

/** With shouldFail, a check also passes without a response, which may be the fault of the agent. */
function passedWithResponse(attempt: Attempt): boolean {
  return !failed(attempt) && attempt.failure === null;
}

/**
 * The starvation guard (src/agent/README.md, "Timing and CPU starvation"): repeats an attempt whose
 * verdict is uncertain because the agent was short of CPU, within the slot's time, and one whose body
 * did not fit in memory, when it fits. Otherwise returns why the run is missed.
 */
async function attemptUnstarved(
  { check, slotMs, signal, permit }: Run,
  plan: RetryPlan,
  retriesMade: number,
  parts: RunnerParts,
): Promise<Attempt | MissedReason> {
  const most = Math.max(plan.maxRetries, retriesMade) + 1;
  const title = `Attempt ${retriesMade + 1} of at most ${most} (${check.checkType} check "${check.id}")`;
  const isBrief = parts.pressure.sheds('detail');
  if (isBrief) parts.onShed('detail');
  const keepLongBody = parts.artifacts !== null && !isBrief;
  const { clock } = parts;
  const { frequency, frequencyOffset } = check;
  const slotEndMs = slotMs + slotRuleOf(check.id, frequency, frequencyOffset).periodMs;
  let again = '';
  let room: BodyMemory | undefined;
  let memoryWaits = 0;
  for (let repeats = 0; ; repeats += 1) {
    const options = { opening: `${title}${again}`, signal, keepLongBody, isBrief, room };
    const attempt = await permit.attempt(async (waits) => {
      const watch = watchWork(clock, parts.starvation, waits);
      try {
        return await attemptFamilies(check, parts, { ...options, onBody: watch.received });
      } finally {
        watch.stop();
      }
    });
    room = undefined;
    const { lackedBytes } = attempt;
    if (lackedBytes > 0) {
      attempt.forget();
      parts.onBodyWithoutRoom('assertions');
      if (signal.aborted) return 'agent_stopped';
      if (memoryWaits === MAX_MEMORY_WAITS) return 'agent_busy';
      const waitMs = Math.max(MIN_MEMORY_WAIT_MS, slotEndMs - clock.wallMs());
      const wait = { clock, waitMs, signal, keepsDetail: keepLongBody };
      const found = await permit.rest(
        () => parts.bodyRoom.reserve(lackedBytes, wait),
        (reserved) => reserved === null,
      );
      if (found === null) return signal.aborted ? 'agent_stopped' : 'agent_busy';
      room = found;
      memoryWaits += 1;
      repeats -= 1;
      again = ', repeated: the agent had no memory for the body of the previous attempt';
      continue;
    }
    if (signal.aborted || attempt.isCertain) return attempt;
    attempt.forget();
    parts.onStarved();
    parts.pressure.starved();
    const pauseMs = STARVED_PAUSES_MS[repeats];
    if (pauseMs === undefined) return 'agent_starved';
    const nextEndMs = clock.wallMs() + pauseMs + attempt.durationMs;
    if (repeats >= MIN_STARVED_REPEATS && nextEndMs > slotEndMs) return 'agent_starved';
    const starvedMs = Math.round(attempt.starvedMs);
    again = `, repeated: the agent was short of CPU for ${starvedMs} ms of the previous attempt`;
    // If the signal aborts, the next attempt ends at once.
    if (pauseMs > 0) await permit.rest(() => sleep(clock, pauseMs, signal));
  }
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
