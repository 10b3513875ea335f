import { describe, expect, it } from 'vitest';
import type { SpoolRecord } from '../../../../src/agent/spool/spool.ts';
import { SpoolSink } from '../../../../src/agent/spool/spool-sink.ts';
import { sequenceIdOf } from '../../../../src/model/ids.ts';
import type { MissedSlots } from '../../../../src/model/result/missed-slots.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { missedRecordOf } from '../../../../src/wire/v1/results.ts';
import { openTestSpool, readAll } from '../../../support/agent/spool.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { httpDetail, wireResult } from '../../../support/samples/wire-results.ts';

const never = new AbortController().signal;

async function setUp() {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const { spool } = await openTestSpool({ dataDir: null }, clock);
  const alsoTo = recordingSink();
  const sink = new SpoolSink({ spool, alsoTo, clock, log, location: () => 'here' });
  return { alsoTo, clock, records, spool, sink };
}

/** Saves what it gets. */
function recordingSink() {
  const got: (CheckResult | MissedSlots)[] = [];
  return {
    got,
    result: (result: CheckResult) => void got.push(result),
    missed: (missed: MissedSlots) => void got.push(missed),
    flush: async () => {},
  };
}

const jsonOf = ({ body }: { body: Uint8Array }): unknown =>
  JSON.parse(Buffer.from(body).toString());

describe('SpoolSink', () => {
  it('spools each result as its JSON, by kind, under its own id', async () => {
    const { clock, sink, spool } = await setUp();
    const final = wireResult('s', { name: 'ä\u2028', attempts: 1 });
    const attempt = wireResult('s', { resultType: 'ATTEMPT' });
    sink.result(attempt);
    sink.result(final);
    const records = await readAll(spool);
    expect(records.map(({ kind, id, atMs }) => ({ kind, id, atMs }))).toEqual([
      { kind: 'attempt', id: attempt.id, atMs: clock.wallMs() },
      { kind: 'result', id: final.id, atMs: clock.wallMs() },
    ]);
    expect(records.map(jsonOf)).toEqual([attempt, final]);
  });

  it('spools missed slots as the record of the protocol', async () => {
    const { sink, spool } = await setUp();
    const missed = { checkId: 'c', slot: 1, lastSlot: 5, count: 3, reason: 'agent_busy' } as const;
    sink.missed(missed);
    const [record] = await readAll(spool);
    const expected = missedRecordOf(missed, 'here');
    expect(record).toMatchObject({ kind: 'missed', id: expected.id });
    expect(record === undefined ? null : jsonOf(record)).toEqual(expected);
  });

  it('gives the spool the slots of this location that a record covers', async () => {
    const { clock, log } = { clock: new FakeClock(), log: captureLog().log };
    const { spool } = await openTestSpool({ dataDir: null }, clock);
    const put: SpoolRecord[] = [];
    spool.put = (record) => void put.push(record);
    const sink = new SpoolSink({ spool, alsoTo: null, clock, log, location: () => 'here' });
    const slot = { checkId: 'c', checkRunId: 60_000, runLocation: 'here' };
    const sequenceId = sequenceIdOf('c', 'here', 60_000);
    sink.result(wireResult(sequenceId, slot));
    // A one-off run, or one that another location began.
    sink.result(wireResult('another', slot));
    sink.result(wireResult(sequenceId, { ...slot, resultType: 'ATTEMPT', attempts: 1 }));
    const slots = { checkId: 'c', slot: 1_000, lastSlot: 3_000, count: 2 };
    sink.missed({ ...slots, reason: 'agent_busy' });
    const own = { checkId: 'c', slot: 60_000, lastSlot: 60_000, count: 1 };
    expect(put.map(({ slots }) => slots)).toEqual([own, undefined, undefined, slots]);
  });

  it('cuts a result that the service would refuse', async () => {
    const { sink, spool, records } = await setUp();
    const headers = { a: 'x'.repeat(2_000_000) };
    sink.result(wireResult('s', { apiCheckResult: httpDetail({ headers }) }));
    const [record] = await readAll(spool, 8_000_000);
    expect(record?.body.length).toBeLessThan(1_048_576);
    expect(records()).toEqual([]);
  });

  it('spools a result that no cut makes valid, and logs a fault', async () => {
    const { sink, spool, records } = await setUp();
    sink.result(wireResult('s', { id: 'another' }));
    expect(spool.depth.records).toBe(1);
    expect(records()).toMatchObject([{ level: 'error', kind: 'internal', id: 'another' }]);
  });

  it('spools the same result or the same missed slots only once', async () => {
    const { sink, spool } = await setUp();
    const missed = { checkId: 'c', slot: 1, lastSlot: 2, count: 2, reason: 'agent_busy' } as const;
    for (let time = 0; time < 2; time += 1) {
      sink.result(wireResult('s'));
      sink.missed(missed);
    }
    sink.missed({ ...missed, slot: 3, lastSlot: 3, count: 1 });
    const kinds = (await readAll(spool)).map(({ kind }) => kind);
    expect(kinds).toEqual(['result', 'missed', 'missed']);
  });

  it('logs a result that cannot be JSON, and does not throw', async () => {
    const { sink, spool, records } = await setUp();
    sink.result(wireResult('s', { responseTime: 1n as unknown as number }));
    expect(spool.depth.records).toBe(0);
    expect(records().map(({ msg }) => msg)).toEqual(['a result cannot be written']);
  });

  it('passes results and missed slots to the other sink, also a result that cannot be JSON', async () => {
    const { alsoTo, sink } = await setUp();
    const missed = { checkId: 'c', slot: 1, lastSlot: 1, count: 1, reason: 'agent_busy' } as const;
    const unspooled = wireResult('s', { responseTime: 1n as unknown as number });
    const spooled = wireResult('s');
    sink.result(unspooled);
    sink.result(spooled);
    sink.missed(missed);
    expect(alsoTo.got).toEqual([unspooled, spooled, missed]);
  });

  it('flushes the other sink while the disk is still writing', async () => {
    const { alsoTo, sink, spool } = await setUp();
    let onCommitted = (): void => {};
    let isWriting = false;
    spool.committed = () =>
      new Promise((resolve) => {
        isWriting = true;
        onCommitted = resolve;
      });
    let wasWriting = false;
    alsoTo.flush = async () => {
      wasWriting = isWriting;
      onCommitted();
    };
    await sink.flush(never);
    expect(wasWriting).toBe(true);
  });

  it('logs results at the end that are in memory only', async () => {
    const { sink, records } = await setUp();
    await sink.flush(never);
    expect(records()).toEqual([]);
    sink.result(wireResult('s'));
    await sink.flush(never);
    expect(records()).toMatchObject([{ level: 'warn', records: 1 }]);
  });
});
