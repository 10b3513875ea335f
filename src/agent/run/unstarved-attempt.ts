import type { RetryPlan } from '../../model/check/retry.ts';
import type { MissedReason } from '../../model/result/missed-slots.ts';
import { traceKeyOf, traceparentOf } from '../../model/result/trace-context.ts';
import { slotRuleOf } from '../../model/schedule/slot-rule.ts';
import { sleep } from '../../runtime/wait.ts';
import type { BodyMemory } from '../probes/http/body/body-memory.ts';
import { detectWaiting } from '../scheduler/permits/wait-detector.ts';
import type { Attempt } from './attempt.ts';
import { attemptFamilies } from './attempt-families.ts';
import type { Run, RunnerParts } from './run.ts';

/**
 * Delays before a starved attempt is repeated; after the last one the run is missed. They grow, so
 * that repeats do not add to the starvation.
 */
const STARVED_PAUSES_MS = [0, 250, 500, 1000, 2000];
/** Minimum number of repeats, also for a retry after the slot's time. */
const MIN_STARVED_REPEATS = 2;
/** Bounds the repeats: a body may be longer each time. */
const MAX_MEMORY_WAITS = 2;
/** Longest wait of a retry that began after the slot's time. */
const MIN_MEMORY_WAIT_MS = 5_000;

/**
 * The starvation guard (src/agent/README.md, "Timing and CPU starvation"). Repeats an attempt whose
 * verdict is uncertain because the agent was short of CPU, or too busy for its scripts, within the
 * slot's time. Repeats an attempt whose body did not fit in memory as soon as there is memory for
 * it. Returns the attempt that counts, or why the run is missed.
 */
export async function attemptUnstarved(
  { check, slotMs, signal, permit }: Run,
  plan: RetryPlan,
  { retriesMade, sequenceId }: { readonly retriesMade: number; readonly sequenceId: string },
  parts: RunnerParts,
): Promise<Attempt | MissedReason> {
  const most = Math.max(plan.maxRetries, retriesMade) + 1;
  const title = `Attempt ${retriesMade + 1} of at most ${most} (${check.checkType} check "${check.id}")`;
  const isBrief = parts.loadShedding.sheds('detail');
  if (isBrief) parts.onShed('detail');
  const keepLongBody = parts.artifacts !== null && !isBrief;
  const { clock } = parts;
  const { frequency, frequencyOffset } = check;
  const slotEndMs = slotMs + slotRuleOf(check.id, frequency, frequencyOffset).periodMs;
  const traceparent = traceparentOf(traceKeyOf(sequenceId, parts.traceSalt), retriesMade + 1);
  let again = '';
  let room: BodyMemory | undefined;
  let memoryWaits = 0;
  for (let repeats = 0; ; repeats += 1) {
    const opening = `${title}${again}`;
    const options = { opening, signal, keepLongBody, isBrief, room, traceparent };
    const attempt = await permit.attempt(async (waits) => {
      const waiting = detectWaiting(clock, parts.starvation, waits);
      try {
        return await attemptFamilies(check, parts, { ...options, onBody: waiting.received });
      } finally {
        waiting.stop();
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
    const { wasBusy } = attempt;
    const missed = wasBusy ? 'agent_busy' : 'agent_starved';
    if (!wasBusy) {
      parts.onStarved();
      parts.loadShedding.starved();
    }
    const pauseMs = STARVED_PAUSES_MS[repeats];
    if (pauseMs === undefined) return missed;
    const nextEndMs = clock.wallMs() + pauseMs + attempt.durationMs;
    if (repeats >= MIN_STARVED_REPEATS && nextEndMs > slotEndMs) return missed;
    const starvedMs = Math.round(attempt.starvedMs);
    again = wasBusy
      ? ', repeated: the agent was too busy for the scripts of the previous attempt'
      : `, repeated: the agent was short of CPU for ${starvedMs} ms of the previous attempt`;
    // If the signal aborts, the next attempt ends at once.
    if (pauseMs > 0) await permit.rest(() => sleep(clock, pauseMs, signal));
  }
}
