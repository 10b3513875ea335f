import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { open, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NOT_SCRUBBED } from '../../../../../src/agent/secrets/cut-scrubbed.ts';
import { ServiceClient } from '../../../../../src/agent/service-client/service-client.ts';
import type { CheckSet } from '../../../../../src/agent/source/check-source.ts';
import { readAssignments } from '../../../../../src/agent/source/service/assignment-file.ts';
import {
  assignmentsBox,
  seal,
  unseal,
} from '../../../../../src/agent/source/service/sealed-lines.ts';
import { createServiceSource } from '../../../../../src/agent/source/service/service-source.ts';
import { momentOf } from '../../../../../src/runtime/boot-clock.ts';
import { NO_PROXIES } from '../../../../../src/runtime/net/proxy/choose-proxy.ts';
import {
  assignmentMessageOf,
  type OneOff,
  type OneOffMessage,
  oneOffMessageOf,
} from '../../../../../src/wire/v1/assignment.ts';
import { protocolMismatchOf } from '../../../../../src/wire/v1/error-response.ts';
import type { PollResponse } from '../../../../../src/wire/v1/poll.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { makeTempFolder } from '../../../../support/process/temp-folder.ts';
import { checkOf } from '../../../../support/samples/checks.ts';
import { type HeldPoll, startServiceStub } from '../../../../support/service/service-stub.ts';

const SLOTS = { periodMs: 60_000, phaseMs: 6_000, stride: 2, index: 1 };
/** Between two polls that end at once. */
const HEALTH = {
  maxLatenessMs: 12,
  missedSlots: 1,
  spoolRecords: 2,
  spoolBytes: 300,
  spoolOldestMs: 4_000,
};
const REST_MS = 250;
const LEASE_MS = 15_000;
const KEY = `pl_${'0'.repeat(32)}`;
const OTHER_KEY = `pl_${'1'.repeat(32)}`;

const kept = (dataDir: string, key = KEY) =>
  readAssignments(join(dataDir, 'assignments.json'), assignmentsBox(key));

const assignment = (id: string, fields: object = {}) =>
  assignmentMessageOf({
    check: checkOf('TCP', { id, ...fields }),
    slots: SLOTS,
    answeredUntil: null,
    groupTags: [],
  });

function oneOff(runId: string, clock: FakeClock, parts: Partial<OneOff> = {}): OneOffMessage {
  return oneOffMessageOf({
    runId,
    check: checkOf('TCP', { id: 'asked-for' }),
    reason: 'requested',
    slot: clock.wallMs(),
    sequenceId: `sequence-${runId}`,
    notBefore: null,
    notAfter: clock.wallMs() + 600_000,
    retriesMade: 0,
    firstStartedAt: null,
    ...parts,
  });
}

function folder(): string {
  const { path, remove } = makeTempFolder();
  onTestFinished(remove);
  return path;
}

const ids = (set: CheckSet | undefined): string[] => (set?.checks ?? []).map(({ id }) => id).sort();

/** A source that polls a stub of the service, on a clock of the test's own. */
async function startAgent(dataDir: string | null = null, serviceUrl?: URL, key = () => KEY) {
  const clock = new FakeClock();
  const stub = await startServiceStub(clock);
  const { log, records } = captureLog();
  const client = new ServiceClient({
    serviceUrl: serviceUrl ?? stub.url,
    key,
    proxies: NO_PROXIES,
    artifactOrigins: [],
    clock,
    version: '1.2.3',
    scrub: NOT_SCRUBBED,
  });
  let inFlight = 0;
  const trials: OneOff[] = [];
  const refused: { readonly trialId: string; readonly problem: string }[] = [];
  const source = await createServiceSource({
    client: {
      get key() {
        return client.key;
      },
      async post(...request) {
        inFlight += 1;
        try {
          return await client.post(...request);
        } finally {
          inFlight -= 1;
        }
      },
    },
    dataDir,
    capabilities: { types: ['TCP', 'URL'], ipv6: false, icmp: true, capture: false },
    concurrency: 7,
    load: () => ({ running: 2, queued: 3 }),
    health: () => HEALTH,
    version: '1.2.3',
    clock,
    log,
    onTrialRefused: (trialId, problem) => void refused.push({ trialId, problem }),
  });
  const sets: CheckSet[] = [];
  const runs: OneOff[] = [];
  const cancelled: string[] = [];
  const controller = new AbortController();
  const listener = {
    onChecks: (set: CheckSet) => void sets.push(set),
    onRun: (run: OneOff) => void runs.push(run),
    onRunCancelled: (runId: string) => void cancelled.push(runId),
    onTrial: (trial: OneOff) => void trials.push(trial),
  };
  const watching = source.watch(listener, controller.signal);
  watching.catch(() => {});
  const stop = async (): Promise<void> => {
    controller.abort();
    await source.ended();
  };
  onTestFinished(async () => {
    await stop();
    await client.close();
    await stub.close();
    expect(stub.faults).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });
  const nextPoll = async (): Promise<HeldPoll> => {
    for (;;) {
      const poll = stub.polls.shift();
      if (poll !== undefined) return poll;
      const waitMs = clock.nextTimerInMs ?? Number.POSITIVE_INFINITY;
      // Less than a millisecond more is what rounding adds after a back-off of no whole milliseconds.
      if (waitMs < REST_MS + 1) await clock.advance(waitMs);
      else await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  return {
    stub,
    clock,
    source,
    sets,
    runs,
    cancelled,
    trials,
    refused,
    watching,
    stop,
    end: () => controller.abort(),
    nextPoll,
    /** Answers the next poll. Resolves with the poll after it, when the answer was taken. */
    async answered(parts: Partial<PollResponse>): Promise<HeldPoll> {
      const poll = await nextPoll();
      poll.answer(parts);
      return nextPoll();
    },
    /** Resolves with how long the source waits for its next poll, once it does. */
    async pause(): Promise<number> {
      await eventually(() => inFlight === 0 && clock.pendingTimers === 1);
      return clock.nextTimerInMs ?? 0;
    },
    logged: (level: string) => records().filter((record) => record.level === level),
  };
}

it('sends its identity and load with a poll, and passes on the checks of the answer (trust model SC12)', async () => {
  const { nextPoll, sets, source } = await startAgent();
  const first = await nextPoll();
  expect(first.asked).toMatchObject({
    agentId: source.agentId,
    version: '1.2.3',
    capabilities: { types: ['TCP', 'URL'], ipv6: false, icmp: true, capture: false },
    concurrency: 7,
    load: { running: 2, queued: 3 },
    revision: 0,
    epoch: 0,
    page: null,
    done: [],
    refused: [],
  });
  expect(first.asked.health).toEqual(HEALTH);
  expect(first.asked.instanceId).not.toBe(source.agentId);
  first.answer({
    revision: 9,
    epoch: 4,
    full: true,
    upsert: [assignment('a'), assignment('b')],
  });
  const second = await nextPoll();
  expect(second.asked).toMatchObject({ revision: 9, epoch: 4, page: null });
  expect([first.asked.clockAheadMs, second.asked.clockAheadMs]).toEqual([null, 0]);
  expect(source).toMatchObject({ revision: 9, epoch: 4 });
  expect(sets.map(ids)).toEqual([['a', 'b']]);
  expect(sets[0]?.location).toBe('office');
  expect(sets[0]?.rotations.get('b')).toEqual(SLOTS);
  expect(sets[0]?.checks[0]).toEqual(checkOf('TCP', { id: 'a' }));
});

it('passes on an empty set of checks, and nothing if nothing changed (trust model SC8)', async () => {
  const { answered, sets } = await startAgent();
  const next = await answered({ full: true });
  expect(sets.map(ids)).toEqual([[]]);
  next.answer({});
  await answered({ revision: 2 });
  expect(sets).toHaveLength(1);
});

it('passes on each trial once, after the checks of the same answer, and names those that it cannot read', async () => {
  const { answered, nextPoll, source, sets, trials, refused } = await startAgent();
  const { check } = assignment('a');
  const given = {
    trialId: 'trial-1',
    check,
    scripts: null,
    slot: 5,
    notAfter: Date.now() + 60_000,
  };
  const unreadable = { ...given, trialId: 'trial-2', check: { checkType: 'NONE' } };
  const second = await answered({
    full: true,
    upsert: [assignment('a')],
    trials: [given, unreadable],
  });
  expect(sets).toHaveLength(1);
  expect(trials).toEqual([
    expect.objectContaining({
      runId: 'trial-1',
      sequenceId: 'trial-1',
      slot: 5,
      retriesMade: 0,
      check: expect.objectContaining({ id: 'trial-1' }),
    }),
  ]);
  expect(refused).toEqual([{ trialId: 'trial-2', problem: expect.any(String) }]);
  second.answer({ trials: [given, unreadable] });
  const third = await nextPoll();
  // Its end is on its way while the service repeats it.
  source.trialDone('trial-1');
  third.answer({ trials: [given] });
  await nextPoll();
  expect(trials).toHaveLength(1);
  expect(refused).toHaveLength(1);
});

it('applies changes to the set of checks', async () => {
  const { answered, nextPoll, sets } = await startAgent();
  const second = await answered({ full: true, upsert: [assignment('a'), assignment('b')] });
  const changed = assignment('a', { name: 'changed' });
  second.answer({ revision: 2, upsert: [changed, assignment('c')], remove: ['b'] });
  expect((await nextPoll()).asked.revision).toBe(2);
  expect(ids(sets[1])).toEqual(['a', 'c']);
  expect(sets[1]?.checks.find(({ id }) => id === 'a')?.name).toBe('changed');
  expect(sets[1]?.rotations).toEqual(
    new Map([
      ['a', SLOTS],
      ['c', SLOTS],
    ]),
  );
  // What was sent before stays as it was.
  expect(ids(sets[0])).toEqual(['a', 'b']);
});

it('passes on since when no agent has been responsible for a check that is new to it', async () => {
  const { nextPoll, sets } = await startAgent();
  const told = async (parts: Partial<PollResponse>): Promise<Map<string, number>> => {
    (await nextPoll()).answer(parts);
    const before = sets.length;
    await eventually(() => sets.length > before);
    return new Map(sets.at(-1)?.unanswered);
  };
  const given = { ...assignment('moved'), answeredUntil: 1_000 };
  const upsert = [given, assignment('fresh')];
  expect(await told({ revision: 1, full: true, upsert })).toEqual(new Map([['moved', 1_000]]));
  const edited = { ...assignment('moved', { name: 'edited' }), answeredUntil: 1_000 };
  expect(await told({ revision: 2, full: false, upsert: [edited] })).toEqual(new Map());
  // Another agent had it for a while.
  expect(await told({ revision: 3, full: false, remove: ['moved'] })).toEqual(new Map());
  const again = [{ ...given, answeredUntil: 9_000 }];
  expect(await told({ revision: 4, full: false, upsert: again })).toEqual(
    new Map([['moved', 9_000]]),
  );
});

it('does not treat its checks as new after a restart', async () => {
  const dataDir = folder();
  const given = { ...assignment('mine'), answeredUntil: 1_000 };
  const before = await startAgent(dataDir);
  await before.answered({ revision: 1, full: true, upsert: [given] });
  await before.stop();
  const { answered, sets } = await startAgent(dataDir);
  await answered({ revision: 1, full: true, upsert: [given] });
  expect(sets.map(({ unanswered }) => unanswered.size)).toEqual([0, 0]);
});

it('uses the certificates and pauses that it received last, also after a restart', async () => {
  const dataDir = folder();
  const settings = {
    clientCertificates: [{ host: 'a.example', cert: 'C', key: 'K', ca: null, passphrase: null }],
    pauses: [
      {
        startsAtMs: 0,
        endsAtMs: 1,
        repeatUnit: 'DAY' as const,
        repeatInterval: null,
        repeatEndsAtMs: null,
        tags: null,
      },
    ],
  };
  const unreadableVariables = ['SEALED'];
  const location = {
    slug: 'office',
    proxyUrl: null,
    variables: [],
    unreadableVariables,
    settings,
  };
  const upsert = [{ ...assignment('mine'), groupTags: ['nightly'] }];
  const before = await startAgent(dataDir);
  const next = await before.answered({ revision: 1, full: true, location, upsert });
  // null: unchanged.
  const other = [assignment('other')];
  const unchanged = { ...location, settings: null, variables: null, unreadableVariables: [] };
  next.answer({ revision: 2, location: unchanged, upsert: other });
  await before.nextPoll();
  expect(before.sets.at(-1)).toMatchObject({ ...settings, unreadableVariables });
  await before.stop();
  const after = await startAgent(dataDir);
  await eventually(() => after.sets.length > 0);
  expect(after.sets[0]).toMatchObject({ ...settings, unreadableVariables });
  expect(after.sets[0]?.groupTags).toEqual(new Map([['mine', ['nightly']]]));
  const none = { clientCertificates: [], pauses: [] };
  const readable = { ...location, unreadableVariables: [], settings: none };
  await after.answered({ revision: 3, location: readable });
  expect(after.sets.at(-1)).toMatchObject({ ...none, unreadableVariables: [] });
});

it('passes on the pages of an answer as one set, after the last page', async () => {
  const { answered, nextPoll, clock, sets, runs, source } = await startAgent();
  const second = await answered({
    revision: 5,
    full: true,
    upsert: [assignment('a')],
    runs: [oneOff('run-1', clock)],
    nextPage: 'page-2',
  });
  expect(second.asked).toMatchObject({ revision: 0, page: 'page-2' });
  expect(sets).toEqual([]);
  expect(runs).toEqual([]);
  expect(source.revision).toBe(0);
  second.answer({ revision: 5, full: true, upsert: [assignment('b')] });
  expect((await nextPoll()).asked).toMatchObject({ revision: 5, page: null });
  expect(sets.map(ids)).toEqual([['a', 'b']]);
  expect(runs.map(({ runId }) => runId)).toEqual(['run-1']);
});

it('requests a lost page again, and all pages if that fails', async () => {
  const { answered, nextPoll, pause, clock, sets } = await startAgent();
  const page = await answered({ full: true, upsert: [assignment('a')], nextPage: 'page-2' });
  page.cut();
  await clock.advance(await pause());
  const again = await nextPoll();
  expect(again.asked.page).toBe('page-2');
  again.fail(500);
  await clock.advance(await pause());
  const anew = await nextPoll();
  expect(anew.asked).toMatchObject({ page: null, revision: 0 });
  anew.answer({ full: true, upsert: [assignment('b')] });
  await nextPoll();
  expect(sets.map(ids)).toEqual([['b']]);
});

it('refuses checks that it cannot run, logs them once, and runs the others (trust model SN10)', async () => {
  const { answered, nextPoll, sets, logged } = await startAgent();
  const bad = assignment('bad');
  const newer = { ...bad, check: { ...bad.check, checkType: 'GOPHER' } };
  const second = await answered({ full: true, upsert: [newer, assignment('good')] });
  expect(ids(sets[0])).toEqual(['good']);
  expect(second.asked.refused).toEqual([
    { checkId: 'bad', problem: expect.stringContaining('checkType') },
  ]);
  second.answer({ revision: 2, upsert: [newer] });
  const third = await nextPoll();
  expect(third.asked.refused).toHaveLength(1);
  expect(logged('error')).toEqual([expect.objectContaining({ checkId: 'bad' })]);
  third.answer({ revision: 3, upsert: [bad] });
  expect((await nextPoll()).asked.refused).toEqual([]);
  expect(ids(sets.at(-1))).toEqual(['bad', 'good']);
});

it('rejects an answer with slots less than a second apart, and continues with its checks (trust model SN10)', async () => {
  const { answered, nextPoll, pause, clock, sets, logged } = await startAgent();
  const next = await answered({ full: true, upsert: [assignment('a')] });
  const often = { ...assignment('b'), slots: { ...SLOTS, periodMs: 999, phaseMs: 0 } };
  next.answer({ revision: 2, upsert: [often] });
  await clock.advance(await pause());
  expect((await nextPoll()).asked).toMatchObject({ revision: 1 });
  expect(sets.map(ids)).toEqual([['a']]);
  expect(logged('warn')).toEqual([
    expect.objectContaining({ kind: 'failed', msg: expect.stringContaining('periodMs') }),
  ]);
});

it('logs 20 of the checks that it cannot run one by one, and the number of the others', async () => {
  const { answered, logged } = await startAgent();
  const upsert = Array.from({ length: 23 }, (_, n) => {
    const bad = assignment(`bad-${n}`);
    return { ...bad, check: { ...bad.check, checkType: 'GOPHER' } };
  });
  const next = await answered({ full: true, upsert });
  const errors = logged('error');
  expect(errors.slice(0, 20).map(({ checkId }) => checkId)).toEqual(
    upsert.slice(0, 20).map(({ checkId }) => checkId),
  );
  expect(errors.slice(20)).toEqual([
    expect.objectContaining({ checks: 3, msg: 'more assigned checks cannot be run here' }),
  ]);
  // The service hears of all of them.
  expect(next.asked.refused).toHaveLength(23);
});

it('ignores unknown fields, and logs them once', async () => {
  const { answered, nextPoll, sets, logged } = await startAgent();
  const plain = assignment('a');
  const newer = { ...plain, check: { ...plain.check, newField: 1 } };
  const second = await answered({ full: true, upsert: [newer] });
  second.answer({ revision: 2, upsert: [newer] });
  await nextPoll();
  expect(sets[1]?.checks).toEqual([checkOf('TCP', { id: 'a' })]);
  expect(logged('warn')).toEqual([expect.objectContaining({ fields: ['newField'] })]);
});

it('passes on a one-off run once, and reports to the service when it is done', async () => {
  const { answered, nextPoll, clock, runs, source } = await startAgent();
  const named = { runs: [oneOff('run-1', clock)] };
  const second = await answered(named);
  expect(runs).toEqual([expect.objectContaining({ runId: 'run-1', reason: 'requested' })]);
  expect(runs[0]?.check).toEqual(checkOf('TCP', { id: 'asked-for' }));
  // It ends while a poll is held that cannot say so any more.
  source.done('run-1');
  source.done('never-heard-of');
  second.answer(named);
  const third = await nextPoll();
  expect(third.asked.done).toEqual(['run-1']);
  third.answer({});
  expect((await nextPoll()).asked.done).toEqual([]);
  expect(runs).toHaveLength(1);
});

it('passes on that a run was cancelled, after the run itself', async () => {
  const { answered, nextPoll, clock, runs, cancelled } = await startAgent();
  const second = await answered({
    runs: [oneOff('run-1', clock)],
    cancelledRuns: ['run-1', 'of-an-earlier-process'],
  });
  expect(runs).toHaveLength(1);
  expect(cancelled).toEqual(['run-1']);
  expect(second.asked.done).toEqual(['of-an-earlier-process']);
  second.answer({});
  await nextPoll();
});

it('reports again that a run is done if the poll was lost', async () => {
  const { answered, nextPoll, pause, clock, source } = await startAgent();
  const second = await answered({ runs: [oneOff('run-1', clock)] });
  source.done('run-1');
  second.answer({});
  (await nextPoll()).cut();
  await clock.advance(await pause());
  expect((await nextPoll()).asked.done).toEqual(['run-1']);
});

it('refuses a run that it cannot read, and reports it as done', async () => {
  const { answered, clock, runs } = await startAgent();
  const run = oneOff('run-1', clock);
  const next = await answered({ runs: [{ ...run, check: { ...run.check, checkType: 'GOPHER' } }] });
  expect(runs).toEqual([]);
  expect(next.asked).toMatchObject({ done: ['run-1'], refused: [{ checkId: 'asked-for' }] });
});

it('continues after a restart while the service is away, as the same agent', async () => {
  const dataDir = folder();
  const first = await startAgent(dataDir);
  const next = await first.answered({ full: true, upsert: [assignment('a'), assignment('b')] });
  await first.stop();
  await first.stub.close().catch(() => {});

  const again = await startAgent(dataDir, first.stub.url);
  expect(again.sets.map(ids)).toEqual([['a', 'b']]);
  expect(again.sets[0]).toEqual(first.sets[0]);
  expect(again.source.lastSet).toEqual(first.sets[0]);
  expect(again.source.agentId).toBe(next.asked.agentId);
  await again.pause();
  expect(again.logged('warn')).toEqual([
    expect.objectContaining({
      kind: 'offline',
      msg: expect.stringContaining('continuing with the previous checks'),
    }),
  ]);
});

it('requests all checks after a restart, as a new process', async () => {
  const dataDir = folder();
  const first = await startAgent(dataDir);
  const before = await first.answered({
    revision: 8,
    epoch: 3,
    full: true,
    upsert: [assignment('a')],
  });
  await first.stop();

  const again = await startAgent(dataDir);
  const poll = await again.nextPoll();
  expect(poll.asked).toMatchObject({ agentId: before.asked.agentId, revision: 0, epoch: 0 });
  expect(poll.asked.instanceId).not.toBe(before.asked.instanceId);
  poll.answer({ full: true, upsert: [assignment('b')] });
  await again.nextPoll();
  expect(again.sets.map(ids)).toEqual([['a'], ['b']]);
});

it('saves a change to disk within a second', async () => {
  const dataDir = folder();
  const { answered, clock } = await startAgent(dataDir);
  await answered({ full: true, upsert: [assignment('a')] });
  expect(readdirSync(dataDir)).toEqual(['agent-id']);
  await clock.advance(1000);
  await eventually(() => readdirSync(dataDir).includes('assignments.json'));
  expect((await kept(dataDir)).assignments.map(({ check }) => check.id)).toEqual(['a']);
});

const given = (id: string) => ({ ...assignment(id), answeredUntil: 1_000 });

it('saves new checks to disk before it polls again', async () => {
  const dataDir = folder();
  const { answered } = await startAgent(dataDir);
  await answered({ full: true, upsert: [given('a')] });
  expect((await kept(dataDir)).assignments.map(({ check }) => check.id)).toEqual(['a']);
});

it('saves new checks at most once a second, and polls again after that', async () => {
  const dataDir = folder();
  const { answered, clock, nextPoll } = await startAgent(dataDir);
  const second = await answered({ full: true, upsert: [given('a')] });
  second.answer({ revision: 2, upsert: [given('b')] });
  // Two wait for the second to be over, and one for a third of the lease.
  await eventually(() => clock.pendingTimers === 3);
  expect(clock.nextTimerInMs).toBeGreaterThan(REST_MS);
  expect((await kept(dataDir)).assignments.map(({ check }) => check.id)).toEqual(['a']);
  await clock.advance(1_000);
  await nextPoll();
  expect((await kept(dataDir)).assignments.map(({ check }) => check.id)).toEqual(['a', 'b']);
});

it('polls again after a third of the lease if the disk hangs', async () => {
  const dataDir = folder();
  const { answered, clock, nextPoll, logged } = await startAgent(dataDir);
  const second = await answered({ full: true, upsert: [given('a')] });
  // Opening a pipe for writing waits for a reader.
  const pipe = join(dataDir, 'assignments.json.new');
  execFileSync('mkfifo', [pipe]);
  onTestFinished(async () => void (await readFile(pipe)));
  await clock.advance(1_000);
  second.answer({ revision: 2, upsert: [given('b')] });
  await eventually(() => (clock.nextTimerInMs ?? 0) > REST_MS);
  await clock.advance(LEASE_MS / 3);
  await nextPoll();
  expect(logged('warn').map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining('the disk is slow'),
  );
});

it('polls again if the disk refuses new checks', async () => {
  const dataDir = folder();
  mkdirSync(join(dataDir, 'assignments.json', 'in the way'), { recursive: true });
  const { answered, sets, logged } = await startAgent(dataDir);
  const second = await answered({ full: true, upsert: [given('a')] });
  second.answer({ revision: 2, upsert: [given('b')] });
  await eventually(() => sets.length === 2);
  expect(logged('warn')).toContainEqual(
    expect.objectContaining({ msg: expect.stringContaining('cannot be saved to disk') }),
  );
});

/** The files of an agent that had two checks. */
async function leave(
  dataDir: string,
  upsert = [assignment('a'), assignment('b')],
): Promise<string> {
  const { answered, stop } = await startAgent(dataDir);
  await answered({ full: true, upsert });
  await stop();
  return `${dataDir}/assignments.json`;
}

const bytesOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

it.each<[string, (lines: readonly string[]) => string]>([
  ['is empty', () => ''],
  ['has no line but the first', (lines) => bytesOf(lines.slice(0, 1))],
  ['is cut between two lines', (lines) => bytesOf(lines.slice(0, -1))],
  ['is cut within a line', (lines) => bytesOf(lines).slice(0, -20)],
  ['has a line twice', (lines) => bytesOf([...lines, lines.at(-1) ?? ''])],
  ['has lines in another order', ([a, b, c, d]) => bytesOf([a, b, d, c].map(String))],
  [
    'has a changed line',
    ([a, b, ...rest]) => bytesOf([String(a), String(b), ...rest.map(flipped)]),
  ],
  ['is not sealed', () => '{"format":1,"location":"office","assignments":[]}'],
  ['is of a newer release', (lines) => bytesOf(['{"format":3}', ...lines.slice(1)])],
])('sets the saved assignments aside if their file %s', async (_how, change) => {
  const dataDir = folder();
  const file = await leave(dataDir);
  writeFileSync(file, change(readFileSync(file, 'utf8').trimEnd().split('\n')));
  const { sets, source, logged, answered } = await startAgent(dataDir);
  expect(source.lastSet).toBeNull();
  expect(logged('warn')).toEqual([expect.objectContaining({ movedTo: `${file}.damaged` })]);
  await answered({ full: true, upsert: [assignment('a')] });
  expect(sets.map(ids)).toEqual([['a']]);
});

function flipped(line: string): string {
  return line.slice(0, 60) + (line[60] === 'A' ? 'B' : 'A') + line.slice(61);
}

/** Changes a line of what an agent left, and seals it as the agent does. */
async function rewriteLine(file: string, index: number, from: string, to: string): Promise<void> {
  const box = assignmentsBox(KEY);
  const lines: string[] = [];
  for await (const line of unseal(file, box)) lines.push(line);
  expect(lines[index]).toContain(from);
  lines[index] = String(lines[index]).replace(from, to);
  await writeFile(file, seal(lines, box));
}

const MIB = 1024 * 1024;
const OTHER_FORM = 'it is not of the form that this release writes';

it.each<[string, string, (file: string) => Promise<void>]>([
  [
    'is longer than 384 MiB',
    'it is longer than 402653184 bytes',
    // A sparse file, which takes no space on the disk.
    (file) => truncate(file, 384 * MIB + 1),
  ],
  [
    'has a line of more than 16 MiB',
    'a line of it is longer than 16777216 bytes',
    (file) => truncate(file, statSync(file).size + 16 * MIB + 1),
  ],
  ['has no location', OTHER_FORM, (file) => rewriteLine(file, 0, '"location"', '"place"')],
  ['has a line of another kind', OTHER_FORM, (file) => rewriteLine(file, 1, '"check"', '"group"')],
])(
  'says why it puts the last assignments aside where their file %s',
  async (_how, reason, change) => {
    const dataDir = folder();
    const file = await leave(dataDir);
    await change(file);
    const { sets, source, logged, answered } = await startAgent(dataDir);
    expect(source.lastSet).toBeNull();
    expect(logged('warn')).toEqual([
      expect.objectContaining({ reason, movedTo: `${file}.damaged` }),
    ]);
    await answered({ full: true, upsert: [assignment('c')] });
    expect(sets.map(ids)).toEqual([['c']]);
  },
);

it.each([
  ['is of a type that it does not know', '"TCP"', '"GOPHER"'],
  ['has no slots', '"slots"', '"times"'],
])('leaves out a saved check that %s, and logs it', async (_how, from, to) => {
  const dataDir = folder();
  const file = await leave(dataDir);
  await rewriteLine(file, 2, from, to);
  const { sets, logged } = await startAgent(dataDir);
  expect(sets.map(ids)).toEqual([['a']]);
  expect(logged('warn')).toEqual([
    expect.objectContaining({ checks: 1, msg: 'saved checks cannot be read by this release' }),
  ]);
});

it('saves nothing to disk that could be read without the key', async () => {
  const dataDir = folder();
  const planted = 'planted-7f3a';
  const check = checkOf('API', {
    id: 'a',
    name: `${planted}-name`,
    request: { headers: [{ key: 'X-Token', value: `${planted}-header` }] },
    variables: [{ key: 'OWN', value: `${planted}-own`, secret: true }],
  });
  const upsert = [assignmentMessageOf({ check, slots: SLOTS, answeredUntil: null, groupTags: [] })];
  const certificate = {
    host: 'a.example',
    cert: 'C',
    key: `${planted}-key`,
    ca: null,
    passphrase: null,
  };
  const location = {
    slug: 'office',
    proxyUrl: `http://me:${planted}-proxy@proxy.example:3128`,
    variables: [{ key: 'A', value: `${planted}-given`, secret: true }],
    unreadableVariables: [],
    settings: { clientCertificates: [certificate], pauses: [] },
  };
  const before = await startAgent(dataDir);
  await before.answered({ full: true, upsert, location });
  await before.stop();
  await before.stub.close().catch(() => {});

  for (const name of readdirSync(dataDir)) {
    const bytes = readFileSync(join(dataDir, name));
    expect(statSync(join(dataDir, name)).mode & 0o077).toBe(0);
    for (let shift = 0; shift < 3; shift += 1) {
      const base64 = Buffer.from('x'.repeat(shift) + planted)
        .toString('base64')
        .slice(4, 12);
      expect(bytes.includes(base64)).toBe(false);
    }
    expect(bytes.includes(planted)).toBe(false);
    const decoded = Buffer.from(bytes.toString('latin1'), 'base64');
    expect(decoded.includes(planted)).toBe(false);
  }
  // The agent uses it nevertheless, while its service is away.
  const after = await startAgent(dataDir, before.stub.url);
  expect(after.sets).toEqual([before.sets[0]]);
  expect(after.sets[0]).toMatchObject({
    checks: [check],
    variables: location.variables,
    proxyUrl: location.proxyUrl,
    clientCertificates: [certificate],
  });
});

it('ignores assignments that were encrypted with another key, logs it, and keeps the file until there are new ones', async () => {
  const dataDir = folder();
  const file = await leave(dataDir);
  const sealed = readFileSync(file);
  const { source, logged, answered, stop } = await startAgent(dataDir, undefined, () => OTHER_KEY);
  expect(source.lastSet).toBeNull();
  expect(logged('warn').map(({ msg }) => msg)).toEqual([
    'the last assignments were sealed with another location key, so checks run once the service answers',
  ]);
  source.keyChanged();
  expect(readFileSync(file)).toEqual(sealed);
  await answered({ full: true, upsert: [assignment('c')] });
  await stop();
  expect(readdirSync(dataDir).sort()).toEqual(['agent-id', 'assignments.json']);
  expect((await kept(dataDir, OTHER_KEY)).assignments).toHaveLength(1);
});

it('encrypts the saved assignments again when the key changes', async () => {
  const dataDir = folder();
  let key = KEY;
  const { answered, clock, source } = await startAgent(dataDir, undefined, () => key);
  await answered({ full: true, upsert: [assignment('a')] });
  await clock.advance(1000);
  await eventually(() => readdirSync(dataDir).includes('assignments.json'));
  const before = readFileSync(`${dataDir}/assignments.json`);
  key = OTHER_KEY;
  source.keyChanged();
  // At once, or after the write in progress.
  await eventually(() => (clock.nextTimerInMs ?? Number.POSITIVE_INFINITY) <= 1000);
  await clock.advance(1000);
  await eventually(() => !readFileSync(`${dataDir}/assignments.json`).equals(before));
  expect((await kept(dataDir, OTHER_KEY)).assignments).toHaveLength(1);
  await expect(kept(dataDir, KEY)).rejects.toMatchObject({ code: 'ASSIGNMENTS_OF_OTHER_KEY' });
});

it('saves many checks of any size unchanged', async () => {
  const dataDir = folder();
  const body = 'é\n"'.repeat(100_000);
  const upsert = Array.from({ length: 500 }, (_, n) =>
    assignment(`check-${n}`, { description: `${n}` }),
  );
  const long = checkOf('API', { id: 'long', request: { body } });
  upsert.push(
    assignmentMessageOf({ check: long, slots: SLOTS, answeredUntil: null, groupTags: [] }) as never,
  );
  await leave(dataDir, upsert);
  const { assignments } = await kept(dataDir);
  expect(assignments.map(assignmentMessageOf)).toEqual(upsert);
});

it('creates a new agent id if the file of the old one has none', async () => {
  const dataDir = folder();
  writeFileSync(`${dataDir}/agent-id`, 'two words\n');
  const { source, logged } = await startAgent(dataDir);
  expect(source.agentId).toMatch(/^[0-9a-f-]{36}$/);
  expect(readFileSync(`${dataDir}/agent-id`, 'utf8')).toBe(`${source.agentId}\n`);
  expect(logged('warn')).toHaveLength(1);
});

it('works if DATA_DIR is not writable', async () => {
  const file = `${folder()}/file`;
  writeFileSync(file, '');
  const { answered, stop, sets, logged } = await startAgent(file);
  await answered({ full: true, upsert: [assignment('a')] });
  await stop();
  expect(sets.map(ids)).toEqual([['a']]);
  expect(logged('warn').map(({ msg }) => msg)).toContainEqual(
    expect.stringContaining('cannot be saved to disk'),
  );
});

it('waits longer after each failure, up to half a minute, and logs once what is wrong', async () => {
  const { nextPoll, pause, clock, logged } = await startAgent();
  const pauses: number[] = [];
  for (let failure = 0; failure < 8; failure += 1) {
    (await nextPoll()).fail(500);
    pauses.push(await pause());
    await clock.advance(pauses.at(-1) ?? 0);
  }
  for (const [index, wholeMs] of [1, 2, 4, 8, 16, 30, 30, 30].map((s) => s * 1000).entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(wholeMs / 2);
    expect(pauses[index]).toBeLessThanOrEqual(wholeMs);
  }
  (await nextPoll()).answer({});
  await nextPoll();
  expect(logged('warn').map(({ msg }) => msg)).toEqual([
    expect.stringContaining('as the test says'),
    'the service answers polls again',
  ]);
});

it('waits only shortly again once the service has answered', async () => {
  const { nextPoll, answered, pause, clock } = await startAgent();
  for (let failure = 0; failure < 5; failure += 1) {
    (await nextPoll()).fail(500);
    await clock.advance(await pause());
  }
  (await answered({})).fail(500);
  expect(await pause()).toBeLessThanOrEqual(1000);
});

it('polls no sooner than a busy service asks for', async () => {
  const { nextPoll, pause } = await startAgent();
  (await nextPoll()).fail(429, {}, { 'retry-after': '17' });
  const pauseMs = await pause();
  expect(pauseMs).toBeGreaterThanOrEqual(17_000);
  expect(pauseMs).toBeLessThanOrEqual(18_000);
});

it('polls after five minutes and at most half a second, whatever the service asks for (trust model SC10)', async () => {
  const { nextPoll, pause } = await startAgent();
  (await nextPoll()).fail(503, {}, { 'retry-after': '999999999' });
  const pauseMs = await pause();
  expect(pauseMs).toBeGreaterThanOrEqual(300_000);
  expect(pauseMs).toBeLessThanOrEqual(300_500);
});

it('polls about once a minute while its key is refused, and continues when it is accepted again', async () => {
  const { nextPoll, answered, pause, clock, sets, logged } = await startAgent();
  for (const status of [401, 403]) {
    (await nextPoll()).fail(status);
    const pauseMs = await pause();
    expect(pauseMs).toBeGreaterThanOrEqual(30_000);
    expect(pauseMs).toBeLessThanOrEqual(60_000);
    await clock.advance(pauseMs);
  }
  await answered({ full: true });
  expect(sets).toHaveLength(1);
  expect(logged('error')).toEqual([
    expect.objectContaining({ kind: 'unauthorized', msg: expect.stringContaining('API_KEY') }),
  ]);
});

it.each([
  ['99', 'agent'],
  ['1', 'service'],
])('logs what to upgrade if the protocol differs', async (supported, upgrade) => {
  const { nextPoll, pause, logged } = await startAgent();
  const mismatch = protocolMismatchOf(supported === '1' ? '2' : 'none');
  (await nextPoll()).fail(426, mismatch?.attributes);
  const pauseMs = await pause();
  expect(pauseMs).toBeGreaterThanOrEqual(150_000);
  expect(pauseMs).toBeLessThanOrEqual(300_000);
  expect(logged('error')).toEqual([expect.objectContaining({ kind: 'mismatch', upgrade })]);
});

it('requests all checks if the service refuses its request', async () => {
  const { answered, nextPoll, pause, clock } = await startAgent();
  (await answered({ revision: 7, full: true })).fail(400);
  await clock.advance(await pause());
  expect((await nextPoll()).asked.revision).toBe(0);
});

it('ends if another process has taken over its id', async () => {
  const { answered, watching, source } = await startAgent();
  (await answered({})).fail(409, { reason: 'replaced' });
  await expect(watching).rejects.toMatchObject({
    kind: 'config',
    code: 'AGENT_REPLACED',
    message: expect.stringContaining(source.agentId),
  });
});

it('runs nothing after an operator ended it, logs it once, and continues when it is allowed again (trust model SC8)', async () => {
  const { answered, nextPoll, pause, sets, clock, logged, source } = await startAgent();
  const first = { epoch: 3, revision: 5, full: true, upsert: [assignment('a')] };
  (await answered(first)).fail(409, { reason: 'ended' });
  for (let poll = 1; poll <= 2; poll += 1) {
    const pauseMs = await pause();
    expect(pauseMs).toBeGreaterThanOrEqual(30_000);
    expect(pauseMs).toBeLessThanOrEqual(60_000);
    expect(sets.map(ids)).toEqual([['a'], []]);
    expect(source.epoch).toBe(0);
    await clock.advance(pauseMs);
    const refused = await nextPoll();
    expect(refused.asked).toMatchObject({ epoch: 0, revision: 0 });
    if (poll === 1) refused.fail(409, { reason: 'ended' });
    else refused.answer({ ...first, epoch: 4 });
  }
  await nextPoll();
  expect(logged('error')).toEqual([
    expect.objectContaining({
      kind: 'ended',
      msg: expect.stringMatching(/^this agent has no checks/),
    }),
  ]);
  expect(sets.map(ids)).toEqual([['a'], [], ['a']]);
});

it('accepts an empty set of checks from the last answer under its lease', async () => {
  const { answered, sets, source, logged } = await startAgent();
  const next = await answered({ epoch: 3, revision: 5, full: true, upsert: [assignment('a')] });
  next.answer({ epoch: 0, revision: 0, full: true, upsert: [] });
  const refused = await answered({});
  expect(refused.asked).toMatchObject({ revision: 1 });
  expect(sets.map(ids).slice(0, 2)).toEqual([['a'], []]);
  expect(logged('info').map(({ msg }) => msg)).not.toContain(
    'the lease had expired; the agent has a new one',
  );
  expect(source.epoch).toBe(1);
});

it('does not continue its last checks if it was ended while it was away', async () => {
  const dataDir = folder();
  const before = await startAgent(dataDir);
  await before.answered({ full: true, upsert: [assignment('a')] });
  await before.stop();
  const { nextPoll, sets, stop } = await startAgent(dataDir);
  const refused = await nextPoll();
  expect(sets.map(ids)).toEqual([['a']]);
  refused.fail(409, { reason: 'ended' });
  await eventually(() => sets.length === 2);
  expect(ids(sets[1])).toEqual([]);
  await stop();
  expect((await kept(dataDir))?.assignments).toEqual([]);
});

it('continues and polls again if the location accepts no more agents', async () => {
  const { answered, pause, sets } = await startAgent();
  const poll = await answered({ full: true, upsert: [assignment('a')] });
  poll.fail(409, { reason: 'too_many_agents', limit: 100 });
  expect(await pause()).toBeLessThanOrEqual(30_000);
  expect(sets.map(ids)).toEqual([['a']]);
});

it('cancels a poll in time to keep its lease', async () => {
  const { answered, nextPoll, pause, clock } = await startAgent();
  const held = await answered({ leaseMs: 6000 });
  expect(clock.nextTimerInMs).toBe(4000);
  await clock.advance(4000);
  await eventually(() => held.isGivenUp);
  await clock.advance(await pause());
  await nextPoll();
});

it('does not poll at once again if the service answers polls at once', async () => {
  const { nextPoll, pause } = await startAgent();
  (await nextPoll()).answer({});
  expect(await pause()).toBeGreaterThan(0);
});

it('logs once an hour that the clocks differ, and uses its own (trust model SN21)', async () => {
  const { answered, nextPoll, clock, runs, logged } = await startAgent();
  const aheadMs = 60_000;
  const serverTime = (): number => clock.wallMs() + aheadMs;
  const notAfter = serverTime() + 600_000;
  const run = oneOff('run-1', clock, { notBefore: serverTime() + 1000, notAfter });
  const second = await answered({ serverTime: serverTime(), runs: [run] });
  expect(runs[0]).toMatchObject({
    notBefore: run.notBefore === null ? null : run.notBefore - aheadMs,
    notAfter: notAfter - aheadMs,
  });
  second.answer({ serverTime: serverTime() });
  const third = await nextPoll();
  expect(logged('warn')).toEqual([
    expect.objectContaining({ offsetMs: -aheadMs, msg: expect.stringContaining('60 s behind') }),
  ]);
  third.answer({ serverTime: clock.wallMs() - 4000 });
  await nextPoll();
  expect(logged('warn')).toHaveLength(1);
});

it('logs that its clock is ahead, and shifts the deadline of a one-off run', async () => {
  const { answered, clock, runs, logged } = await startAgent();
  const behindMs = 90_000;
  const serverTime = clock.wallMs() - behindMs;
  const run = oneOff('run-1', clock, { notBefore: null, notAfter: serverTime + 600_000 });
  await answered({ serverTime, runs: [run] });
  expect(runs).toEqual([
    expect.objectContaining({
      runId: 'run-1',
      notBefore: null,
      notAfter: run.notAfter + behindMs,
    }),
  ]);
  expect(logged('warn')).toEqual([
    expect.objectContaining({
      offsetMs: behindMs,
      msg: expect.stringContaining("this machine's clock is 90 s ahead of the service's"),
    }),
  ]);
});

it('logs that it has a lease again if the previous one had expired', async () => {
  const { answered, nextPoll, source, logged } = await startAgent();
  const anew = { msg: 'the lease had expired; the agent has a new one' };
  const second = await answered({ epoch: 4 });
  second.answer({ epoch: 4 });
  const third = await nextPoll();
  expect(logged('info')).not.toContainEqual(expect.objectContaining(anew));
  third.answer({ epoch: 5 });
  expect((await nextPoll()).asked.epoch).toBe(5);
  expect(source.epoch).toBe(5);
  expect(logged('info')).toContainEqual(expect.objectContaining({ epoch: 5, ...anew }));
});

it('does not take a held poll for a wrong clock', async () => {
  const { answered, nextPoll, clock, logged } = await startAgent();
  const held = await answered({ leaseMs: 60_000 });
  const serverTime = clock.wallMs();
  await clock.advance(20_000);
  held.answer({ serverTime });
  await nextPoll();
  expect(logged('warn')).toEqual([]);
});

it('returns its lease when no poll is in flight any more', async () => {
  const { answered, stop, source, stub, clock } = await startAgent();
  const named = { epoch: 6, runs: [oneOff('run-1', clock)] };
  const held = await answered(named);
  source.done('run-1');
  const stopped = stop();
  const released = source.release(new AbortController().signal);
  await eventually(() => stub.releases.length > 0);
  expect(held.isGivenUp).toBe(true);
  expect(stub.releases[0]?.asked).toEqual({ agentId: source.agentId, epoch: 6, done: ['run-1'] });
  stub.releases[0]?.answer({ released: true });
  await released;
  await stopped;
  expect(source.epoch).toBe(0);
});

it('logs it if the service had already taken its lease back', async () => {
  const { answered, stop, source, stub, logged } = await startAgent();
  await answered({ epoch: 6 });
  await stop();
  const released = source.release(new AbortController().signal);
  await eventually(() => stub.releases.length > 0);
  stub.releases[0]?.answer({ released: false });
  await released;
  const infos = logged('info').map(({ msg }) => msg);
  expect(infos).toContain('there were no checks to release');
  expect(infos).not.toContain('released the checks');
  expect(source.epoch).toBe(0);
});

it('returns nothing if it never had a lease', async () => {
  const { nextPoll, stop, source, stub } = await startAgent();
  await nextPoll();
  await stop();
  await source.release(new AbortController().signal);
  expect(stub.releases).toEqual([]);
});

it('lets the lease expire if it cannot be returned', async () => {
  const { answered, stop, source, stub, logged } = await startAgent();
  await answered({});
  await stop();
  const released = source.release(new AbortController().signal);
  await eventually(() => stub.releases.length > 0);
  stub.releases[0]?.cut();
  await released;
  expect(logged('warn')).toEqual([expect.objectContaining({ kind: 'offline' })]);
});

it('stops returning its lease at the time limit while the disk does not answer', async () => {
  const dataDir = folder();
  // Whoever opens it to write waits for a reader.
  const pipe = join(dataDir, 'assignments.json.new');
  const { answered, source, stub, logged, end } = await startAgent(dataDir);
  await answered({ full: true, upsert: [assignment('a')] });
  execFileSync('mkfifo', [pipe]);
  end();
  const limit = new AbortController();
  const released = source.release(limit.signal);
  limit.abort();
  await released;
  expect(stub.releases).toEqual([]);
  expect(logged('warn')).toEqual([
    expect.objectContaining({ msg: expect.stringMatching('lease') }),
  ]);
  const reader = await open(pipe, 'r');
  await source.ended();
  await reader.close();
});

describe('an agent that was suspended', () => {
  const ANSWERED_MS = 1_000_000;
  const held = (id: string, answeredUntil: number | null) => ({ ...assignment(id), answeredUntil });

  /** An agent that has its checks and a poll in progress. */
  async function running() {
    const agent = await startAgent();
    const upsert = [held('stays', null), held('back', ANSWERED_MS), held('gone', null)];
    const open = await agent.answered({ full: true, upsert });
    return { ...agent, open };
  }

  it('polls again if its lease expired meanwhile, and then knows which checks it has', async () => {
    const { clock, source, nextPoll, sets, open } = await running();
    await clock.advance(1_000);
    const since = momentOf(clock);
    clock.spend(LEASE_MS);
    let isKnown: boolean = false;
    const asked = source.pollForAssignments(since)?.then(() => {
      isKnown = true;
    });
    // The answer to the poll in progress may be from before the suspension.
    const poll = await nextPoll();
    await eventually(() => open.isGivenUp);
    expect(isKnown).toBe(false);
    // Revision 0: a service that has not noticed the end of the lease would hold another poll.
    expect(poll.asked).toMatchObject({ revision: 0, epoch: 1, page: null });
    const upsert = [held('stays', null), held('back', ANSWERED_MS + 5_000)];
    poll.answer({ epoch: 2, revision: 2, full: true, upsert });
    await asked;
    expect(sets.map(ids)).toEqual([
      ['back', 'gone', 'stays'],
      ['back', 'stays'],
    ]);
    expect(sets.at(-1)).toMatchObject({
      unanswered: new Map(),
      answered: new Map([['back', ANSWERED_MS + 5_000]]),
    });
    // It has a lease again.
    expect(source.pollForAssignments(momentOf(clock))).toBeNull();
    expect(source.pollForAssignments(since)).toBeInstanceOf(Promise);
  });

  it('waits for all pages of the answer, polls again if there is none, and stops waiting if it is refused', async () => {
    const { clock, source, nextPoll, pause } = await running();
    const since = momentOf(clock);
    clock.suspend(LEASE_MS + 1);
    const known: string[] = [];
    void source.pollForAssignments(since)?.then(() => known.push('whole'));
    (await nextPoll()).answer({ epoch: 2, full: true, upsert: [held('a', null)], nextPage: 'two' });
    const second = await nextPoll();
    expect(known).toEqual([]);
    second.answer({ epoch: 2, full: true, upsert: [held('b', null)] });
    await eventually(() => known.length > 0);

    const again = momentOf(clock);
    clock.spend(LEASE_MS + 1);
    void source.pollForAssignments(again)?.then(() => known.push('refused'));
    (await nextPoll()).cut();
    await clock.advance(await pause());
    const next = await nextPoll();
    expect(known).toEqual(['whole']);
    next.fail(401);
    await eventually(() => known.length > 1);
    expect(known).toEqual(['whole', 'refused']);
  });

  it('requests all pages again if it was suspended between two of them', async () => {
    const { clock, source, nextPoll, open, sets } = await running();
    open.answer({ full: true, upsert: [held('a', null)], nextPage: 'two' });
    const second = await nextPoll();
    const since = momentOf(clock);
    // A virtual machine that was paused: its clocks know nothing of it.
    clock.stepWall(LEASE_MS + 1);
    const asked = source.pollForAssignments(since);
    await eventually(() => second.isGivenUp);
    const first = await nextPoll();
    expect(first.asked).toMatchObject({ revision: 0, page: null });
    first.answer({ epoch: 2, full: true, upsert: [held('b', null)] });
    await asked;
    expect(sets.slice(1).map(ids)).toEqual([['b']]);
  });

  it('polls again if its lease expires while it reads the answer, and not later', async () => {
    const { clock, source, nextPoll, pause, open } = await running();
    const since = momentOf(clock);
    clock.spend(LEASE_MS + 1);
    open.cut();
    await clock.advance(await pause());
    const first = await nextPoll();
    first.answer({ epoch: 2, full: true, upsert: [held('a', null)], nextPage: 'two' });
    const second = await nextPoll();
    let isKnown: boolean = false;
    const asked = source.pollForAssignments(since)?.then(() => {
      isKnown = true;
    });
    await eventually(() => second.isGivenUp);
    expect(isKnown).toBe(false);
    const poll = await nextPoll();
    poll.answer({ epoch: 2, full: true, upsert: [held('a', null)] });
    await asked;
    const later = await nextPoll();
    // The agent knows everything already.
    await source.pollForAssignments(since);
    expect(later.isGivenUp).toBe(false);
  });

  it('does not poll again while its lease is valid, nor if the service was already away', async () => {
    const { clock, source, open, pause } = await running();
    const since = momentOf(clock);
    clock.spend(LEASE_MS - 1_000);
    expect(source.pollForAssignments(since)).toBeNull();
    open.cut();
    await pause();
    clock.spend(2_000);
    const later = momentOf(clock);
    clock.spend(LEASE_MS);
    expect(source.pollForAssignments(later)).toBeNull();
    // Once for each standstill, so that slots that were due before its end do not wait in vain.
    expect(source.pollForAssignments(since)).not.toBeNull();
  });

  it('does not poll any more once it is stopped', async () => {
    const { clock, source, stop, nextPoll } = await running();
    const since = momentOf(clock);
    clock.spend(LEASE_MS + 1);
    void source.pollForAssignments(since);
    await nextPoll();
    await stop();
  });
});
