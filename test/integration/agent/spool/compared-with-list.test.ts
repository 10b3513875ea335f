import { cpSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import type { Spool, SpoolKind } from '../../../../src/agent/spool/spool.ts';
import { openTestSpool, readAll, recordFor } from '../../../support/agent/spool.ts';
import { caseCount } from '../../../support/nightly.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      id: fc.nat(30),
      kind: fc.constantFrom<SpoolKind>('result', 'attempt', 'missed', 'artifact-note'),
      bytes: fc.integer({ min: 10, max: 30_000 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('accept' as const), nth: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('commit', 'restart', 'crash') }),
  },
);

it('the spool contains the same records as a plain list, through restarts and crashes', async () => {
  const folder = makeTempFolder();
  onTestFinished(() => folder.remove());
  let folders = 0;
  const open = async (dataDir: string): Promise<Spool> =>
    (await openTestSpool({ dataDir, maxBytes: 8 * 1024 * 1024 })).spool;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      folders += 1;
      let dataDir = folder.file(`${folders}`);
      let spool = await open(dataDir);
      let list: string[] = [];
      for (const each of steps) {
        if (each.do === 'put') {
          const record = recordFor(`${each.id}`, { kind: each.kind, bytes: each.bytes });
          spool.put(record);
          const name = `${each.kind} ${each.id}`;
          if (!list.includes(name)) list.push(name);
          continue;
        }
        // Puts may come at any time. Everything else needs the records on disk.
        await spool.committed();
        if (each.do === 'accept') {
          const one = (await readAll(spool))[each.nth];
          await spool.accepted(one === undefined ? [] : [one.key]);
          list = list.filter((_, index) => index !== each.nth);
        } else if (each.do === 'restart') {
          await spool.close();
          spool = await open(dataDir);
        } else if (each.do === 'crash') {
          // The files that are done with are gone by then, so that none goes while it is copied.
          await spool.committed();
          folders += 1;
          const next = folder.file(`${folders}`);
          cpSync(dataDir, next, { recursive: true });
          await spool.close();
          dataDir = next;
          spool = await open(dataDir);
        }
        const found = await readAll(spool);
        expect(found.map(({ kind, id }) => `${kind} ${id}`)).toEqual(list);
        expect(spool.depth.records).toBe(list.length);
        expect(spool.damagedFiles).toBe(0);
      }
      await spool.close();
    }),
    { numRuns: caseCount(30) },
  );
});
