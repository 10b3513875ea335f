import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { openSlotLedger } from '../../../../src/agent/slots/ledger.ts';
import { nextOwnSlotAfter, type RotationRule } from '../../../../src/model/schedule/rotation.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { caseCount } from '../../../support/nightly.ts';
import { makeTempFolder } from '../../../support/process/temp-folder.ts';
import { checkOf } from '../../../support/samples/checks.ts';

const never = new AbortController().signal;
const MINUTE: RotationRule = { periodMs: 60_000, phaseMs: 0, stride: 1, index: 0 };
const SET = {
  checks: [checkOf('TCP', { id: 'a' })],
  rotations: new Map([['a', MINUTE]]),
  pauses: [],
  groupTags: new Map(),
};

function folder(): string {
  const { path, remove } = makeTempFolder();
  onTestFinished(remove);
  return path;
}

/** A slot account whose scheduler is never late by default. */
async function open(dataDir: string | null, clock = new FakeClock()) {
  const { log, records } = captureLog();
  const state = { reachedMs: () => clock.wallMs(), committed: () => Promise.resolve() };
  const account = await openSlotLedger({
    dataDir,
    clock,
    log,
    reachedMs: () => state.reachedMs(),
    committed: () => state.committed(),
  });
  return { account, clock, state, warnings: () => records().filter((r) => r.level === 'warn') };
}

it('the ledger is empty at a first start', async () => {
  const { account, clock, warnings } = await open(folder());
  expect(account.missedBefore(SET, clock.wallMs())).toEqual([]);
  expect(warnings()).toEqual([]);
});

it('the ledger gives the next process the unanswered slots', async () => {
  const dataDir = folder();
  const { account, clock } = await open(dataDir);
  const t0 = clock.wallMs();
  account.began('a', t0);
  account.began('b', t0);
  account.ended('b', t0);
  await account.save(never);
  // What follows is lost with the process.
  account.ended('a', t0);

  const next = await open(dataDir);
  expect(next.account.missedBefore(SET, t0 + 150_000)).toEqual([
    { checkId: 'a', slot: t0, lastSlot: t0, count: 1, reason: 'agent_stopped' },
    { checkId: 'a', slot: t0 + 60_000, lastSlot: t0 + 120_000, count: 2, reason: 'agent_stopped' },
  ]);
});

it('the ledger is saved once a second until its signal aborts', async () => {
  const dataDir = folder();
  const { account, clock } = await open(dataDir);
  const controller = new AbortController();
  const running = account.run(controller.signal);
  const upTo = (): unknown => {
    if (!readdirSync(dataDir).includes('accounted.json')) return null;
    return JSON.parse(readFileSync(`${dataDir}/accounted.json`, 'utf8')).upToMs;
  };
  for (let second = 0; second < 3; second += 1) {
    await eventually(() => upTo() === clock.wallMs() && clock.pendingTimers === 1);
    await clock.advance(1000);
  }
  await eventually(() => clock.pendingTimers === 1);
  controller.abort();
  await running;
  expect(clock.pendingTimers).toBe(0);
  expect(readdirSync(dataDir)).toEqual(['accounted.json']);
});

it('the ledger contains no slot as answered whose record is not on disk', async () => {
  const dataDir = folder();
  const { account, clock, state } = await open(dataDir);
  const t0 = clock.wallMs();
  account.began('a', t0);
  await account.save(never);
  let commit = (): void => {};
  const committed = new Promise<void>((resolve) => {
    commit = resolve;
  });
  state.committed = () => committed;
  account.ended('a', t0);
  await clock.advance(30_000);
  const saved = account.save(never);

  const early = await open(dataDir);
  expect(early.account.missedBefore(SET, t0 + 59_000)).toHaveLength(1);
  // A slot that comes while the spool writes is not part of the saved state.
  await clock.advance(30_000);
  commit();
  await saved;
  const late = await open(dataDir);
  expect(late.account.missedBefore(SET, t0 + 60_000)).toEqual([
    expect.objectContaining({ slot: t0 + 60_000, count: 1 }),
  ]);
});

it('the ledger does not wait for a failing disk when its signal aborts', async () => {
  const { account, state } = await open(folder());
  state.committed = () => new Promise(() => {});
  const controller = new AbortController();
  const running = account.run(controller.signal);
  const saving = account.save(controller.signal);
  controller.abort();
  await Promise.all([running, saving]);
});

it('the ledger goes no further than the scheduler', async () => {
  const dataDir = folder();
  const { account, clock, state } = await open(dataDir);
  const t0 = clock.wallMs();
  state.reachedMs = () => t0;
  await clock.advance(90_000);
  await account.save(never);
  const next = await open(dataDir);
  expect(next.account.missedBefore(SET, t0 + 90_000)).toHaveLength(1);
});

it.each(['', '{"format":1,"upToMs":-1,"unfinished":[]}', '{"format":2}', '[]'])(
  'the ledger logs that it knows no slots if its file is damaged: %j',
  async (text) => {
    const dataDir = folder();
    writeFileSync(`${dataDir}/accounted.json`, text);
    const { account, clock, warnings } = await open(dataDir);
    expect(account.missedBefore(SET, clock.wallMs())).toEqual([]);
    expect(warnings()).toHaveLength(1);
    await account.save(never);
    expect((await open(dataDir)).warnings()).toEqual([]);
  },
);

it('the ledger logs once that it cannot be saved, and goes on', async () => {
  const dataDir = `${folder()}/data`;
  writeFileSync(dataDir, 'a file where a folder should be');
  const { account, warnings } = await open(dataDir);
  const before = warnings().length;
  await account.save(never);
  await account.save(never);
  expect(warnings().slice(before)).toHaveLength(1);
});

it('the ledger saves nothing without DATA_DIR', async () => {
  const { account, clock } = await open(null);
  account.began('a', clock.wallMs());
  await account.save(never);
  await account.run(never);
  expect(account.missedBefore(SET, clock.wallMs() + 600_000)).toEqual([]);
});

it('every slot has a result or is missed, whenever the process is killed', async () => {
  /** The next step. A number is a time that passes, in milliseconds. */
  const step = fc.oneof(
    fc.integer({ min: 1, max: 50 }),
    fc.constantFrom('turn' as const, 'end' as const, 'commit' as const, 'save' as const),
  );
  const slotRule: RotationRule = { periodMs: 10, phaseMs: 3, stride: 1, index: 0 };
  const set = { ...SET, rotations: new Map([['a', slotRule]]) };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const temp = makeTempFolder();
      try {
        const { account, clock, state } = await open(temp.path);
        const startMs = clock.wallMs();
        await account.save(never);
        let reachedMs = startMs;
        state.reachedMs = () => reachedMs;
        /** The slots that run, that have a result in memory, and that have one on disk. */
        const running: number[] = [];
        let inMemory: number[] = [];
        const onDisk = new Set<number>();
        const commit = async (): Promise<void> => {
          for (const slot of inMemory) onDisk.add(slot);
          inMemory = [];
        };
        state.committed = commit;
        for (const what of steps) {
          if (typeof what === 'number') await clock.advance(what);
          else if (what === 'turn') {
            let slot = nextOwnSlotAfter(slotRule, reachedMs);
            for (; slot <= clock.wallMs(); slot = nextOwnSlotAfter(slotRule, slot)) {
              account.began('a', slot);
              running.push(slot);
            }
            reachedMs = clock.wallMs();
          } else if (what === 'end') {
            const [slot] = running.splice(Math.floor(running.length / 2), 1);
            if (slot !== undefined) {
              inMemory.push(slot);
              account.ended('a', slot);
            }
          } else if (what === 'commit') await commit();
          else await account.save(never);
        }
        // Killed: only what is on disk is left.
        const next = await open(temp.path, clock);
        const missed = new Set<number>();
        for (const { slot, lastSlot, count } of next.account.missedBefore(set, clock.wallMs())) {
          for (let at = slot; at <= lastSlot; at += 10) missed.add(at);
          expect((lastSlot - slot) / 10 + 1).toBe(count);
        }
        let slot = nextOwnSlotAfter(slotRule, startMs);
        for (; slot <= clock.wallMs(); slot = nextOwnSlotAfter(slotRule, slot)) {
          expect(onDisk.has(slot) || missed.has(slot)).toBe(true);
        }
      } finally {
        temp.remove();
      }
    }),
    { numRuns: caseCount(60) },
  );
});
