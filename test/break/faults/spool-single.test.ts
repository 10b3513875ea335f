import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSpool } from '../../../src/agent/spool/open-spool.ts';
import type { Spool } from '../../../src/agent/spool/spool.ts';
import { openArtifactOutbox } from '../../../src/agent/upload/artifact-outbox.ts';
import { idsOf, readAll, recordFor } from '../../support/agent/spool.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { captureLog } from '../../support/log-capture.ts';
import { makeTempFolder } from '../../support/process/temp-folder.ts';
import { FaultyDisk } from './support/spool/disk.ts';
import { PowerShadow } from './support/spool/power.ts';
import { quiet } from './support/spool/stage.ts';

/** Opens the spool of one folder repeatedly, all on a disk that refuses calls on demand. */
function setUp() {
  const folder = makeTempFolder();
  const dataDir = folder.file('data');
  const spoolFolder = join(dataDir, 'spool');
  const opened: Spool[] = [];
  const disk = new FaultyDisk({});
  const clock = new FakeClock();
  onTestFinished(async () => {
    disk.refuses = null;
    for (const spool of opened) await spool.close();
    folder.remove();
  });
  const open = async (maxBytes?: number) => {
    const { log, records } = captureLog();
    const dropped: string[] = [];
    const spool = await openSpool(
      { dataDir, commitDelayMs: 0, ...(maxBytes === undefined ? {} : { maxBytes }) },
      {
        clock,
        log,
        disk,
        onDropped: (kind, _count, reason) => dropped.push(`${kind} ${reason}`),
        onLost: () => {},
      },
    );
    opened.push(spool);
    return { spool, records, dropped, log };
  };
  /** Waits for the promise, and advances the clock if needed. */
  const inTime = async <T>(work: Promise<T>, afterMs = 0): Promise<T> => {
    await clock.advance(afterMs);
    await quiet(disk);
    return await work;
  };
  /** Puts these and waits until they are on disk. */
  const keep = async (spool: Spool, ...ids: readonly string[]): Promise<void> => {
    for (const id of ids) spool.put(recordFor(id, { atMs: clock.wallMs() }));
    await inTime(spool.committed());
  };
  const files = (): string[] =>
    readdirSync(spoolFolder).sort((one, other) => (one < other ? -1 : 1));
  const refuse = (code: string, names: RegExp): void => {
    disk.refuses = { code, names };
  };
  return { folder, dataDir, spoolFolder, disk, clock, open, files, refuse, inTime, keep };
}

it('a record that only one log accepts is on disk once, and does not return after its removal', async () => {
  const { open, refuse, disk, spoolFolder, inTime, keep } = setUp();
  const sparePath = join(spoolFolder, 'spare-0000000000000000.seg');
  const spareBytes = (): number => statSync(sparePath).size;
  const { spool } = await open();
  await keep(spool, 'early');
  refuse('EIO', /^write main/);
  spool.put(recordFor('stuck'));
  spool.put(recordFor('sent', { kind: 'attempt' }));
  spool.put(recordFor('stays', { kind: 'attempt' }));
  await inTime(Promise.resolve());
  expect(spool.state).toBe('failing');
  const sent = (await readAll(spool)).filter(({ id }) => id === 'sent');
  await spool.accepted(sent.map(({ key }) => key));
  // Retried and refused again: the removal is written only once.
  await inTime(Promise.resolve(), 1000);
  const bytes = spareBytes();
  await inTime(Promise.resolve(), 3000);
  expect(spareBytes()).toBe(bytes);
  disk.refuses = null;
  await inTime(spool.committed(), 1000);
  await spool.close();
  const spare = readFileSync(sparePath);
  expect(spare.indexOf('"stays"')).toBe(spare.lastIndexOf('"stays"'));
  expect(await idsOf((await open()).spool)).toEqual(['early', 'stuck', 'stays']);
});

it('a file that cannot be deleted brings nothing back, is logged once and is deleted when possible', async () => {
  const { open, refuse, disk, files, clock, inTime, keep } = setUp();
  const { spool, records } = await open(512 * 1024);
  // Each record fills a file.
  for (const id of ['a', 'b', 'c', 'd']) {
    spool.put(recordFor(id, { bytes: 20_000, atMs: clock.wallMs() }));
    await inTime(spool.committed());
  }
  const [a, b, c] = await readAll(spool);
  refuse('EPERM', /^unlink main/);
  await inTime(spool.accepted([a?.key ?? -1]));
  // The files of the removals and of the other records must not be deleted before it.
  await inTime(spool.accepted([b?.key ?? -1, c?.key ?? -1]));
  await keep(spool, 'e');
  expect(records().map(({ msg, code }) => [msg, code])).toEqual([
    ['a file of the spool without waiting records cannot be deleted', 'EPERM'],
  ]);
  await spool.close();
  const again = await open(512 * 1024);
  expect(await idsOf(again.spool)).toEqual(['d', 'e']);
  disk.refuses = null;
  const left = await readAll(again.spool);
  await inTime(again.spool.accepted(left.map(({ key }) => key)));
  await again.spool.close();
  expect(files()).toEqual([]);
});

it('folder names are on disk together with their contents after a power loss', async () => {
  const { folder, clock, inTime } = setUp();
  const [before, after] = [folder.file('before'), folder.file('after')];
  mkdirSync(before);
  const shadow = new PowerShadow(before);
  const disk = new FaultyDisk({ shadow });
  const { log } = captureLog();
  const deps = { clock, log, onDropped: () => {}, onLost: () => {} };
  const dataDir = join(before, 'one/two');
  const spool = await openSpool({ dataDir, commitDelayMs: 0 }, { ...deps, disk });
  spool.put(recordFor('a', { atMs: clock.wallMs() }));
  await inTime(spool.committed());
  const outbox = await openArtifactOutbox({ dataDir, spool, clock, log, disk });
  const about = { resultId: 'r', checkId: 'c', name: 'body', contentType: 'text/plain' };
  await outbox.add({ ...about, bytes: Buffer.from('artifact') });
  await inTime(spool.committed());
  disk.kill();
  // Nothing unsynced survives.
  shadow.leaveTo(after, () => 0);
  const next = await openSpool({ dataDir: join(after, 'one/two') }, deps);
  onTestFinished(() => next.close());
  const ids = await idsOf(next);
  expect(ids).toEqual(['a', expect.any(String)]);
  expect(readFileSync(join(after, 'one/two/artifacts', ids[1] ?? ''), 'utf8')).toBe('artifact');
});

it('bytes that were read count although closing the file fails, while running and at the start', async () => {
  const { open, refuse, disk, files, keep } = setUp();
  const { spool } = await open();
  await keep(spool, 'a', 'b');
  const before = files();
  refuse('EIO', /^close main/);
  expect(await idsOf(spool)).toEqual(['a', 'b']);
  disk.refuses = null;
  await spool.close();
  refuse('EIO', /^close (main|spool)/);
  const again = await open();
  expect(await idsOf(again.spool)).toEqual(['a', 'b']);
  expect(again.spool.damagedFiles).toBe(0);
  expect(files()).toEqual(before);
  // Its own folder does not block it either.
  await again.spool.close();
});

it.each([
  ['list its folder', 'EMFILE', /^readdir/],
  ['open its files', 'EMFILE', /^open main/],
  ['read one of its files, nor move it aside', 'EIO', /^(read|rename) main/],
])('does not start where it cannot %s, and has all when it can', async (_, code, names) => {
  const { open, refuse, disk, keep } = setUp();
  const first = await open();
  await keep(first.spool, 'a', 'b');
  await first.spool.close();
  refuse(code, names);
  await expect(open()).rejects.toMatchObject({
    kind: 'config',
    code: 'DATA_DIR_UNUSABLE',
    message: expect.stringContaining(code),
  });
  disk.refuses = null;
  expect(await idsOf((await open()).spool)).toEqual(['a', 'b']);
});

it('the spool starts below a folder that it can neither read nor sync', async () => {
  const { open, refuse, keep } = setUp();
  refuse('EACCES', /^open data$/);
  const { spool, records } = await open();
  await keep(spool, 'a');
  expect(spool.state).toBe('durable');
  expect(records()).toEqual([]);
});

it('a file that exists although its creation failed is not taken for damage at the next start', async () => {
  const { spoolFolder, open, keep } = setUp();
  const first = await open();
  await keep(first.spool, 'a');
  await first.spool.close();
  // The state after such a call.
  const { spool } = await open();
  writeFileSync(join(spoolFolder, 'main-0000000000000001.seg'), '');
  await keep(spool, 'b');
  await spool.close();
  const again = await open();
  expect(await idsOf(again.spool)).toEqual(['a', 'b']);
  expect(again.spool.damagedFiles).toBe(0);
});

it('a short write in a preallocated file is not taken for damage', async () => {
  const { spoolFolder, open, keep } = setUp();
  const first = await open();
  await keep(first.spool, 'a');
  await keep(first.spool, 'b');
  await first.spool.close();
  const path = join(spoolFolder, 'main-0000000000000000.seg');
  const contents = readFileSync(path);
  contents.fill(0, contents.length - 50);
  writeFileSync(path, contents);
  // Only records that were on disk are noted.
  const manifest = path.replace('.seg', '.manifest');
  const [line] = readFileSync(manifest, 'utf8').split('\n');
  writeFileSync(manifest, `${line}\n`);
  const { spool, records } = await open();
  expect(await idsOf(spool)).toEqual(['a']);
  expect(spool.damagedFiles).toBe(0);
  expect(records().filter(({ level }) => level === 'error')).toEqual([]);
});

it('a spool that stops on a full disk gives the space of artifacts to results and counts them', async () => {
  const { dataDir, open, disk, clock, inTime } = setUp();
  const { spool, log, dropped } = await open();
  const outbox = await openArtifactOutbox({ dataDir, spool, clock, log, disk });
  const about = { resultId: 'r', checkId: 'c', name: 'body', contentType: 'text/plain' };
  await outbox.add({ ...about, bytes: Buffer.alloc(1000) });
  await inTime(spool.committed());
  disk.refuses = {
    code: 'ENOSPC',
    // The write fails as long as the artifact takes the space.
    names: {
      test: (name: string) =>
        name === 'write main.seg' && readdirSync(join(dataDir, 'artifacts')).length > 0,
    },
  };
  spool.put(recordFor('last', { atMs: clock.wallMs() }));
  await spool.close();
  expect(dropped).toEqual(['artifact-note space']);
  expect(await idsOf((await open()).spool)).toEqual(['last']);
});

it('a dropped artifact of a stopping spool is gone together with its note', async () => {
  const { dataDir, open, disk, clock, inTime } = setUp();
  const { spool, log, dropped } = await open(512 * 1024);
  const outbox = await openArtifactOutbox({ dataDir, spool, clock, log, disk });
  const about = { resultId: 'r', checkId: 'c', name: 'body', contentType: 'text/plain' };
  await outbox.add({ ...about, bytes: Buffer.alloc(450_000) });
  // Keeps the file with the note.
  spool.put(recordFor('attempt', { kind: 'attempt', atMs: clock.wallMs() }));
  await inTime(spool.committed());
  spool.put(recordFor('large', { bytes: 100_000, atMs: clock.wallMs() }));
  await spool.close();
  expect(dropped).toEqual(['artifact-note space']);
  expect(readdirSync(join(dataDir, 'artifacts'))).toEqual([]);
  expect(await idsOf((await open(512 * 1024)).spool)).toEqual(['attempt', 'large']);
});

it('a record that is replaced during its removal exists once and can be removed', async () => {
  const { dataDir, open, clock, inTime, keep } = setUp();
  const first = await open();
  const others = Array.from({ length: 60 }, (_, number) => `${number}`);
  await keep(first.spool, 'a', ...others);
  await first.spool.close();
  // The process ends during the write that starts with the second 'a' and ends with the removals.
  const disk = new FaultyDisk({
    fault: { at: 'write main.seg', fault: { kind: 'die', done: 'half' } },
  });
  const { log } = captureLog();
  const deps = { clock, log, onDropped: () => {}, onLost: () => {} };
  const doomed = await openSpool({ dataDir, commitDelayMs: 0 }, { ...deps, disk });
  const all = await readAll(doomed);
  void doomed.accepted(all.map(({ key }) => key));
  for (const id of ['a', 'c']) doomed.put(recordFor(id, { atMs: clock.wallMs() }));
  await clock.advance(0);
  await quiet(disk);
  expect(disk.isDead).toBe(true);

  const { spool } = await open();
  const found = await readAll(spool);
  expect(found.map(({ id }) => id)).toEqual(['a', ...others, 'c']);
  await keep(spool, 'b');
  const leaving = found.filter(({ id }) => id !== 'c');
  await inTime(spool.accepted(leaving.map(({ key }) => key)));
  await spool.close();
  expect(await idsOf((await open()).spool)).toEqual(['c', 'b']);
});

it.each([
  ['its name is not on disk', /^sync artifacts/],
  ['it cannot get its name', /^rename /],
])('of an artifact that is not kept nothing stays: %s', async (_, names) => {
  const { dataDir, open, disk, clock, refuse } = setUp();
  const { spool, log } = await open();
  const outbox = await openArtifactOutbox({ dataDir, spool, clock, log, disk });
  const about = { resultId: 'r', checkId: 'c', name: 'body', contentType: 'text/plain' };
  refuse('EIO', names);
  const refused = await outbox.add({ ...about, bytes: Buffer.from('artifact') });
  expect(refused).toMatchObject({ ok: false, note: expect.stringContaining('EIO') });
  expect(readdirSync(join(dataDir, 'artifacts'))).toEqual([]);
  expect(spool.depth.records).toBe(0);
  disk.refuses = null;
  expect(await outbox.add({ ...about, bytes: Buffer.from('artifact') })).toMatchObject({
    ok: true,
  });
});
