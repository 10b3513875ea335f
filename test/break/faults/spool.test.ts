import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { IS_NIGHTLY } from '../../support/nightly.ts';
import { casesOf, type FaultCase, play } from './support/spool/cases.ts';
import { reportProblem } from './support/spool/reports.ts';
import { byText, callSites, otherDoors, PORT_METHODS } from './support/spool/sites.ts';

/** Random source for what survives a power loss. */
const SEED = Number(process.env.BREAK_SEED ?? randomInt(2 ** 31));
const LIMIT_MS = 600_000;
// In memory if possible: a real disk's speed is irrelevant here.
const SHM = '/dev/shm';
const folder = mkdtempSync(join(existsSync(SHM) ? SHM : tmpdir(), 'vedette-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

let plays = 0;
async function playIn(only: FaultCase | null) {
  plays += 1;
  const path = join(folder, `${plays}`);
  const played = await play(path, only, SEED);
  rmSync(path, { recursive: true });
  return played;
}

async function problemsOf(each: FaultCase): Promise<string[]> {
  const { stage, disk } = await playIn(each);
  const problems = [...stage.ledger.problems];
  const found = disk.fired;
  if (found?.name !== each.call.name || found.site !== each.call.site) {
    problems.push(`call ${each.at} is ${found?.name} of ${found?.site}`);
  }
  const problem = reportProblem(each, stage);
  if (problem !== null) problems.push(problem);
  const { at, kind, call } = each;
  return problems.map((problem) => `call ${at}, ${call.name} of ${call.site}, ${kind}: ${problem}`);
}

// Load the lock's library first: its loading takes event loop iterations that no call explains.
await import('koffi');
const recording = await playIn(null);
const { calls } = recording.disk;
const all = casesOf(calls);
const cases = IS_NIGHTLY ? all : all.filter(sampler(SEED));
const kinds = [...new Set(all.map(({ kind }) => kind))];

/** Chooses the first case of each call site with each kind of fault, and a third of the others. */
function sampler(seed: number): (each: FaultCase, index: number) => boolean {
  const seen = new Set<string>();
  return ({ call, kind }, index) => {
    const place = `${call.site} ${call.method} ${kind}`;
    const isFirst = !seen.has(place);
    seen.add(place);
    return isFirst || (index + seed) % 3 === 0;
  };
}

describe(`the spool on a failing disk, BREAK_SEED=${SEED}`, () => {
  it('the spool scenario passes without a fault', () => {
    expect(recording.stage.ledger.problems).toEqual([]);
    expect(recording.stage.isDamaged).toBe(true);
  });

  it('the scenarios reach every call of the port, and no call bypasses it', () => {
    const sites = new Set(calls.map(({ site }) => site ?? 'nowhere'));
    expect([...sites].sort(byText)).toEqual(callSites());
    const methods = new Set(calls.map(({ method }) => method));
    expect([...methods].sort(byText)).toEqual(PORT_METHODS);
    expect(otherDoors()).toEqual([]);
    process.stdout.write(
      `the spool: ${calls.length} calls from ${sites.size} places, ${kinds.length} kinds of faults, ${cases.length} cases, BREAK_SEED=${SEED}\n`,
    );
  });

  it.each(kinds)(
    'the spool keeps its guarantees if any call fails: %s',
    { timeout: LIMIT_MS },
    async (kind) => {
      const problems: string[] = [];
      for (const each of cases.filter((one) => one.kind === kind)) {
        problems.push(...(await problemsOf(each)));
      }
      expect(problems, `BREAK_SEED=${SEED}`).toEqual([]);
    },
  );
});
