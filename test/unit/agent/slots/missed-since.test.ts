import { describe, expect, it } from 'vitest';
import { missedBeforeTakeover, missedSince } from '../../../../src/agent/slots/missed-since.ts';
import { UnfinishedSlots } from '../../../../src/agent/slots/unfinished-slots.ts';
import type { Check } from '../../../../src/model/check/check.ts';
import type { Pause } from '../../../../src/model/schedule/pause.ts';
import type { RotationRule } from '../../../../src/model/schedule/rotation.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const T0 = Date.UTC(2026, 0, 1);

/** Due at each full minute. */
const every = (id: string, fields: object = {}): Check =>
  checkOf('TCP', { id, frequency: 1, frequencyOffset: 10, ...fields });
const setOf = (checks: readonly Check[], turns: Record<string, RotationRule> = {}) => ({
  checks,
  rotations: new Map(Object.entries(turns)),
  pauses: [] as readonly Pause[],
  groupTags: new Map<string, readonly string[]>(),
});
/** Once, from and to minutes after T0. */
const pause = (fromMinute: number, toMinute: number, tags: string[] | null = null): Pause => ({
  startsAtMs: T0 + fromMinute * MINUTE,
  endsAtMs: T0 + toMinute * MINUTE,
  repeatUnit: 'DAY',
  repeatInterval: null,
  repeatEndsAtMs: null,
  tags,
});
const range = (checkId: string, slot: number, lastSlot: number, count: number) => ({
  checkId,
  slot,
  lastSlot,
  count,
  reason: 'agent_stopped',
});

describe('the slots that a process left unanswered', () => {
  it('are all slots from its end to the next start, as one record per check', () => {
    const before = { upToMs: T0, unfinished: [] };
    const start = T0 + 3 * MINUTE;
    expect(missedSince(before, setOf([every('a'), every('b')]), start)).toEqual([
      range('a', T0 + MINUTE, start, 3),
      range('b', T0 + MINUTE, start, 3),
    ]);
  });

  it('are none where no slot was due in between', () => {
    const before = { upToMs: T0, unfinished: [] };
    expect(missedSince(before, setOf([every('a')]), T0 + MINUTE - 1)).toEqual([]);
  });

  it('are none where the clock was set back', () => {
    const before = { upToMs: T0 + DAY, unfinished: [['a', T0 + DAY] as const] };
    expect(missedSince(before, setOf([every('a')]), T0)).toEqual([]);
  });

  it('exclude deactivated checks and the slots of other locations', () => {
    const turn = { periodMs: MINUTE, phaseMs: 0, stride: 3, index: 1 };
    const before = { upToMs: T0, unfinished: [] };
    const set = setOf([every('off', { activated: false }), every('turns')], { turns: turn });
    const k = T0 / MINUTE;
    const first = T0 + (k % 3 === 0 ? 1 : k % 3 === 1 ? 3 : 2) * MINUTE;
    expect(missedSince(before, set, T0 + 6 * MINUTE)).toEqual([
      range('turns', first, first + 3 * MINUTE, 2),
    ]);
  });

  it('include the unfinished slots once, also of removed checks', () => {
    const before = {
      upToMs: T0,
      unfinished: [
        ['a', T0 - 5 * MINUTE],
        ['gone', T0 - MINUTE],
        // Taken up after the instant for which all slots were dealt with.
        ['a', T0 + MINUTE],
        ['gone', T0 + MINUTE],
      ] as const,
    };
    expect(missedSince(before, setOf([every('a')]), T0 + 2 * MINUTE)).toEqual([
      range('a', T0 - 5 * MINUTE, T0 - 5 * MINUTE, 1),
      range('gone', T0 - MINUTE, T0 - MINUTE, 1),
      range('gone', T0 + MINUTE, T0 + MINUTE, 1),
      range('a', T0 + MINUTE, T0 + 2 * MINUTE, 2),
    ]);
  });

  it('reach back a week at most', () => {
    const start = T0 + 30 * DAY;
    const before = { upToMs: T0, unfinished: [['a', T0] as const] };
    expect(missedSince(before, setOf([every('a')]), start)).toEqual([
      range('a', start - 7 * DAY + MINUTE, start, 7 * 1440),
    ]);
  });
});

describe('the slots that a process left unanswered around pauses', () => {
  const start = T0 + 10 * MINUTE;
  const before = { upToMs: T0, unfinished: [] };

  it('are those outside of the pauses, as one record for each gap', () => {
    const set = { ...setOf([every('a')]), pauses: [pause(3, 5), pause(7, 8)] };
    expect(missedSince(before, set, start)).toEqual([
      range('a', T0 + MINUTE, T0 + 2 * MINUTE, 2),
      range('a', T0 + 5 * MINUTE, T0 + 6 * MINUTE, 2),
      range('a', T0 + 8 * MINUTE, start, 3),
    ]);
  });

  it('are all slots for checks without the tag, and none where the pause covers all', () => {
    const set = {
      ...setOf([every('own', { tags: ['db'] }), every('group'), every('other')]),
      pauses: [pause(-60, 60, ['db'])],
      groupTags: new Map([['group', ['db']]]),
    };
    expect(missedSince(before, set, start)).toEqual([range('other', T0 + MINUTE, start, 10)]);
  });

  it('exclude unfinished slots that are in a pause now', () => {
    const unfinished = [
      ['a', T0 - 5 * MINUTE],
      ['a', T0 - MINUTE],
      ['gone', T0 - MINUTE],
    ] as const;
    const set = { ...setOf([every('a')]), pauses: [pause(-2, 60)] };
    expect(missedSince({ upToMs: T0, unfinished }, set, start)).toEqual([
      range('a', T0 - 5 * MINUTE, T0 - 5 * MINUTE, 1),
    ]);
  });

  it('are the same between two agents', () => {
    const unanswered = new Map([['moved', T0]]);
    const set = { ...setOf([every('moved')]), unanswered, pauses: [pause(2, 60)] };
    expect(missedBeforeTakeover(set, start)).toEqual([
      { ...range('moved', T0 + MINUTE, T0 + MINUTE, 1), reason: 'unassigned' },
    ]);
  });
});

describe('the unfinished slots in the ledger', () => {
  it('are listed until they end', () => {
    const slots = new UnfinishedSlots();
    slots.add('a', T0);
    slots.add('b', T0);
    slots.add('a', T0 - MINUTE);
    slots.remove('b', T0);
    slots.remove('b', T0);
    expect(slots.accounted(T0 + 5)).toEqual({
      upToMs: T0 + 5,
      unfinished: [
        ['a', T0 - MINUTE],
        ['a', T0],
      ],
    });
  });

  it('move the answered instant back where they are too many to list', () => {
    const slots = new UnfinishedSlots();
    for (let n = 3000; n > 0; n -= 1) slots.add('a', T0 + n);
    const { upToMs, unfinished } = slots.accounted(T0 + DAY);
    expect(unfinished).toHaveLength(2000);
    expect(unfinished[0]).toEqual(['a', T0 + 1]);
    expect(upToMs).toBe(T0 + 2000);
  });
});

describe('what a check missed between two agents', () => {
  it('is each slot since the last answer of the previous agent, for new checks only', () => {
    const set = setOf([every('moved'), every('stayed'), every('off', { activated: false })]);
    const unanswered = new Map([
      ['moved', T0 + MINUTE],
      ['off', T0],
    ]);
    expect(missedBeforeTakeover({ ...set, unanswered }, T0 + 3.5 * MINUTE)).toEqual([
      { ...range('moved', T0 + 2 * MINUTE, T0 + 3 * MINUTE, 2), reason: 'unassigned' },
    ]);
  });

  it('is nothing where no slot was due in between', () => {
    const unanswered = new Map([['moved', T0 + 1]]);
    expect(
      missedBeforeTakeover({ ...setOf([every('moved')]), unanswered }, T0 + MINUTE - 1),
    ).toEqual([]);
  });

  it('reaches back no further than the spool retains results', () => {
    const unanswered = new Map([['moved', T0]]);
    const [missed] = missedBeforeTakeover({ ...setOf([every('moved')]), unanswered }, T0 + 8 * DAY);
    expect(missed).toMatchObject({ slot: T0 + DAY + MINUTE, count: 7 * 24 * 60 });
  });
});
