import { describe, expect, it } from 'vitest';
import type { SpooledRecord, SpoolKind } from '../../../../src/agent/spool/spool.ts';
import { batchOf, settleBatch } from '../../../../src/agent/upload/batch.ts';
import { BatchSize } from '../../../../src/agent/upload/batch-size.ts';
import { FailingRecords } from '../../../../src/agent/upload/failing-records.ts';
import { MAX_MISSED, MAX_RESULTS } from '../../../../src/wire/v1/limits.ts';

const sender = { agentId: 'a "quoted" one', epoch: 7 };

function record(key: number, id: string, kind: SpoolKind = 'result'): SpooledRecord {
  return { key, id, kind, atMs: 0, body: Buffer.from(JSON.stringify({ id })) };
}

describe('batchOf', () => {
  it('puts the JSON of each record into its list, in order', () => {
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

  it('stops at the limit of a list or of the batch', () => {
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
  it('sorts records into accepted, rejected and open ones', () => {
    const records = [
      record(1, 'same', 'attempt'),
      record(2, 'gone', 'missed'),
      record(3, 'same'),
      record(4, 'open'),
      record(5, 'kept', 'missed'),
    ];
    const rejection = { id: null, code: 'invalid', message: 'no' };
    const settled = settleBatch(records, {
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

describe('the size of batches', () => {
  it('halves after a refusal, and grows slowly again, so it rarely exceeds a proxy’s bound', () => {
    const size = new BatchSize();
    size.refused(1000);
    expect(size.maxRecords).toBe(500);
    let batches = 0;
    for (; size.maxRecords < 1000; batches += 1) size.succeeded();
    expect(batches).toBeGreaterThan(8);
    size.refused(1);
    size.foundRefused();
    size.succeeded();
    size.succeeded();
    expect(size.maxRecords).toBe(4);
  });

  it('is small after failures, and never zero', () => {
    const size = new BatchSize();
    size.failed(64);
    expect(size.maxRecords).toBe(8);
    size.failed(1);
    expect(size.maxRecords).toBe(1);
    size.offline(1);
    expect(size.maxRecords).toBe(16);
    size.sendOne();
    expect(size.maxRecords).toBe(1);
  });
});

describe('failing records', () => {
  it('are skipped after five failures each, three records at most, for ten minutes', () => {
    const failing = new FailingRecords();
    const failures = (key: number, times: number, nowMs = 0): boolean[] =>
      Array.from({ length: times }, () => failing.failed(key, nowMs));
    expect(failures(1, 5)).toEqual([false, false, false, false, true]);
    expect(failures(1, 1)).toEqual([true]);
    for (const key of [2, 3]) expect(failures(key, 5).at(-1)).toBe(true);
    expect(failures(4, 20)).toEqual(Array(20).fill(false));
    expect(failing.takeDue(50, 599_999)).toBeNull();
    expect(failing.takeDue(0, 600_000)).toBeNull();
    expect(failing.takeDue(50, 600_000)).toBe(1);
    expect(failing.failed(1, 600_000)).toBe(true);
    failing.settled([2, 3]);
    expect(failing.takeDue(50, 600_001)).toBeNull();
  });

  it('do not count towards the three once they have left the spool', () => {
    const failing = new FailingRecords();
    for (const key of [1, 2, 3]) for (let n = 0; n < 5; n += 1) failing.failed(key, 0);
    expect(failing.takeDue(50, 600_000)).toBe(1);
    const others = Array.from({ length: 5 }, () => failing.failed(9, 600_000));
    expect(others.at(-1)).toBe(true);
  });
});
