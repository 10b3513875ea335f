import { describe, expect, it } from 'vitest';
import type { MissedReason, MissedSlots } from '../../../src/model/result/missed-slots.ts';
import type { Expected, StarvationCheck } from '../../break/support/starvation/checks.ts';
import {
  causesIn,
  judgeFaulty,
  judgeHealthy,
  type Observed,
  type ReceivedResult,
} from '../../break/support/starvation/verdict.ts';
import { resultFor } from '../../support/samples/results.ts';

const FROM_MS = Date.UTC(2026, 0, 1);
const PERIOD_MS = 10_000;
/** Slots: 3 s after each multiple of the period. */
const slotAt = (number: number): number => FROM_MS + 3_000 + number * PERIOD_MS;

function checkOf(expected: Expected, isAnsweredByTargets = true): StarvationCheck {
  return { id: 'one', expected, periodMs: PERIOD_MS, isAnsweredByTargets, entry: {} };
}

/** A FINAL of an attempt that took a second from its slot on. */
function final(slotMs: number, end: Expected): ReceivedResult {
  const result = resultFor({
    checkId: 'one',
    checkRunId: slotMs,
    startedAt: new Date(slotMs).toISOString(),
    stoppedAt: new Date(slotMs + 1_000).toISOString(),
    hasFailures: end === 'failed',
    isDegraded: end === 'degraded',
  });
  return { ...result, receivedMs: slotMs + 1_200 };
}

function missed(slotMs: number, reason: MissedReason, count = 1): MissedSlots {
  return {
    checkId: 'one',
    slot: slotMs,
    lastSlot: slotMs + (count - 1) * PERIOD_MS,
    count,
    reason,
  };
}

function seen(rest: Partial<Observed>): Observed {
  return { results: [], missed: [], fromMs: FROM_MS, gaps: [], ...rest };
}

describe('judgeFaulty', () => {
  const failing = checkOf('failed');
  const kindOf = (rest: Partial<Observed>, check = failing): string =>
    judgeFaulty(check, seen(rest)).kind;

  it('takes the expected result of the first or the second slot, with its delay', () => {
    for (const number of [0, 1]) {
      const results = [final(slotAt(number), 'failed')];
      expect(judgeFaulty(failing, seen({ results }))).toEqual({ kind: 'reported', afterMs: 1_200 });
    }
  });

  it('waits while one of the two slots is not accounted for', () => {
    expect(kindOf({})).toBe('pending');
    expect(kindOf({ results: [final(slotAt(0), 'passed')] })).toBe('pending');
    expect(kindOf({ missed: [missed(slotAt(1), 'agent_starved')] })).toBe('pending');
  });

  it('gives up once both slots are accounted for without the expected result', () => {
    const results = [final(slotAt(0), 'degraded'), final(slotAt(2), 'failed')];
    const second = missed(slotAt(1), 'agent_starved');
    expect(judgeFaulty(failing, seen({ results, missed: [second] }))).toEqual({
      kind: 'unreported',
      slots: 'after 3.0 s degraded, after 13.0 s agent_starved, after 23.0 s failed',
    });
    expect(kindOf({ missed: [missed(slotAt(0), 'agent_asleep', 2)] })).toBe('unreported');
  });

  it('ignores results of slots before the starvation', () => {
    const results = [final(slotAt(-1), 'failed')];
    const both = [missed(slotAt(0), 'agent_starved', 2)];
    expect(kindOf({ results })).toBe('pending');
    expect(kindOf({ results, missed: both })).toBe('unreported');
  });

  it('begins with the second slot if a run from before the starvation holds the first one', () => {
    const held = missed(slotAt(0), 'previous_run_active');
    const second = missed(slotAt(1), 'agent_starved');
    expect(kindOf({ missed: [held, second] })).toBe('pending');
    expect(kindOf({ missed: [held, second], results: [final(slotAt(2), 'failed')] })).toBe(
      'reported',
    );
    const third = missed(slotAt(2), 'previous_run_active');
    expect(kindOf({ missed: [held, second, third] })).toBe('unreported');
  });

  it('judges the next two slots if the targets answered nobody in the time of the first two', () => {
    const both = [missed(slotAt(0), 'agent_starved', 2)];
    const gaps = [[slotAt(1) + 100, slotAt(1) + 150]] as const;
    expect(kindOf({ missed: both, gaps })).toBe('pending');
    expect(kindOf({ missed: both, gaps, results: [final(slotAt(3), 'failed')] })).toBe('reported');
    const all = [missed(slotAt(0), 'agent_starved', 4)];
    expect(kindOf({ missed: all, gaps })).toBe('unreported');
    expect(kindOf({ missed: both, gaps }, checkOf('failed', false))).toBe('unreported');
    const before = [[slotAt(0) - 200, slotAt(0) - 100]] as const;
    expect(kindOf({ missed: both, gaps: before })).toBe('unreported');
  });

  it('judges the next two slots if the agent may lack the CPU for the first two', () => {
    const kind = (rest: Partial<Observed>): string =>
      judgeFaulty(failing, seen(rest), { mayLackCpu: true }).kind;
    const both = [missed(slotAt(0), 'agent_starved', 2)];
    expect(kind({ missed: both })).toBe('pending');
    expect(kind({ missed: both, results: [final(slotAt(3), 'failed')] })).toBe('reported');
    const first = [missed(slotAt(0), 'agent_starved')];
    expect(kind({ missed: first, results: [final(slotAt(1), 'passed')] })).toBe('unreported');
    expect(kind({ missed: [missed(slotAt(0), 'agent_asleep', 2)] })).toBe('unreported');
  });
});

describe('judgeHealthy', () => {
  const results = [
    final(slotAt(-1), 'failed'),
    final(slotAt(0), 'failed'),
    final(slotAt(1), 'degraded'),
    final(slotAt(2), 'passed'),
  ];

  it('names each FINAL under starvation that did not pass', () => {
    const verdict = judgeHealthy([checkOf('passed')], seen({ results }));
    expect(verdict).toMatchObject({ finals: 3, notJudged: 0 });
    expect(verdict.falseFailures).toEqual([expect.stringMatching(/^one after 3\.0 s/)]);
    expect(verdict.falseDegraded).toEqual([expect.stringMatching(/^one after 13\.0 s/)]);
  });

  it('does not judge attempts during which the targets answered nobody', () => {
    const gaps = [[slotAt(0) + 990, slotAt(0) + 1_100]] as const;
    const verdict = judgeHealthy([checkOf('passed')], seen({ results, gaps }));
    expect(verdict).toMatchObject({ finals: 2, notJudged: 1, falseFailures: [] });
    const ofKernel = judgeHealthy([checkOf('passed', false)], seen({ results, gaps }));
    expect(ofKernel).toMatchObject({ finals: 3, notJudged: 0 });
  });

  it('leaves out checks of faulty targets', () => {
    expect(judgeHealthy([checkOf('failed')], seen({ results }))).toMatchObject({ finals: 0 });
  });
});

it('the causes of starvation are read from the log', () => {
  const log = '{"level":40,"cause":"quota","sharePercent":95}\n{"cause":"own load"}\n{"msg":"x"}';
  expect(causesIn(log)).toEqual(['quota', 'own load']);
});
