import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openArtifactOutbox } from '../../src/agent/upload/artifact-outbox.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { idsOf, openTestSpool, readAll, recordFor } from '../support/agent/spool.ts';
import { captureLog } from '../support/log-capture.ts';
import { caseCount } from '../support/nightly.ts';
import { lacking } from '../support/process/system-needs.ts';
import { makeTempFolder } from '../support/process/temp-folder.ts';

const WRITER = join(import.meta.dirname, '../support/agent/spool-writer.mjs');
const KILLS = caseCount(20);
const missing = lacking({ commands: ['mount', 'umount'], files: [] });

/** The writer's output, from its start to its SIGKILL after this many commits. */
async function writeUntilKilled(dataDir: string, first: number, commits: number) {
  const child = spawn(process.execPath, [WRITER, dataDir, `${first}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  const closed = once(child, 'close');
  const said: { word: string; ids: string[] }[] = [];
  let left = commits;
  for await (const line of createInterface({ input: child.stdout })) {
    const [word = '', ...ids] = line.split(' ');
    said.push({ word, ids });
    left -= word === 'committed' ? 1 : 0;
    if (left === 0) child.kill('SIGKILL');
  }
  await closed;
  expect(errors).toBe('');
  return said;
}

describe.skipIf(missing !== null)(
  `the spool${missing === null ? '' : ` (lacks ${missing})`}`,
  () => {
    it(`the spool has all committed records, in order and once, after each of ${KILLS} kill -9`, async () => {
      const folder = makeTempFolder();
      onTestFinished(() => folder.remove());
      const committed = new Set<string>();
      const leaving = new Set<string>();
      const accepted = new Set<string>();
      const put = new Set<string>();
      let next = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const commits = 1 + Math.floor(Math.random() * 60);
        for (const { word, ids } of await writeUntilKilled(folder.path, next, commits)) {
          expect(['putting', 'committed', 'accepting', 'accepted']).toContain(word);
          const set = { putting: put, committed, accepting: leaving, accepted }[word];
          for (const id of ids) set?.add(id);
          for (const id of word === 'putting' ? ids : []) next = Math.max(next, Number(id) + 1);
        }
        const { spool, dropped, records } = await openTestSpool({ dataDir: folder.path });
        const found = await readAll(spool);
        const ids = found.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids).toEqual([...ids].sort((a, b) => Number(a) - Number(b)));
        const there = new Set(ids);
        expect([...committed].filter((id) => !leaving.has(id) && !there.has(id))).toEqual([]);
        expect([...accepted].filter((id) => there.has(id))).toEqual([]);
        for (const { id, body } of found) {
          expect(JSON.parse(Buffer.from(body).toString())).toEqual({ n: Number(id) });
          next = Math.max(next, Number(id) + 1);
        }
        expect(spool.damagedFiles).toBe(0);
        expect(dropped).toEqual([]);
        expect(records().filter(({ level }) => level !== 'info')).toEqual([]);
        await spool.close();
      }
      expect(committed.size).toBeGreaterThan(KILLS);
      expect(accepted.size).toBeGreaterThan(KILLS);
    });

    function mountSmall(options: string): { path: string; dataDir: string } {
      const folder = makeTempFolder();
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'vedette-test', folder.path]);
      onTestFinished(() => {
        execFileSync('umount', [folder.path]);
        folder.remove();
      });
      return { path: folder.path, dataDir: join(folder.path, 'data') };
    }

    it('a spool whose disk is full goes on in memory, counts and logs once what it drops, and recovers', async () => {
      const { path, dataDir } = mountSmall('size=2m');
      const { spool, dropped, records } = await openTestSpool({
        dataDir,
        maxMemoryBytes: 512 * 1024,
      });
      onTestFinished(() => spool.close());
      const filler = join(path, 'filler');
      spool.put(recordFor('early', { bytes: 1000 }));
      await spool.committed();
      writeFileSync(filler, Buffer.alloc(1_900_000));
      for (let n = 0; n < 400; n += 1) spool.put(recordFor(`${n}`, { bytes: 4000 }));
      await eventuallyFailing();
      for (let n = 400; n < 1000; n += 1) spool.put(recordFor(`${n}`, { bytes: 4000 }));
      expect(dropped.length).toBeGreaterThan(400);
      expect(new Set(dropped.map(({ reason }) => reason))).toEqual(new Set(['memory']));
      // The waiting records can still be read and sent, both on disk and in memory.
      const waiting = await readAll(spool);
      expect(waiting[0]?.id).toBe('early');
      expect(waiting.at(-1)?.id).toBe('999');
      expect(waiting.length + dropped.length).toBe(1001);
      const sent = waiting.slice(0, 10);
      await spool.accepted(sent.map(({ key }) => key));

      truncateSync(filler, 0);
      await spool.committed();
      expect(spool.state).toBe('durable');
      const left = await idsOf(spool);
      expect(left).toEqual(waiting.slice(10).map(({ id }) => id));
      const problems = records().filter(({ level }) => level !== 'info' && level !== 'warn');
      expect(problems).toEqual([expect.objectContaining({ code: 'ENOSPC' })]);
      expect(records().at(-1)).toMatchObject({ msg: 'the spool is written to disk again' });
      await spool.close();
      const again = await openTestSpool({ dataDir });
      expect(await idsOf(again.spool)).toEqual(left);
      expect(again.spool.damagedFiles).toBe(0);
      await again.spool.close();

      async function eventuallyFailing(): Promise<void> {
        while (spool.state !== 'failing') await new Promise((resolve) => setImmediate(resolve));
      }
    });

    it('results take the space of artifacts when the disk is full', async () => {
      const { path, dataDir } = mountSmall('size=2m');
      const clock = systemClock;
      const { spool, dropped } = await openTestSpool({ dataDir });
      onTestFinished(() => spool.close());
      const { log } = captureLog();
      const outbox = await openArtifactOutbox({ dataDir, spool, clock, log });
      const of = (resultId: string, bytes: number) =>
        outbox.add({
          resultId,
          checkId: 'a-check',
          name: 'response-body',
          contentType: 'text/plain',
          bytes: Buffer.alloc(bytes),
        });
      expect(await of('one', 1_000_000)).toMatchObject({ ok: true });
      // Its record would take the space of the artifact if it came while the next one fills the disk.
      await spool.committed();
      const refused = await of('two', 1_500_000);
      expect(refused).toMatchObject({ ok: false, note: expect.stringContaining('ENOSPC') });
      await spool.committed();
      expect(() => writeFileSync(join(path, 'filler'), Buffer.alloc(2_000_000))).toThrow('ENOSPC');
      for (let n = 0; n < 100; n += 1) spool.put(recordFor(`${n}`, { bytes: 4000 }));
      await spool.committed();
      expect(spool.state).toBe('durable');
      expect(await idsOf(spool)).toHaveLength(100);
      expect(readdirSync(join(dataDir, 'artifacts'))).toEqual([]);
      expect(dropped).toEqual([{ kind: 'artifact-note', count: 1, reason: 'space' }]);
    });

    it('an agent starts on a full disk and frees space when the service accepts records', async () => {
      const { path, dataDir } = mountSmall('size=1m');
      const first = await openTestSpool({ dataDir, maxBytes: 512 * 1024 });
      for (let n = 0; n < 100; n += 1) first.spool.put(recordFor(`${n}`, { bytes: 4000 }));
      await first.spool.close();
      const filler = join(path, 'filler');
      expect(() => writeFileSync(filler, Buffer.alloc(2 * 1024 * 1024))).toThrow('ENOSPC');

      const { spool } = await openTestSpool({ dataDir, maxBytes: 512 * 1024 });
      onTestFinished(() => spool.close());
      const before = await readAll(spool);
      expect(before).toHaveLength(100);
      spool.put(recordFor('next', { bytes: 4000 }));
      await spool.available(new AbortController().signal, before.at(-1)?.key);
      expect(spool.state).toBe('failing');
      await spool.accepted(before.map(({ key }) => key));
      // The filler's file is unchanged.
      expect(statSync(filler).size).toBeGreaterThan(0);
      await spool.committed();
      expect(spool.state).toBe('durable');
      expect(await idsOf(spool)).toEqual(['next']);
    });

    it('a data folder that cannot be written is refused in one line that names DATA_DIR', async () => {
      const { path } = mountSmall('size=1m');
      execFileSync('mount', ['-o', 'remount,ro', path]);
      await expect(openTestSpool({ dataDir: path })).rejects.toMatchObject({
        code: 'DATA_DIR_UNUSABLE',
        message: expect.stringMatching(/^DATA_DIR is .+ \(EROFS: .+\): name a folder [^\n]+$/),
      });
    });

    it('a spool whose folder is emptied while it runs recovers', async () => {
      const folder = makeTempFolder();
      onTestFinished(() => folder.remove());
      const { spool, dropped } = await openTestSpool({ dataDir: folder.path });
      onTestFinished(() => spool.close());
      spool.put(recordFor('a'));
      await spool.committed();
      for (const name of readdirSync(folder.file('spool'))) rmSync(folder.file(`spool/${name}`));
      expect(await idsOf(spool)).toEqual([]);
      expect(dropped).toEqual([{ kind: 'result', count: 1, reason: 'damage' }]);
    });
  },
);
