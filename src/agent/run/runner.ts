import type { Check } from '../../model/check.ts';
import type { MissedReason } from '../../model/result.ts';
import { nextRetryDelayMs, type RetryPlan, retryPlanOf } from '../../model/retry.ts';
import { sleep } from '../../runtime/wait.ts';
import type { ResultSink } from '../output/result-sink.ts';
import { type Attempt, type AttemptParts, makeAttempt } from './attempt.ts';
import type { ConnectivityCheck } from './connectivity.ts';
import type { Place } from './places.ts';
import { resultOf } from './result.ts';
import type { StallMonitor } from './stall-monitor.ts';

/** A starved attempt is repeated at once this many times; then nothing true can be said. */
const MAX_STARVED_REPEATS = 3;

export interface RunnerParts extends AttemptParts {
  readonly location: string;
  readonly sink: Pick<ResultSink, 'result' | 'missed'>;
  readonly stalls: StallMonitor;
  readonly connectivity: ConnectivityCheck;
  /** Told of every attempt that did not count because the agent itself stood still. */
  readonly onStarved: () => void;
}

export interface Run {
  readonly check: Check;
  /** Epoch milliseconds; names the run. */
  readonly slotMs: number;
  /** Ends the run at once, as missed: a stopping agent is no outage of the target. */
  readonly signal: AbortSignal;
  readonly place: Place;
}

/**
 * One run: attempts until one passes or no further retry is due. Everything that comes of it goes
 * to the sink: ATTEMPT results and one FINAL, or one missed slot that says why there is no FINAL.
 */
export async function runCheck(run: Run, parts: RunnerParts): Promise<void> {
  const { check, slotMs, signal } = run;
  const { clock } = parts;
  const plan = retryPlanOf(check.retryStrategy, check.doubleCheck);
  const startMs = clock.monotonicMs();

  for (let retriesMade = 0; ; retriesMade += 1) {
    const attempt = await attemptUnstarved(run, plan, retriesMade, parts);
    if (attempt === null) return reportMissed(run, 'agent_starved', parts);
    const missed = await whyNotToCount(attempt, run, parts);
    if (missed !== null) return reportMissed(run, missed, parts);

    const elapsedMs = clock.monotonicMs() - startMs;
    // A fault of our own is not the target's to repeat: a socket that we may not open stays shut.
    const delayMs = attempt.verdict.hasFailures
      ? nextRetryDelayMs(plan, retriesMade, elapsedMs, attempt.networkError)
      : null;
    const resultType = delayMs === null ? 'FINAL' : 'ATTEMPT';
    const { location, sink } = parts;
    sink.result(resultOf(check, attempt, { location, slotMs, retriesMade, resultType }));
    if (delayMs === null) return;
    // Without a delay there is nothing to wait for, and no reason to let others go first.
    const waited = delayMs === 0 || (await run.place.rest(() => sleep(clock, delayMs, signal)));
    if (!waited) return reportMissed(run, 'agent_stopped', parts);
  }
}

function failed({ verdict }: Attempt): boolean {
  return verdict.hasFailures || verdict.hasErrors;
}

/** A check that should fail also passes without an answer, which our own trouble may have cost it. */
function passedWithAnswer(attempt: Attempt): boolean {
  return !failed(attempt) && attempt.failure === null;
}

/**
 * The starvation guard (SEMANTICS 1, Result): what failed or was slow while our own event loop
 * stood still says nothing of the target. Null where every repeat was starved too.
 */
async function attemptUnstarved(
  { check, signal }: Run,
  plan: RetryPlan,
  retriesMade: number,
  parts: RunnerParts,
): Promise<Attempt | null> {
  const opening = `Attempt ${retriesMade + 1} of at most ${plan.maxRetries + 1} (${check.checkType} check "${check.id}")`;
  for (let repeats = 0; repeats <= MAX_STARVED_REPEATS; repeats += 1) {
    const again = repeats === 0 ? '' : `, repeated: the agent itself stood still in the one before`;
    const attempt = await makeAttempt(check, parts, `${opening}${again}`, signal);
    const isSuspect = !passedWithAnswer(attempt) || attempt.verdict.isDegraded;
    if (signal.aborted || !isSuspect || !parts.stalls.stalledSince(attempt.startMs)) return attempt;
    parts.onStarved();
  }
  return null;
}

/** Why an attempt is not to be reported as the target's doing; null where it is. */
async function whyNotToCount(
  attempt: Attempt,
  { signal }: Run,
  { connectivity }: RunnerParts,
): Promise<MissedReason | null> {
  if (passedWithAnswer(attempt)) return null;
  if (signal.aborted) return 'agent_stopped';
  const online = await connectivity.isOnline(signal);
  if (signal.aborted) return 'agent_stopped';
  return online ? null : 'agent_offline';
}

function reportMissed({ check, slotMs }: Run, reason: MissedReason, { sink }: RunnerParts): void {
  sink.missed({ checkId: check.id, slot: slotMs, lastSlot: slotMs, count: 1, reason });
}
