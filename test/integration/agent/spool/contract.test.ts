import { describe, expect, it, onTestFinished } from 'vitest';
import { idsOf, openTestSpool, recordFor } from '../../../support/agent/spool.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const never = new AbortController().signal;

describe.each(['disk', 'memory'] as const)('a spool (%s)', (where) => {
  async function setUp() {
    const folder = makeTempFolder();
    const opened = await openTestSpool({ dataDir: where === 'disk' ? folder.path : null });
    onTestFinished(async () => {
      await opened.spool.close();
      folder.remove();
    });
    return opened;
  }

  it('returns complete records of any kind, oldest first', async () => {
    const { spool } = await setUp();
    const kinds = ['result', 'attempt', 'missed', 'artifact-note'] as const;
    const records = Array.from({ length: 40 }, (_, n) =>
      recordFor(`${n}`, { kind: kinds[n % 4] ?? 'result', bytes: 10 + n * 50, atMs: 1000 - n }),
    );
    for (const record of records) spool.put(record);
    await spool.committed();
    const all = await spool.batch(1_000_000);
    expect(all.map(({ key: _, ...record }) => record)).toEqual(records);
    expect(all.map(({ key }) => key)).toEqual(all.map(({ key }) => key).sort((a, b) => a - b));
    expect(spool.depth.records).toBe(40);
  });

  it('returns as many as fit and at least one, repeatedly until they are accepted', async () => {
    const { spool } = await setUp();
    for (const id of ['a', 'b', 'c', 'd']) spool.put(recordFor(id, { bytes: 1000 }));
    await spool.committed();
    const ids = async (maxBytes: number, after?: number): Promise<string[]> =>
      (await spool.batch(maxBytes, after)).map(({ id }) => id);
    expect(await ids(10)).toEqual(['a']);
    expect(await ids(2500)).toEqual(['a', 'b']);
    expect(await ids(2500)).toEqual(['a', 'b']);
    const [first, second] = await spool.batch(2500);
    expect(await ids(2500, second?.key)).toEqual(['c', 'd']);
    await spool.accepted([second?.key ?? -1, 12_345]);
    await spool.accepted([second?.key ?? -1]);
    expect(await ids(10_000)).toEqual(['a', 'c', 'd']);
    await spool.accepted([first?.key ?? -1]);
    expect(spool.depth.records).toBe(2);
    expect(await ids(10)).toEqual(['c']);
  });

  it('stores the same id once, and again after it left', async () => {
    const { spool } = await setUp();
    spool.put(recordFor('a'));
    spool.put(recordFor('a', { bytes: 500 }));
    spool.put(recordFor('a', { kind: 'attempt' }));
    await spool.committed();
    spool.put(recordFor('a'));
    const all = await spool.batch(10_000);
    expect(all.map(({ id, kind, body }) => [id, kind, body.length])).toEqual([
      ['a', 'result', 100],
      ['a', 'attempt', 100],
    ]);
    await spool.accepted(all.map(({ key }) => key));
    expect(spool.depth).toEqual({ records: 0, bytes: 0 });
    spool.put(recordFor('a'));
    await spool.committed();
    expect(await idsOf(spool)).toEqual(['a']);
  });

  it('wakes a reader when there is a record to read', async () => {
    const { spool } = await setUp();
    const ended = new AbortController();
    const first = spool.available(never);
    const none = spool.available(ended.signal);
    ended.abort();
    expect(await none).toBe(false);
    expect(await spool.available(ended.signal)).toBe(false);
    spool.put(recordFor('a'));
    expect(await first).toBe(true);
    const [record] = await spool.batch(1000);
    const second = spool.available(never, record?.key);
    spool.put(recordFor('b'));
    expect(await second).toBe(true);
    expect(await spool.available(never, record?.key)).toBe(true);
    const [, last] = await spool.batch(1000);
    const closed = spool.available(never, last?.key);
    await spool.close();
    expect(await closed).toBe(false);
    expect(await spool.available(never)).toBe(false);
  });

  it('counts records that are put after its end, and blocks no caller', async () => {
    const { spool } = await setUp();
    spool.put(recordFor('before'));
    await spool.committed();
    const [record] = await spool.batch(1000);
    await spool.close();
    await spool.close();
    spool.put(recordFor('a'));
    await spool.committed();
    await spool.accepted([record?.key ?? -1]);
    expect(await spool.batch(1000)).toEqual([]);
    expect(spool.dropped.result).toBe(1);
  });
});
