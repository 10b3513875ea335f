import { describe, expect, it } from 'vitest';
import { SpoolSink } from '../../../../src/agent/spool/spool-sink.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { resultFor } from '../../../support/results.ts';
import { openTestSpool, readAll } from '../../../support/spool.ts';

const never = new AbortController().signal;

async function setUp() {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const { spool } = await openTestSpool({ dataDir: null }, clock);
  return { clock, records, spool, sink: new SpoolSink({ spool, clock, log }) };
}

describe('SpoolSink', () => {
  it('spools each result as its JSON, by kind, under its own id', async () => {
    const { clock, sink, spool } = await setUp();
    const final = resultFor({ id: 'final', name: 'ä\u2028' });
    const attempt = resultFor({ id: 'attempt', resultType: 'ATTEMPT' });
    sink.result(attempt);
    sink.result(final);
    const records = await readAll(spool);
    expect(records.map(({ kind, id, atMs }) => ({ kind, id, atMs }))).toEqual([
      { kind: 'attempt', id: 'attempt', atMs: clock.wallMs() },
      { kind: 'result', id: 'final', atMs: clock.wallMs() },
    ]);
    expect(records.map(({ body }) => JSON.parse(Buffer.from(body).toString()))).toEqual([
      attempt,
      final,
    ]);
  });

  it('keeps once what it is told twice: the same result, the same missed slots', async () => {
    const { sink, spool } = await setUp();
    const missed = { checkId: 'c', slot: 1, lastSlot: 2, count: 2, reason: 'agent_busy' } as const;
    for (let time = 0; time < 2; time += 1) {
      sink.result(resultFor());
      sink.missed(missed);
    }
    sink.missed({ ...missed, slot: 3, lastSlot: 3, count: 1 });
    const kinds = (await readAll(spool)).map(({ kind }) => kind);
    expect(kinds).toEqual(['result', 'missed', 'missed']);
  });

  it('never throws, and says so, where a result cannot be JSON', async () => {
    const { sink, spool, records } = await setUp();
    sink.result(resultFor({ responseTime: 1n as unknown as number }));
    expect(spool.depth.records).toBe(0);
    expect(records().map(({ msg }) => msg)).toEqual(['a result cannot be written']);
  });

  it('says at the end what is in memory only', async () => {
    const { sink, records } = await setUp();
    await sink.flush(never);
    expect(records()).toEqual([]);
    sink.result(resultFor());
    await sink.flush(never);
    expect(records()).toMatchObject([{ level: 'warn', records: 1 }]);
  });
});
