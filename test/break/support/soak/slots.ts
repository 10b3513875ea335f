import { nextSlotAfter, slotRuleOf } from '../../../../src/model/schedule/slot-rule.ts';
import { readDatabase } from '../../../support/service/deployment.ts';
import type { SoakCheck } from './checks.ts';

/** Faulty slots of all checks, as text: each list is empty if all is well. */
export interface SlotVerdict {
  /** Neither a FINAL nor a missed record. */
  readonly unanswered: readonly string[];
  /** More than one record. */
  readonly double: readonly string[];
  /** Missed for a reason that the soak did not cause. */
  readonly missed: readonly string[];
  /** How many were missed because the agent, or the whole machine, stood still. */
  readonly stoodStill: number;
  /** Guards against an empty evaluation. */
  readonly finals: number;
  readonly missedSlots: number;
  readonly artifacts: number;
}

/** Epoch milliseconds: evaluates the slots after the first and up to the second. */
export interface Course {
  readonly afterMs: number;
  readonly upToMs: number;
  /** Times in which other processes, or the inspector, kept the agent from its work. */
  readonly standstills: readonly Span[];
}

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Answer {
  readonly checkId: string;
  readonly slotMs: number;
  /** null for a FINAL. */
  readonly reason: string | null;
}

/** @param where the folder of a service that has ended */
export async function judgeSlots(
  where: { readonly dataDir: string },
  checks: readonly SoakCheck[],
  { afterMs, upToMs, standstills }: Course,
): Promise<SlotVerdict> {
  const answers = await answersIn(where);
  const artifacts = await readDatabase(where, 'select id from artifacts');
  const bySlot = new Map<string, Answer[]>();
  for (const answer of answers) {
    const slot = nameOf(answer.checkId, answer.slotMs);
    const known = bySlot.get(slot);
    if (known === undefined) bySlot.set(slot, [answer]);
    else known.push(answer);
  }
  const unanswered: string[] = [];
  const overrunning = new Set<string>();
  for (const { id, frequency, frequencyOffset, overruns } of checks) {
    if (overruns) overrunning.add(id);
    const rule = slotRuleOf(id, frequency, frequencyOffset);
    for (let slotMs = nextSlotAfter(rule, afterMs); slotMs <= upToMs; slotMs += rule.periodMs) {
      const slot = nameOf(id, slotMs);
      if (!bySlot.has(slot)) unanswered.push(slot);
    }
  }
  const lasting = new Set(checks.map(({ id }) => id));
  const isOurDoing = ({ checkId, slotMs, reason }: Answer): boolean =>
    reason === null ||
    // Checks that came and went, and slots before the agent's start, need no record.
    !lasting.has(checkId) ||
    slotMs <= afterMs ||
    (reason === 'previous_run_active' && overrunning.has(checkId)) ||
    // Runs at the stop.
    (reason === 'agent_stopped' && slotMs > upToMs - STOPPED_WITHIN_MS);
  const isOfStandstill = ({ slotMs, reason }: Answer): boolean =>
    reason !== null && STANDING_STILL.has(reason) && isNear(standstills, slotMs);
  const missed = answers.filter((answer) => !isOurDoing(answer));
  return {
    unanswered,
    double: [...bySlot]
      .filter(([, found]) => found.length > 1)
      .map(([slot, found]) => `${slot}: ${found.map(({ reason }) => reason ?? 'FINAL').join()}`),
    missed: missed
      .filter((answer) => !isOfStandstill(answer))
      .map(({ checkId, slotMs, reason }) => `${nameOf(checkId, slotMs)}: ${reason}`),
    stoodStill: missed.filter(isOfStandstill).length,
    finals: answers.filter(({ reason }) => reason === null).length,
    missedSlots: answers.filter(({ reason }) => reason !== null).length,
    artifacts: artifacts.length,
  };
}

/**
 * The consequence: attempts that fail meanwhile are repeated, and have their permits for longer.
 */
const STANDING_STILL: ReadonlySet<string> = new Set([
  'agent_asleep',
  'agent_busy',
  'agent_starved',
  'previous_run_active',
]);
const LONGEST_ATTEMPT_MS = 35_000;

function isNear(standstills: readonly Span[], slotMs: number): boolean {
  return standstills.some(
    ({ fromMs, toMs }) =>
      slotMs > fromMs - LONGEST_ATTEMPT_MS && slotMs < toMs + LONGEST_ATTEMPT_MS,
  );
}

/** At most four attempts, if the agent stands still in each. */
const STOPPED_WITHIN_MS = 4 * LONGEST_ATTEMPT_MS;

function nameOf(checkId: string, slotMs: number): string {
  return `${new Date(slotMs).toISOString()} of ${checkId}`;
}

async function answersIn(where: { readonly dataDir: string }): Promise<readonly Answer[]> {
  // Requested runs are outside of the schedule, with a separate sequence.
  const finals = await readDatabase(
    where,
    `select check_id, extract(epoch from slot) * 1000 as ms from check_results
     where result_type = 'FINAL' and sequence_id not in (select sequence_id from one_off_runs)`,
  );
  const missed = await readDatabase(
    where,
    'select check_id, slot, last_slot, count, reason from missed_slots',
  );
  return [
    ...finals.map((row) => ({
      checkId: String(row.checkId),
      slotMs: Math.round(Number(row.ms)),
      reason: null,
    })),
    ...missed.flatMap((row) => {
      const first = (row.slot as Date).getTime();
      const count = Number(row.count);
      const stepMs = count > 1 ? ((row.lastSlot as Date).getTime() - first) / (count - 1) : 0;
      return Array.from({ length: count }, (_, index) => ({
        checkId: String(row.checkId),
        slotMs: Math.round(first + index * stepMs),
        reason: String(row.reason),
      }));
    }),
  ];
}
