import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SpoolOptions } from '../../../../../src/agent/spool/open-spool.ts';
import type { Spool } from '../../../../../src/agent/spool/spool.ts';
import { SpoolSink } from '../../../../../src/agent/spool/spool-sink.ts';
import { type Clock, systemClock } from '../../../../../src/runtime/clock.ts';
import {
  idsOf,
  openTestSpool,
  putAt,
  readAll,
  recordFor,
} from '../../../../support/agent/spool.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';
import { wireResult } from '../../../../support/samples/wire-results.ts';

const DAY_MS = 24 * 3_600_000;

/** Opens the spool of one folder, again and again. */
function setUp() {
  const folder = makeTempFolder();
  const opened: Spool[] = [];
  onTestFinished(async () => {
    for (const spool of opened) await spool.close();
    folder.remove();
  });
  const open = async (options: Partial<SpoolOptions> = {}, clock: Clock = systemClock) => {
    const all = await openTestSpool({ dataDir: folder.path, ...options }, clock);
    opened.push(all.spool);
    return all;
  };
  const files = (): string[] => readdirSync(folder.file('spool')).sort();
  const diskBytes = (): number =>
    files().reduce((sum, name) => {
      // A file that is done with may go at any time.
      const found = statSync(folder.file(join('spool', name)), { throwIfNoEntry: false });
      return sum + (found?.size ?? 0);
    }, 0);
  return { folder, open, files, diskBytes };
}

async function fill(spool: Spool, from: number, to: number, bytes = 100): Promise<void> {
  for (let n = from; n < to; n += 1) {
    spool.put(recordFor(`${n}`, { bytes, kind: n % 3 === 0 ? 'attempt' : 'result' }));
  }
  await spool.committed();
}

const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `${from + index}`);

describe('the spool in a folder', () => {
  it('contains after a restart all records in order, without the accepted ones', async () => {
    const { open, files } = setUp();
    const first = await open();
    await fill(first.spool, 0, 20);
    const [one, two, three] = await first.spool.batch(100_000);
    await first.spool.accepted([one?.key ?? -1, three?.key ?? -1]);
    await first.spool.close();

    const second = await open();
    expect(await idsOf(second.spool)).toEqual(['1', ...numbers(3, 20)]);
    expect((await second.spool.batch(1))[0]).toEqual({ ...two });
    // What it has from before is known by its id.
    await fill(second.spool, 15, 25);
    await second.spool.close();

    const third = await open();
    const all = await readAll(third.spool);
    expect(all.map(({ id }) => id)).toEqual(['1', ...numbers(3, 25)]);
    await third.spool.accepted(all.map(({ key }) => key));
    await third.spool.close();
    expect(files()).toEqual([]);

    const fourth = await open();
    expect(fourth.spool.depth).toEqual({ records: 0, bytes: 0 });
    expect([first, second, third, fourth].flatMap(({ dropped }) => dropped)).toEqual([]);
    expect(fourth.records()).toEqual([]);
  });

  it('writes many records in one commit, after the commit delay', async () => {
    const { open } = setUp();
    const clock = new FakeClock();
    const { spool } = await open({ commitDelayMs: 25 }, clock);
    spool.put(recordFor('a'));
    await clock.advance(24);
    spool.put(recordFor('b'));
    const done = spool.committed();
    expect(await idsOf(spool)).toEqual([]);
    await clock.advance(1);
    await done;
    expect(await idsOf(spool)).toEqual(['a', 'b']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps its files within the bound: the oldest attempts go first, then results', async () => {
    const { open, diskBytes } = setUp();
    const maxBytes = 512 * 1024;
    const { spool, dropped, records } = await open({ maxBytes });
    // A third are attempts, so they alone make room until there is none left.
    for (let n = 0; n < 300; n += 10) {
      await fill(spool, n, n + 10, 2000);
      expect(diskBytes()).toBeLessThanOrEqual(maxBytes);
    }
    expect(new Set(dropped.map(({ kind }) => kind))).toEqual(new Set(['attempt']));
    const kept = await idsOf(spool);
    const results = numbers(0, 300).filter((id) => Number(id) % 3 !== 0);
    expect(kept.filter((id) => Number(id) % 3 !== 0)).toEqual(results);
    const attempts = kept.filter((id) => Number(id) % 3 === 0);
    expect(attempts).toEqual(
      numbers(0, 300)
        .filter((id) => Number(id) % 3 === 0)
        .slice(-attempts.length),
    );
    expect(spool.dropped.attempt).toBe(100 - attempts.length);

    for (let n = 300; n < 600; n += 10) {
      await fill(spool, n, n + 10, 2000);
      expect(diskBytes()).toBeLessThanOrEqual(maxBytes);
    }
    const left = (await readAll(spool)).filter(({ kind }) => kind === 'result');
    expect(spool.dropped.result).toBe(400 - left.length);
    expect(left.length).toBeGreaterThan(150);
    expect(left.map(({ id }) => id)).toEqual(
      numbers(0, 600)
        .filter((id) => Number(id) % 3 !== 0)
        .slice(-left.length),
    );
    expect(records().filter(({ level }) => level === 'warn')).toHaveLength(1);
    // The same stands there after a restart.
    const before = await idsOf(spool);
    await spool.close();
    const again = await open({ maxBytes });
    expect(await idsOf(again.spool)).toEqual(before);
  });

  it('frees the disk space of accepted records, also behind one that is never accepted', async () => {
    const { open, diskBytes } = setUp();
    const { spool } = await open({ maxBytes: 4 * 1024 * 1024 });
    spool.put(recordFor('stuck'));
    for (let n = 0; n < 2000; n += 100) {
      await fill(spool, n, n + 100, 5000);
      const all = (await readAll(spool)).filter(({ id }) => id !== 'stuck');
      await spool.accepted(all.map(({ key }) => key));
      expect(diskBytes()).toBeLessThanOrEqual(4 * 1024 * 1024);
    }
    // It had 6 MB after it: the bound took it in the end.
    expect(spool.dropped.result).toBe(1);
    await spool.close();
    expect(diskBytes()).toBe(0);
  });

  it('drops records that are too old, counting the time while it was not running', async () => {
    const { open } = setUp();
    const clock = new FakeClock();
    const at = (id: string) => recordFor(id, { atMs: clock.wallMs() });
    const first = await open({}, clock);
    await putAt(first.spool, clock, at('a'));
    await clock.advance(4 * DAY_MS);
    await putAt(first.spool, clock, at('b'));
    await clock.advance(4 * DAY_MS);
    expect(await idsOf(first.spool)).toEqual(['b']);
    expect(first.dropped).toEqual([{ kind: 'result', count: 1, reason: 'age' }]);
    expect(first.spool.oldestAgeMs).toBe(4 * DAY_MS);
    await first.spool.close();

    clock.stepWall(2 * DAY_MS);
    const second = await open({}, clock);
    expect(second.spool.oldestAgeMs).toBe(6 * DAY_MS);
    expect(await idsOf(second.spool)).toEqual(['b']);
    await second.spool.close();

    clock.stepWall(2 * DAY_MS);
    const third = await open({}, clock);
    expect(await idsOf(third.spool)).toEqual([]);
    expect(third.dropped).toEqual([{ kind: 'result', count: 1, reason: 'age' }]);
    expect(third.records().map(({ msg }) => msg)).toContain(
      'dropped results that exceeded SPOOL_MAX_DAYS',
    );
  });

  it('keeps the order and loses nothing when the wall clock is set back or forward', async () => {
    const { open } = setUp();
    const clock = new FakeClock();
    const first = await open({}, clock);
    for (const [id, stepMs] of [
      ['a', 400 * DAY_MS],
      ['b', -800 * DAY_MS],
      ['c', 0],
    ] as const) {
      await putAt(first.spool, clock, recordFor(id, { atMs: clock.wallMs() }));
      clock.stepWall(stepMs);
    }
    expect(await idsOf(first.spool)).toEqual(['a', 'b', 'c']);
    await first.spool.close();
    // All but the last come from what is now the future.
    const second = await open({}, clock);
    expect(await idsOf(second.spool)).toEqual(['a', 'b', 'c']);
    expect(second.spool.oldestAgeMs).toBe(0);
  });

  it('allows one agent at a time to use a folder', async () => {
    const { open, folder } = setUp();
    const first = await open();
    await expect(open()).rejects.toMatchObject({
      kind: 'environment',
      code: 'DATA_DIR_IN_USE',
      message: expect.stringContaining(`DATA_DIR is ${JSON.stringify(folder.path)}`),
    });
    await first.spool.close();
    await open();
  });

  it.each([
    ['that is a file', (path: string) => writeFileSync(path, '')],
    [
      'whose spool is a file',
      (path: string) => {
        mkdirSync(path);
        writeFileSync(join(path, 'spool'), '');
      },
    ],
  ])('refuses a DATA_DIR %s, in one line that names it', async (_, make) => {
    const folder = makeTempFolder();
    onTestFinished(() => folder.remove());
    make(folder.file('data'));
    await expect(openTestSpool({ dataDir: folder.file('data') })).rejects.toMatchObject({
      kind: 'config',
      code: 'DATA_DIR_UNUSABLE',
      message: expect.stringMatching(/^DATA_DIR is ".*data", where results cannot be kept .+$/),
    });
  });

  it('creates a missing DATA_DIR for its own user alone', async () => {
    const { folder, open } = setUp();
    const { spool } = await open({ dataDir: folder.file('a/b') });
    await fill(spool, 0, 1);
    for (const path of ['a/b/spool', 'a/b/spool/spare-0000000000000000.seg']) {
      expect(statSync(folder.file(path)).mode & 0o077).toBe(0);
    }
  });

  it('continues in memory while the disk refuses, logs that once, and writes all records later', async () => {
    const { open, folder } = setUp();
    const clock = new FakeClock();
    const { spool, dropped, records } = await open(
      { commitDelayMs: 0, maxMemoryBytes: 20 * 1024 },
      clock,
    );
    rmSync(folder.file('spool'), { recursive: true });
    const readable = spool.available(new AbortController().signal);
    for (let n = 0; n < 10; n += 1) {
      spool.put(recordFor(`r${n}`, { bytes: 1000 }));
      await clock.advance(1);
    }
    expect(await readable).toBe(true);
    expect(spool.state).toBe('failing');
    // The service can be reached all the while.
    const [first] = await spool.batch(10);
    expect(first?.id).toBe('r0');
    await spool.accepted([first?.key ?? -1]);
    expect((await spool.batch(10))[0]?.id).toBe('r1');
    for (let n = 0; n < 30; n += 1) {
      spool.put(
        recordFor(`${n % 2 === 0 ? 'a' : 'm'}${n}`, {
          bytes: 1000,
          kind: n % 2 === 0 ? 'attempt' : 'missed',
        }),
      );
    }
    await clock.advance(5000);
    expect(dropped.every(({ reason }) => reason === 'memory')).toBe(true);
    expect(spool.dropped).toEqual({ result: 5, attempt: 15, missed: 0, 'artifact-note': 0 });
    expect(spool.depth.bytes).toBeLessThanOrEqual(20 * 1024);

    mkdirSync(folder.file('spool'));
    const done = spool.committed();
    await clock.advance(1000);
    await done;
    expect(spool.state).toBe('durable');
    const kept = await idsOf(spool);
    expect(kept).toEqual([
      ...['r6', 'r7', 'r8', 'r9'],
      ...Array.from({ length: 15 }, (_, n) => `m${2 * n + 1}`),
    ]);
    expect(records().map(({ level, msg }) => [level, msg])).toEqual([
      ['error', expect.stringContaining('the spool in DATA_DIR cannot be written')],
      ['info', 'the spool is written to disk again'],
    ]);
    expect(records().at(-1)).toMatchObject({ dropped: 20 });
    await spool.close();
    // The old folder is gone, and the lock with it: only what is on disk counts.
    expect(await idsOf((await open()).spool)).toEqual(kept);
  });

  it('ends a flush with its signal, and logs that not all is on disk', async () => {
    const { open, folder } = setUp();
    const { spool } = await open();
    const { log, records } = captureLog();
    const parts = { alsoTo: null, clock: systemClock, log, location: () => 'here' };
    const sink = new SpoolSink({ spool, ...parts });
    const onDisk = wireResult('on-disk');
    sink.result(onDisk);
    await sink.flush(new AbortController().signal);
    expect(await idsOf(spool)).toEqual([onDisk.id]);
    await spool.accepted((await readAll(spool)).map(({ key }) => key));
    await sink.flush(AbortSignal.abort());
    expect(records()).toEqual([]);

    // With no file open, the folder is what the next write needs.
    await spool.close();
    const next = await open();
    rmSync(folder.file('spool'), { recursive: true });
    const nextSink = new SpoolSink({ spool: next.spool, ...parts });
    nextSink.result(wireResult('in-memory'));
    const limit = new AbortController();
    const flushed = nextSink.flush(limit.signal);
    await next.spool.available(new AbortController().signal);
    limit.abort();
    await flushed;
    expect(records()).toMatchObject([{ level: 'warn', records: 1 }]);
  });

  it('logs what is lost when it ends while the disk refuses', async () => {
    const { open, folder } = setUp();
    const { spool, records } = await open();
    rmSync(folder.file('spool'), { recursive: true });
    spool.put(recordFor('a'));
    await spool.close();
    expect(spool.dropped.result).toBe(1);
    expect(records().at(-1)).toMatchObject({ level: 'error', records: 1 });
  });
});
