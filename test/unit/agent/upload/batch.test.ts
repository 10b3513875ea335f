import { describe, expect, it } from 'vitest';
import type { SpooledRecord, SpoolKind } from '../../../../src/agent/spool/spool.ts';
import { batchOf, settle } from '../../../../src/agent/upload/batch.ts';
import { BatchLimit } from '../../../../src/agent/upload/batch-limit.ts';
import { MAX_MISSED, MAX_RESULTS } from '../../../../src/wire/v1/limits.ts';

const sender = { agentId: 'a "quoted" one', epoch: 7 };

function record(key: number, id: string, kind: SpoolKind = 'result'): SpooledRecord {
  return { key, id, kind, atMs: 0, body: Buffer.from(JSON.stringify({ id })) };
}

describe('batchOf', () => {
  it('puts each record into its list, in order, as the JSON that it is', () => {
    const records = [
      record(1, 'a'),
      record(2, 'm', 'missed'),
      record(3, 'b', 'attempt'),
      record(4, 'ä'),
    ];
    const batch = batchOf(records, 100, sender);
    expect(batch.records).toEqual(records);
    expect(JSON.parse(batch.json.toString())).toEqual({
      ...sender,
      results: [{ id: 'a' }, { id: 'b' }, { id: 'ä' }],
      missed: [{ id: 'm' }],
    });
  });

  it('ends where a list or the limit is full', () => {
    const many = (count: number, kind: SpoolKind) =>
      Array.from({ length: count }, (_, n) => record(n, `${n}`, kind));
    const taken = (records: readonly SpooledRecord[], limit: number): number =>
      batchOf(records, limit, sender).records.length;
    expect(taken(many(MAX_RESULTS + 1, 'result'), 1e9)).toBe(MAX_RESULTS);
    expect(taken(many(MAX_MISSED + 1, 'missed'), 1e9)).toBe(MAX_MISSED);
    expect(taken(many(10, 'attempt'), 3)).toBe(3);
    expect(JSON.parse(batchOf([], 0, sender).json.toString())).toEqual({
      ...sender,
      results: [],
      missed: [],
    });
  });
});

describe('settle', () => {
  it('tells what was taken, what never will be, and what nothing is said of', () => {
    const records = [
      record(1, 'same', 'attempt'),
      record(2, 'gone', 'missed'),
      record(3, 'same'),
      record(4, 'open'),
      record(5, 'kept', 'missed'),
    ];
    const rejection = { id: null, code: 'invalid', message: 'no' };
    const settled = settle(records, {
      deferred: [],
      accepted: ['same', 'kept', 'unknown'],
      rejected: [
        { ...rejection, list: 'results', index: 1 },
        { ...rejection, list: 'missed', index: 0 },
        { ...rejection, list: 'missed', index: 99 },
      ],
    });
    const keys = (list: readonly SpooledRecord[]): number[] => list.map(({ key }) => key);
    expect(keys(settled.accepted)).toEqual([1, 5]);
    expect(keys(settled.rejected.map((each) => each.record))).toEqual([2, 3]);
    expect(keys(settled.open)).toEqual([4]);
  });
});

describe('BatchLimit', () => {
  it('halves at a refusal, and comes back slowly, so that a proxy’s bound is seldom tried', () => {
    const limit = new BatchLimit();
    limit.refused(1000);
    expect(limit.maxRecords).toBe(500);
    let batches = 0;
    for (; limit.maxRecords < 1000; batches += 1) limit.succeeded([]);
    expect(batches).toBeGreaterThan(8);
    limit.refused(1);
    limit.found(1);
    limit.succeeded([]);
    limit.succeeded([]);
    expect(limit.maxRecords).toBe(4);
  });

  it('is small after failures, and never nothing', () => {
    const limit = new BatchLimit();
    limit.failed(64);
    expect(limit.maxRecords).toBe(8);
    limit.failed(1);
    expect(limit.maxRecords).toBe(1);
    limit.offline(1);
    expect(limit.maxRecords).toBe(16);
  });

  it('passes over a record after five failures, three records at most, for ten minutes', () => {
    const limit = new BatchLimit();
    const failures = (key: number, times: number, nowMs = 0): boolean[] =>
      Array.from({ length: times }, () => limit.failedAlone(key, nowMs));
    expect(failures(1, 5)).toEqual([false, false, false, false, true]);
    expect(failures(1, 1)).toEqual([true]);
    for (const key of [2, 3]) expect(failures(key, 5).at(-1)).toBe(true);
    expect(failures(4, 20)).toEqual(Array(20).fill(false));
    expect(limit.cursor(50, 599_999)).toBe(50);
    expect(limit.cursor(50, 600_000)).toBe(0);
    expect(limit.maxRecords).toBe(1);
    expect(limit.failedAlone(1, 600_000)).toBe(true);
    limit.succeeded([2, 3]);
    expect(limit.cursor(50, 600_001)).toBe(50);
  });

  it('keeps no place for a record that has left meanwhile', () => {
    const limit = new BatchLimit();
    for (const key of [1, 2, 3]) for (let n = 0; n < 5; n += 1) limit.failedAlone(key, 0);
    expect(limit.cursor(50, 600_000)).toBe(0);
    const others = Array.from({ length: 5 }, () => limit.failedAlone(9, 600_000));
    expect(others.at(-1)).toBe(true);
  });
});
