import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Check } from '../../../../src/model/check/check.ts';
import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import { type Pause, pausedAt } from '../../../../src/model/schedule/pause.ts';
import { ownSlotsOf, type RotationRule } from '../../../../src/model/schedule/rotation.ts';
import {
  nextSlotAfter,
  type SlotRule,
  slotRuleOf,
} from '../../../../src/model/schedule/slot-rule.ts';
import type { OneOff } from '../../../../src/wire/v1/assignment.ts';
import { caseCount } from '../../../support/nightly.ts';
import {
  checkOf,
  DAY,
  HOUR,
  MINUTE,
  SchedulerFixture,
  SECOND,
  T0,
  YEAR,
} from './scheduler-fixture.ts';

/** The periods of the checks. Their tolerances all differ. */
const PLANS = [
  [0, 10],
  [0, 30],
  [1, null],
  [1, 10],
  [1, 3],
  [2, 20],
  [5, 1],
] as const;

const IDS = ['a', 'b', 'c', 'd', 'e'] as const;

/** The number of rotating locations and the index of this one. One location does not rotate. */
const SHARES = [
  [1, 0],
  [2, 0],
  [2, 1],
  [3, 2],
] as const;

interface Plan {
  readonly check: Check;
  readonly turn: RotationRule | null;
}

const checkSet = fc
  .uniqueArray(fc.constantFrom(...IDS), { minLength: 1 })
  .chain((ids) => fc.tuple(...ids.map(planOf)));

function planOf(id: string): fc.Arbitrary<Plan> {
  const drawn = fc.tuple(fc.constantFrom(...PLANS), fc.constantFrom(...SHARES));
  return drawn.map(([[frequency, offset], [stride, index]]) => {
    const { periodMs, phaseMs } = slotRuleOf(id, frequency, offset);
    const turn = stride === 1 ? null : { periodMs, phaseMs, stride, index };
    return { check: checkOf(id, frequency, offset), turn };
  });
}

function turnsOf(plans: readonly Plan[]): Map<string, RotationRule> {
  const turns = new Map<string, RotationRule>();
  for (const { check, turn } of plans) if (turn !== null) turns.set(check.id, turn);
  return turns;
}

const stepMs = fc.oneof(
  fc.integer({ min: -3 * SECOND, max: 3 * SECOND }),
  fc.integer({ min: -10 * MINUTE, max: 10 * MINUTE }),
  fc.integer({ min: -2 * HOUR, max: 2 * HOUR }),
  fc.constantFrom(-YEAR, YEAR, -DAY, DAY, 50 * YEAR),
);

type Happening =
  | { readonly what: 'advance' | 'stall' | 'suspend' | 'step'; readonly ms: number }
  | { readonly what: 'reload'; readonly checks: readonly Plan[] }
  | {
      readonly what: 'run_once';
      readonly id: string;
      readonly inMs: number;
      readonly forMs: number;
    };

function happening(what: 'advance' | 'stall' | 'suspend', maxMs: number) {
  return fc.integer({ min: 1, max: maxMs }).map((ms) => ({ what, ms }) as Happening);
}

const ofTime = [
  { weight: 6, arbitrary: happening('advance', 100 * SECOND) },
  { weight: 2, arbitrary: happening('stall', 3 * MINUTE) },
  { weight: 1, arbitrary: happening('stall', HOUR) },
  { weight: 1, arbitrary: happening('suspend', HOUR) },
  { weight: 4, arbitrary: stepMs.map((ms) => ({ what: 'step', ms }) as Happening) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...IDS),
        fc.integer({ min: -10 * SECOND, max: MINUTE }),
        fc.integer({ min: 1, max: MINUTE }),
      )
      .map(([id, inMs, forMs]) => ({ what: 'run_once', id, inMs, forMs }) as Happening),
  },
];
const ofChecks = {
  weight: 4,
  arbitrary: checkSet.map((checks) => ({ what: 'reload', checks }) as Happening),
};

/** Minutes and hours within the simulated time, once or daily. */
const pause: fc.Arbitrary<Pause> = fc
  .record({
    startsAtMs: fc.integer({ min: -HOUR, max: HOUR }).map((ms) => T0 + ms),
    durationMs: fc.oneof(
      fc.integer({ min: 1, max: 10 * MINUTE }),
      fc.integer({ min: 1, max: 3 * DAY }),
    ),
    repeatInterval: fc.constantFrom(null, 1),
    tags: fc.constantFrom<string[] | null>(null, ['a'], ['b', 'c'], ['of the group']),
  })
  .map(({ startsAtMs, durationMs, repeatInterval, tags }) => ({
    startsAtMs,
    endsAtMs: startsAtMs + durationMs,
    repeatUnit: 'DAY' as const,
    repeatInterval,
    repeatEndsAtMs: null,
    tags,
  }));

const scene = {
  pauses: fc.oneof(fc.constant([]), fc.array(pause, { maxLength: 3 })),
  checks: checkSet,
  concurrency: fc.integer({ min: 1, max: 3 }),
  /** Each run takes the next of these; below 0 it rejects. */
  durationsMs: fc.array(fc.integer({ min: -2 * SECOND, max: 50 * SECOND }), { minLength: 1 }),
};

/** Checks have no tags of their own here. */
const GROUP_TAGS = new Map<string, readonly string[]>(
  IDS.map((id) => [id, id === 'd' ? ['of the group', 'a'] : [id]]),
);

interface Lived {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Played {
  readonly fixture: SchedulerFixture;
  /** Whether the check's slot is paused. */
  readonly isPaused: (id: string, slotMs: number) => boolean;
  /** The spans of the wall clock during which the scheduler was running. */
  readonly lived: readonly Lived[];
  /** All plans that a check ever had. */
  readonly rules: ReadonlyMap<string, readonly OwnSlots[]>;
  readonly asked: readonly Asked[];
}

interface OwnSlots extends SlotRule {
  readonly toleranceMs: number;
}

interface Asked {
  readonly run: OneOff;
  readonly outcomes: string[];
}

async function play(
  setting: {
    readonly checks: readonly Plan[];
    readonly pauses: readonly Pause[];
    readonly concurrency: number;
    readonly durationsMs: readonly number[];
  },
  happenings: readonly Happening[],
): Promise<Played> {
  const { checks, pauses, concurrency, durationsMs } = setting;
  let runs = 0;
  const fixture = new SchedulerFixture({
    concurrency,
    run: async (): Promise<void> => {
      const ms = durationsMs[runs % durationsMs.length] ?? 0;
      runs += 1;
      await new Promise<void>((resolve) => fixture.clock.after(Math.abs(ms), resolve));
      if (ms < 0) throw new Error('ours');
    },
  });
  const lived: Lived[] = [];
  const rules = new Map<string, OwnSlots[]>();
  const asked: Asked[] = [];
  const live = async (ms: number, pass: () => Promise<void> | void): Promise<void> => {
    const fromMs = fixture.clock.wallMs();
    lived.push({ fromMs, toMs: fromMs + ms });
    await pass();
  };
  // Only a tick notices a clock step. A step that is undone before the next tick has no effect.
  const untilNoticed = (): Promise<void> => fixture.clock.advance(SECOND);
  const take = (set: readonly Plan[]): void => {
    for (const { check, turn } of set) {
      const { id, frequency, frequencyOffset } = check;
      const all = slotRuleOf(id, frequency, frequencyOffset);
      const toleranceMs = Math.min(all.periodMs / 2, 30 * SECOND);
      const own = { ...(turn === null ? all : ownSlotsOf(turn)), toleranceMs };
      rules.set(id, [...(rules.get(id) ?? []), own]);
    }
    fixture.scheduler.setChecks(
      set.map(({ check }) => check),
      turnsOf(set),
      { pauses, groupTags: GROUP_TAGS },
    );
  };
  take(checks);
  fixture.scheduler.start();
  for (const next of happenings) {
    switch (next.what) {
      case 'advance':
        await live(next.ms, () => fixture.clock.advance(next.ms));
        break;
      case 'stall':
        await live(next.ms, () => fixture.clock.stall(next.ms));
        break;
      case 'suspend':
        await live(next.ms, () => fixture.clock.suspend(next.ms));
        await live(SECOND, untilNoticed);
        break;
      case 'step':
        fixture.clock.stepWall(next.ms);
        await live(SECOND, untilNoticed);
        break;
      case 'reload':
        take(next.checks);
        break;
      case 'run_once': {
        const outcomes: string[] = [];
        const notBefore = fixture.clock.wallMs() + next.inMs;
        const run: OneOff = {
          runId: `run-${asked.length}`,
          check: checkOf(next.id, 1, null),
          reason: 'requested',
          slot: asked.length,
          sequenceId: `sequence-${asked.length}`,
          notBefore,
          notAfter: notBefore + next.forMs,
          retriesMade: 0,
          firstStartedAt: null,
        };
        asked.push({ run, outcomes });
        fixture.scheduler.runOnce(run, (outcome) => outcomes.push(outcome));
        break;
      }
    }
  }
  const drained = fixture.scheduler.drain(new AbortController().signal);
  await fixture.clock.advance(2 * MINUTE);
  await drained;
  const isPaused = (id: string, slotMs: number): boolean =>
    pausedAt(pauses, GROUP_TAGS.get(id) ?? [], slotMs);
  return { fixture, isPaused, lived, rules, asked };
}

/** The invariants of every history. */
function expectSafe({ fixture, isPaused, rules, asked }: Played, concurrency: number): void {
  const seen = new Set<string>();
  for (const { id, slotMs, lateMs, kind } of fixture.starts) {
    expect(lateMs).toBeGreaterThanOrEqual(0);
    const fitting = (rules.get(id) ?? []).filter((rule) => isSlotOf(rule, slotMs));
    if (kind === 'one_off') continue;
    const name = `${id} ${slotMs}`;
    expect(seen.has(name), `ran before: ${name}`).toBe(false);
    seen.add(name);
    expect(isPaused(id, slotMs), `is paused: ${name}`).toBe(false);
    expect(fitting).not.toEqual([]);
    const tolerancesMs = fitting.map(({ toleranceMs }) => toleranceMs);
    expect(lateMs).toBeLessThanOrEqual(Math.max(...tolerancesMs));
  }
  for (const { run, outcomes } of asked) {
    const times = fixture.runs.filter(({ sequenceId }) => sequenceId === run.sequenceId).length;
    expect([outcomes.length, times]).toEqual([1, outcomes[0] === 'ended' ? 1 : 0]);
  }
  expect(fixture.unfinished).toEqual(new Map());
  expect(fixture.most.ofOneCheck).toBeLessThanOrEqual(1);
  expect(fixture.most.running).toBeLessThanOrEqual(concurrency);
  expect(fixture.clock.pendingTimers).toBe(0);
  expect([fixture.scheduler.running, fixture.scheduler.queued]).toEqual([0, 0]);
  expect(fixture.faults.every(({ check }) => check !== null)).toBe(true);
}

function isSlotOf({ periodMs, phaseMs }: SlotRule, slotMs: number): boolean {
  return (((slotMs - phaseMs) % periodMs) + periodMs) % periodMs === 0;
}

function holds({ slot, lastSlot }: MissedSlots, slotMs: number): boolean {
  return slot <= slotMs && slotMs <= lastSlot;
}

/** The further invariant while no check changes: no slot of a time it ran through is lost. */
function expectComplete({ fixture, isPaused, lived, rules }: Played): void {
  // A one-off run is no slot. Its fault is reported with its own id.
  const missed = fixture.missed.filter(({ checkId, slot }) =>
    (rules.get(checkId) ?? []).some((rule) => isSlotOf(rule, slot)),
  );
  for (const [id, [rule]] of rules) {
    if (rule === undefined) continue;
    const ofCheck = missed.filter(({ checkId }) => checkId === id);
    for (const range of ofCheck) {
      expect(range.count).toBe((range.lastSlot - range.slot) / rule.periodMs + 1);
      expect(isSlotOf(rule, range.slot) && isSlotOf(rule, range.lastSlot)).toBe(true);
      expectUnpaused(range, rule, isPaused);
    }
    // No slot is reported twice, except that a run may also end by a fault of the agent.
    const inTurn = ofCheck
      .filter(({ reason }) => reason !== 'agent_fault')
      .toSorted((a, b) => a.slot - b.slot);
    inTurn.forEach((range, index) => {
      const next = inTurn[index + 1];
      if (next !== undefined) expect(next.slot).toBeGreaterThan(range.lastSlot);
    });
    const starts = fixture.starts.filter((start) => start.id === id && start.kind === 'slot');
    const ran = new Set(starts.map(({ slotMs }) => slotMs));
    for (const slotMs of ran) {
      const reasons = inTurn.filter((range) => holds(range, slotMs)).map(({ reason }) => reason);
      // A slot that a clock step skipped runs when its time comes after all.
      expect(reasons.filter((reason) => reason !== 'clock_jump')).toEqual([]);
    }
    for (const { fromMs, toMs } of lived) {
      for (let slotMs = nextSlotAfter(rule, fromMs); slotMs <= toMs; slotMs += rule.periodMs) {
        const isKnown =
          ran.has(slotMs) || isPaused(id, slotMs) || inTurn.some((range) => holds(range, slotMs));
        expect(isKnown, `${id}: ${new Date(slotMs).toISOString()}`).toBe(true);
      }
    }
  }
}

/** Slots from all of it. A clock set forward by years leaps over more pauses than are cut out. */
function expectUnpaused(
  { checkId, slot, lastSlot, count }: MissedSlots,
  { periodMs }: SlotRule,
  isPaused: Played['isPaused'],
): void {
  if (lastSlot - slot > 30 * DAY) return;
  const step = Math.ceil(count / 50) * periodMs;
  for (let slotMs = slot; slotMs < lastSlot; slotMs += step) {
    expect(isPaused(checkId, slotMs), `${checkId} at ${slotMs} was paused`).toBe(false);
  }
  expect(isPaused(checkId, lastSlot), `${checkId} at ${lastSlot} was paused`).toBe(false);
}

describe('Scheduler, in random histories', () => {
  it('runs or reports each slot of the time it runs through, and runs none twice', async () => {
    const happenings = fc.array(fc.oneof(...ofTime), { maxLength: 20, size: 'max' });
    await fc.assert(
      fc.asyncProperty(fc.record(scene), happenings, async (setting, all) => {
        const played = await play(setting, all);
        expectSafe(played, setting.concurrency);
        expectComplete(played);
      }),
      { numRuns: caseCount(120) },
    );
  });

  it('runs no slot twice and never two runs of a check, however its checks change', async () => {
    const happenings = fc.array(fc.oneof(...ofTime, ofChecks), { maxLength: 20, size: 'max' });
    await fc.assert(
      fc.asyncProperty(fc.record(scene), happenings, async (setting, all) => {
        expectSafe(await play(setting, all), setting.concurrency);
      }),
      { numRuns: caseCount(120) },
    );
  });
});
