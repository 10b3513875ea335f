import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { caseCount, IS_NIGHTLY } from '../../support/nightly.ts';
import { idsOf, openTestSpool, readAll, recordFor } from '../../support/spool.ts';
import { makeTempFolder } from '../../support/temp-folder.ts';

const RECORDS = 200;
/** Between two places at which a file is cut: a prime, so that they fall anywhere in its records. */
const STEP_BYTES = IS_NIGHTLY ? 307 : 1_301;
const folder = makeTempFolder();
const whole = folder.file('whole');
let copy = whole;
let copies = 0;
const all = Array.from({ length: RECORDS }, (_, n) =>
  recordFor(`${n}`, { kind: n % 5 === 0 ? 'attempt' : 'result', bytes: 200 + (n % 7) * 300 }),
);
const ids = all.map(({ id }) => id);

/** Several files in each log, closed as a killed process leaves them. */
beforeAll(async () => {
  const { spool } = await openTestSpool({ dataDir: whole, maxBytes: 1024 * 1024 });
  for (const [n, record] of all.entries()) {
    spool.put(record);
    if (n % 10 === 9) await spool.committed();
  }
  await spool.close();
  expect(segments(whole).length).toBeGreaterThan(4);
});
afterAll(() => folder.remove());

function segments(dataDir: string, log = ''): string[] {
  return readdirSync(join(dataDir, 'spool'))
    .filter((name) => name.startsWith(log))
    .sort()
    .map((name) => join(dataDir, 'spool', name));
}

function freshCopy(): void {
  copies += 1;
  copy = folder.file(`copy-${copies}`);
  cpSync(whole, copy, { recursive: true });
}

describe('a spool whose files are not as they were written', () => {
  it('passes over a write that was cut short at any byte, in silence', async () => {
    const last = segments(whole, 'main').at(-1) ?? '';
    const { length } = readFileSync(last);
    for (let size = 0; size < length; size += STEP_BYTES) {
      freshCopy();
      truncateSync(segments(copy, 'main').at(-1) ?? '', size);
      const { spool, records } = await openTestSpool({ dataDir: copy });
      const found = await idsOf(spool);
      // All up to some record of that file, then only what the other log has.
      const results = ids.filter((id) => Number(id) % 5 !== 0);
      const kept = found.filter((id) => Number(id) % 5 !== 0);
      expect(kept).toEqual(results.slice(0, kept.length));
      expect(kept.length).toBeGreaterThan(50);
      expect(spool.damagedFiles).toBe(0);
      expect(records().filter(({ level }) => level !== 'info')).toEqual([]);
      spool.put(recordFor('next'));
      await spool.committed();
      expect((await idsOf(spool)).at(-1)).toBe('next');
      await spool.close();
    }
  });

  it('goes on with all that is whole, whatever happened to the files', async () => {
    const damage = fc.record({
      file: fc.nat(),
      way: fc.constantFrom('flip', 'truncate', 'zeros', 'garbage'),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.integer({ min: 1, max: 5000 }),
      seed: fc.integer({ min: 1, max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 4 }), async (damages) => {
        freshCopy();
        for (const { file, way, at, bytes, seed } of damages) {
          const path = segments(copy)[file % segments(copy).length] ?? '';
          const contents = readFileSync(path);
          const from = Math.floor(at * (contents.length - 1));
          const part = contents.subarray(from, from + (way === 'flip' ? 1 : bytes));
          for (const [index, byte] of part.entries()) {
            part[index] = way === 'zeros' ? 0 : (byte ^ (seed + index * 7)) & 255;
          }
          writeFileSync(path, way === 'truncate' ? contents.subarray(0, from) : contents);
        }
        const { spool, dropped, records } = await openTestSpool({ dataDir: copy });
        const found = await readAll(spool);
        const byId = new Map(all.map((record) => [record.id, record]));
        for (const { id, body } of found) {
          expect(byId.get(id)?.body).toSatisfy(
            (put: Uint8Array) => Buffer.compare(put, body) === 0,
          );
        }
        const foundIds = found.map(({ id }) => id);
        expect(foundIds).toEqual(ids.filter((id) => foundIds.includes(id)));
        expect(foundIds.length).toBeGreaterThan(RECORDS / 20);
        // One bad byte costs the one record that it is in.
        const flips = damages.filter(({ way }) => way === 'flip').length;
        if (flips === damages.length)
          expect(foundIds.length).toBeGreaterThanOrEqual(RECORDS - flips);
        expect(dropped).toEqual([]);
        expect(records().filter(({ level }) => level === 'error')).toHaveLength(spool.damagedFiles);
        spool.put(recordFor('next'));
        await spool.accepted(found.map(({ key }) => key));
        expect(await idsOf(spool)).toEqual(['next']);
        await spool.close();
        const again = await openTestSpool({ dataDir: copy });
        expect(await idsOf(again.spool)).toEqual(['next']);
        expect(again.spool.damagedFiles).toBe(0);
        await again.spool.close();
      }),
      { numRuns: caseCount(60) },
    );
  });

  it('says what is missing, uses the rest, and keeps the damaged file for a look', async () => {
    freshCopy();
    const [first = ''] = segments(copy, 'main');
    const contents = readFileSync(first);
    contents.fill(0xaa, 300, 340);
    writeFileSync(first, contents);
    const { spool, records } = await openTestSpool({ dataDir: copy });
    expect(spool.damagedFiles).toBe(1);
    expect(records().filter(({ level }) => level === 'error')).toEqual([
      expect.objectContaining({
        file: first,
        missingRecords: 1,
        damagedBytes: expect.any(Number),
        msg: expect.stringContaining('moved aside'),
      }),
    ]);
    const found = await readAll(spool);
    expect(found).toHaveLength(RECORDS - 1);
    await spool.accepted(found.map(({ key }) => key));
    await spool.close();
    const left = segments(copy);
    expect(left).toEqual([first.replace('main-', 'damaged-main-')]);
    expect(readFileSync(left[0] ?? '')).toEqual(contents);
  });

  it('tells of a file that is gone between others', async () => {
    freshCopy();
    const [, second = ''] = segments(copy, 'main');
    rmSync(second);
    const { spool, records } = await openTestSpool({ dataDir: copy });
    expect(spool.damagedFiles).toBe(1);
    const missing = records().find(({ level }) => level === 'error')?.missingRecords;
    expect((await readAll(spool)).length).toBe(RECORDS - Number(missing));
    await spool.close();
  });

  it('drops and counts what is damaged while it runs, and gives the rest', async () => {
    freshCopy();
    const { spool, dropped, records } = await openTestSpool({ dataDir: copy });
    const [first = '', , third = ''] = segments(copy, 'main');
    const contents = readFileSync(first);
    contents.fill(0, 100, contents.length - 1000);
    writeFileSync(first, contents);
    rmSync(third);
    const found = await readAll(spool);
    expect(found.length + dropped.length).toBe(RECORDS);
    expect(new Set(dropped.map(({ kind, reason }) => `${kind} ${reason}`))).toEqual(
      new Set(['result damage']),
    );
    expect(spool.dropped.result).toBe(dropped.length);
    expect(spool.depth.records).toBe(found.length);
    expect(spool.damagedFiles).toBe(2);
    expect(records().filter(({ level }) => level === 'error')).toHaveLength(2);
    await spool.accepted(found.map(({ key }) => key));
    await spool.close();
  });

  it('keeps no more than four damaged files', async () => {
    freshCopy();
    for (let n = 0; n < 6; n += 1) {
      writeFileSync(join(copy, 'spool', `damaged-main-${`${n}`.padStart(16, '0')}.seg`), 'x');
    }
    mkdirSync(join(copy, 'spool', 'not-ours'));
    const { spool, records } = await openTestSpool({ dataDir: copy });
    expect(segments(copy, 'damaged').map((path) => path.at(-5))).toEqual(['2', '3', '4', '5']);
    expect(records().filter(({ level }) => level === 'warn')).toHaveLength(2);
    expect(spool.depth.records).toBe(RECORDS);
    await spool.close();
  });
});
