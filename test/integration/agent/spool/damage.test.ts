import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  SPOOL_KINDS,
  type SpoolRecord,
  type SpoolSlots,
} from '../../../../src/agent/spool/spool.ts';
import { idsOf, openTestSpool, readAll, recordFor } from '../../../support/agent/spool.ts';
import { caseCount, IS_NIGHTLY } from '../../../support/nightly.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const RECORDS = 200;
/** Between two offsets at which a file is cut: a prime, so that they fall anywhere in its records. */
const STEP_BYTES = IS_NIGHTLY ? 307 : 1_301;
const PERIOD_MS = 60_000;
/** For tests that open hundreds of spools: each syncs, and the disk may be busy. */
const LIMIT_MS = 120_000;
const folder = makeTempFolder();
const whole = folder.file('whole');
let copy = whole;
let copies = 0;
const all = Array.from({ length: RECORDS }, (_, n): SpoolRecord => {
  const kind = n % 5 === 0 ? 'attempt' : n % 11 === 0 ? 'missed' : 'result';
  const record = recordFor(`${n}`, { kind, bytes: 200 + (n % 7) * 300 });
  return kind === 'attempt' ? record : { ...record, slots: slotsOf(n) };
});
const hasLeft = ({ id }: { id: string }): boolean => Number(id) % 6 === 1 && Number(id) < 180;
const waiting = all.filter((record) => !hasLeft(record));
const ids = waiting.map(({ id }) => id);

function slotsOf(n: number): SpoolSlots {
  const slot = n * PERIOD_MS;
  const count = n % 11 === 0 ? 3 : 1;
  return { checkId: `check-${n % 3}`, slot, lastSlot: slot + (count - 1) * 10_000, count };
}

/** Several files in each log, with records that left and those that wait, as a process leaves them. */
beforeAll(async () => {
  const { spool } = await openTestSpool({ dataDir: whole, maxBytes: 1024 * 1024 });
  for (const [n, record] of all.entries()) {
    spool.put(record);
    if (n % 10 !== 9) continue;
    await spool.committed();
    const left = (await readAll(spool)).filter(hasLeft);
    await spool.accepted(left.map(({ key }) => key));
  }
  await spool.close();
  expect(segments(whole).length).toBeGreaterThan(4);
  expect(await idsIn(whole)).toEqual(ids);
});
afterAll(() => folder.remove());

async function idsIn(dataDir: string): Promise<string[]> {
  const { spool } = await openTestSpool({ dataDir });
  const found = await idsOf(spool);
  await spool.close();
  return found;
}

function filesIn(dataDir: string, of: RegExp): string[] {
  return readdirSync(join(dataDir, 'spool'))
    .filter((name) => of.test(name))
    .sort()
    .map((name) => join(dataDir, 'spool', name));
}

function segments(dataDir: string, log = '(main|spare)'): string[] {
  return filesIn(dataDir, new RegExp(`^${log}-.*seg$`));
}

function manifestOf(segment: string): string {
  return segment.replace(/seg$/, 'manifest');
}

function freshCopy(): void {
  copies += 1;
  copy = folder.file(`copy-${copies}`);
  cpSync(whole, copy, { recursive: true });
}

function rewrite(path: string, change: (contents: Buffer) => Buffer | undefined): void {
  const contents = readFileSync(path);
  writeFileSync(path, change(contents) ?? contents);
}

function swap(one: string, other: string): void {
  const contents = readFileSync(one);
  copyFileSync(other, one);
  writeFileSync(other, contents);
}

function otherName(path: string): string {
  return path.replace(/-\d{16}/, `-${'7000'.padStart(16, '0')}`);
}

function replaceByFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

function remove(paths: readonly string[]): void {
  for (const path of paths) rmSync(path);
}

/** A copy by another name, with no manifest of its own. */
function duplicate(path: string): void {
  copyFileSync(path, otherName(path));
}

type Opened = Awaited<ReturnType<typeof openTestSpool>>;

/** Expects each waiting record that is not found to be counted by kind, and its slots reported. */
function expectCounted({ dropped, lost, records, spool }: Opened, found: readonly string[]): void {
  const gone = waiting.filter(({ id }) => !found.includes(id));
  const counts = new Map<string, number>();
  for (const { kind, count, reason } of dropped) {
    expect(reason).toBe('damage');
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  for (const kind of SPOOL_KINDS) {
    const expected = gone.filter((record) => record.kind === kind).length;
    expect([kind, counts.get(kind) ?? 0]).toEqual([kind, expected]);
    expect(spool.dropped[kind]).toBe(expected);
  }
  const bySlot = (one: SpoolSlots, other: SpoolSlots): number => one.slot - other.slot;
  expect([...lost].sort(bySlot)).toEqual(gone.flatMap(({ slots }) => slots ?? []));
  const errors = records().filter(({ level }) => level === 'error');
  expect(errors).toHaveLength(spool.damagedFiles);
  if (gone.length > 0) expect(errors.length).toBeGreaterThan(0);
}

/** Expects that nothing is counted or reported twice, and that removed records stay removed. */
async function expectForgotten(found: readonly string[]): Promise<void> {
  for (let start = 0; start < 2; start += 1) {
    const again = await openTestSpool({ dataDir: copy });
    expect(await idsOf(again.spool)).toEqual(found);
    expect(again.dropped).toEqual([]);
    expect(again.lost).toEqual([]);
    await again.spool.close();
  }
}

describe('a spool with damaged files', () => {
  it('ignores a write that was cut short at any byte', {
    timeout: LIMIT_MS,
  }, async () => {
    const last = segments(whole, 'main').at(-1) ?? '';
    const { length } = readFileSync(last);
    for (let size = 0; size < length; size += STEP_BYTES) {
      freshCopy();
      const path = segments(copy, 'main').at(-1) ?? '';
      truncateSync(path, size);
      // The file was not on disk before, so its manifest is empty.
      truncateSync(manifestOf(path), 0);
      const { spool, records, dropped } = await openTestSpool({ dataDir: copy });
      const found = await idsOf(spool);
      // All records up to one of that file, then only those of the other log.
      const results = all.map(({ id }) => id).filter((id) => Number(id) % 5 !== 0);
      const kept = found.filter((id) => Number(id) % 5 !== 0);
      const upTo = results.slice(0, results.indexOf(kept.at(-1) ?? '') + 1);
      expect(upTo.filter((id) => ids.includes(id) && !kept.includes(id))).toEqual([]);
      expect(kept.length).toBeGreaterThan(50);
      expect(spool.damagedFiles).toBe(0);
      expect(dropped).toEqual([]);
      expect(records().filter(({ level }) => level !== 'info')).toEqual([]);
      spool.put(recordFor('next'));
      await spool.committed();
      expect((await idsOf(spool)).at(-1)).toBe('next');
      await spool.close();
    }
  });

  it.each<[string, (main: readonly string[]) => void]>([
    ['a bit is flipped in', ([first = '']) => rewrite(first, (bytes) => flip(bytes, 5_000))],
    ['half is cut off', ([, second = '']) => rewrite(second, half)],
    ['half is cut off of the last', (main) => rewrite(main.at(-1) ?? '', half)],
    ['all is cut off of the last', (main) => truncateSync(main.at(-1) ?? '', 0)],
    ['the first is gone of', ([first = '']) => rmSync(first)],
    ['one is gone in the middle of', ([, second = '']) => rmSync(second)],
    ['the last is gone of', (main) => rmSync(main.at(-1) ?? '')],
    ['all are gone of', (main) => remove(main)],
    ['zeros fill one of', ([, second = '']) => rewrite(second, (bytes) => bytes.fill(0))],
    ['zeros fill the last of', (main) => rewrite(main.at(-1) ?? '', (bytes) => bytes.fill(0))],
    ['a hole is in the last of', (main) => rewrite(main.at(-1) ?? '', (b) => b.fill(0, 50, 100))],
    ['a folder is in the place of', ([, second = '']) => replaceByFolder(second)],
  ])('counts and names exactly what is lost, once, where %s its files', async (_, harm) => {
    freshCopy();
    harm(segments(copy, 'main'));
    const first = await openTestSpool({ dataDir: copy });
    const found = await idsOf(first.spool);
    expect(found.length).toBeLessThan(ids.length);
    expectCounted(first, found);
    await first.spool.close();
    // It is reported again until the report is confirmed.
    const second = await openTestSpool({ dataDir: copy });
    expectCounted(second, found);
    second.spool.forgetDamage();
    await second.spool.committed();
    await second.spool.close();
    await expectForgotten(found);
  });

  it.each<[string, (main: readonly string[]) => void]>([
    ['two of its files have each other’s names', ([one = '', other = '']) => swap(one, other)],
    ['the first has the last one’s name', (main) => swap(main[0] ?? '', main.at(-1) ?? '')],
    ['one is there twice', ([, second = '']) => duplicate(second)],
    ['the last is there twice', (main) => duplicate(main.at(-1) ?? '')],
    ['one has another name', ([first = '']) => renameSync(first, otherName(first))],
    ['all manifests are gone', (main) => remove(main.map(manifestOf))],
    ['a manifest is cut', ([first = '']) => rewrite(manifestOf(first), half)],
  ])('loses and counts nothing, and brings nothing back, where %s', async (_, harm) => {
    freshCopy();
    harm(segments(copy, 'main'));
    const first = await openTestSpool({ dataDir: copy });
    expect(await idsOf(first.spool)).toEqual(ids);
    expectCounted(first, ids);
    expect(first.spool.damagedFiles).toBe(0);
    first.spool.put(recordFor('next'));
    await first.spool.close();
    await expectForgotten([...ids, 'next']);
  });

  it('counts lost records once by their numbers where no manifest has them', async () => {
    freshCopy();
    const [, path = ''] = segments(copy, 'main');
    const gone = await idsOfFile(path);
    rmSync(path);
    rmSync(manifestOf(path));
    const { spool, dropped, lost } = await openTestSpool({ dataDir: copy });
    const found = await idsOf(spool);
    // Records whose removal was in that file are back. The service knows them.
    const isBack = (id: string): boolean => hasLeft({ id });
    expect(found.filter((id) => !isBack(id))).toEqual(ids.filter((id) => !gone.includes(id)));
    expect(lost).toEqual([]);
    // The count includes frames of removals.
    expect(dropped).toEqual([{ kind: 'result', count: expect.any(Number), reason: 'damage' }]);
    expect(dropped[0]?.count).toBeGreaterThanOrEqual(gone.length);
    spool.forgetDamage();
    await spool.close();
    await expectForgotten(found);
  });

  it('uses all whole records and counts the others, whatever happened to the files', {
    timeout: LIMIT_MS,
  }, async () => {
    const damage = fc.record({
      file: fc.nat(),
      way: fc.constantFrom('flip', 'truncate', 'zeros', 'garbage', 'remove', 'swap', 'duplicate'),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.integer({ min: 1, max: 5000 }),
      seed: fc.integer({ min: 1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (damages) => {
        freshCopy();
        for (const { file, way, at, bytes, seed } of damages) {
          const all = segments(copy);
          const path = all[file % all.length] ?? '';
          if (way === 'remove') rmSync(path);
          if (way === 'swap')
            swap(path, segments(copy, /main/.test(path) ? 'main' : 'spare')[0] ?? '');
          if (way === 'duplicate') duplicate(path);
          if (['remove', 'swap', 'duplicate'].includes(way)) continue;
          const contents = readFileSync(path);
          const from = Math.floor(at * (contents.length - 1));
          const part = contents.subarray(from, from + (way === 'flip' ? 1 : bytes));
          for (const [index, byte] of part.entries()) {
            part[index] = way === 'zeros' ? 0 : (byte ^ (seed + index * 7)) & 255;
          }
          writeFileSync(path, way === 'truncate' ? contents.subarray(0, from) : contents);
        }
        const opened = await openTestSpool({ dataDir: copy });
        const { spool } = opened;
        const found = await readAll(spool);
        const byId = new Map(all.map((record) => [record.id, record]));
        for (const { id, body } of found) {
          expect(byId.get(id)?.body).toSatisfy(
            (put: Uint8Array) => Buffer.compare(put, body) === 0,
          );
        }
        const foundIds = found.map(({ id }) => id);
        expect(foundIds).toEqual(ids.filter((id) => foundIds.includes(id)));
        expectCounted(opened, foundIds);
        // One bad byte costs the one record that it is in.
        const flips = damages.filter(({ way }) => way === 'flip').length;
        if (flips === damages.length)
          expect(foundIds.length).toBeGreaterThanOrEqual(ids.length - flips);
        spool.put(recordFor('next'));
        spool.forgetDamage();
        await spool.accepted(found.map(({ key }) => key));
        expect(await idsOf(spool)).toEqual(['next']);
        await spool.close();
        await expectForgotten(['next']);
      }),
      { numRuns: caseCount(60) },
    );
  });

  it('logs what is missing, uses the rest, and moves the damaged file aside', async () => {
    freshCopy();
    const [first = ''] = segments(copy, 'main');
    rewrite(first, (contents) => contents.fill(0xaa, 700, 740));
    const contents = readFileSync(first);
    const { spool, records } = await openTestSpool({ dataDir: copy });
    expect(spool.damagedFiles).toBe(1);
    expect(records().filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({
        file: first,
        missingRecords: 1,
        damagedBytes: expect.any(Number),
        msg: expect.stringContaining('moving the file aside'),
      }),
    ]);
    const found = await readAll(spool);
    expect(found).toHaveLength(ids.length - 1);
    spool.forgetDamage();
    await spool.accepted(found.map(({ key }) => key));
    await spool.close();
    expect(filesIn(copy, /./)).toEqual([first.replace('main-', 'damaged-main-')]);
    expect(readFileSync(filesIn(copy, /./)[0] ?? '')).toEqual(contents);
  });

  it('retains the manifest of a damaged file until its slots are reported', async () => {
    freshCopy();
    const [first = ''] = segments(copy, 'main');
    rmSync(first);
    const { spool, lost } = await openTestSpool({ dataDir: copy });
    expect(lost.length).toBeGreaterThan(0);
    await spool.accepted((await readAll(spool)).map(({ key }) => key));
    await spool.close();
    expect(filesIn(copy, /./)).toContain(manifestOf(first));
    const again = await openTestSpool({ dataDir: copy });
    expect(again.lost).toEqual(lost);
    again.spool.forgetDamage();
    await again.spool.close();
    expect(filesIn(copy, /./)).toEqual([]);
  });

  it('drops and counts records that are damaged while it runs, reports their slots, and returns the others', async () => {
    freshCopy();
    const opened = await openTestSpool({ dataDir: copy });
    const { spool, dropped } = opened;
    const [first = '', , third = ''] = segments(copy, 'main');
    rewrite(first, (contents) => contents.fill(0, 100, contents.length - 1000));
    rmSync(third);
    const found = (await readAll(spool)).map(({ id }) => id);
    expect(dropped.length).toBeGreaterThan(2);
    expectCounted(opened, found);
    expect(spool.depth.records).toBe(found.length);
    expect(spool.damagedFiles).toBe(2);
    await spool.committed();
    await spool.close();
    // Whatever those files lost, the next start knows that the counted records have left.
    const again = await openTestSpool({ dataDir: copy });
    expect(await idsOf(again.spool)).toEqual(found);
    expect([again.dropped, again.lost]).toEqual([[], []]);
    await again.spool.close();
  });

  it('retains at most four damaged files', async () => {
    freshCopy();
    for (let n = 0; n < 6; n += 1) {
      writeFileSync(join(copy, 'spool', `damaged-main-${`${n}`.padStart(16, '0')}.seg`), 'x');
    }
    mkdirSync(join(copy, 'spool', 'not-ours'));
    const { spool, records } = await openTestSpool({ dataDir: copy });
    expect(filesIn(copy, /^damaged/).map((path) => path.at(-5))).toEqual(['2', '3', '4', '5']);
    expect(records().filter(({ level }) => level === 'warn')).toHaveLength(2);
    expect(spool.depth.records).toBe(ids.length);
    await spool.close();
  });
});

const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2);

function flip(bytes: Buffer, at: number): undefined {
  bytes[at] = (bytes[at] ?? 0) ^ 1;
}

/** The ids of the records in this file that wait. */
async function idsOfFile(path: string): Promise<readonly string[]> {
  const text = readFileSync(path, 'latin1');
  return ids.filter((id) => text.includes(`{"id":"${id}"}`));
}
