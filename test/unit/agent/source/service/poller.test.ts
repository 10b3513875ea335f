import { expect, it } from 'vitest';
import type { CheckSet } from '../../../../../src/agent/source/check-source.ts';
import { createServiceSource } from '../../../../../src/agent/source/service/service-source.ts';
import { assignmentMessageOf, oneOffMessageOf } from '../../../../../src/wire/v1/assignment.ts';
import {
  type PollRequest,
  type PollResponse,
  pollRequestSchema,
} from '../../../../../src/wire/v1/poll.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { checkOf } from '../../../../support/samples/checks.ts';
import { answerOf } from '../../../../support/service/service-stub.ts';

const MAX_PAGES = 1_000;

const assignment = (id: string) =>
  assignmentMessageOf({
    check: checkOf('TCP', { id }),
    slots: { periodMs: 60_000, phaseMs: 6_000, stride: 2, index: 1 },
    answeredUntil: null,
    groupTags: [],
  });

const HALF_SENT = assignment('half-sent');

interface Page {
  readonly answer: Partial<PollResponse>;
  readonly bytes?: number;
}

/** All checks, then a change in more pages than are accepted, then the change in one page. */
function answerTo(poll: number): Partial<PollResponse> {
  if (poll === 1) return { full: true, upsert: [assignment('a')] };
  const isPage = poll <= 1 + MAX_PAGES;
  return isPage
    ? { revision: 2, upsert: [HALF_SENT], nextPage: `page-${poll - 1}` }
    : { revision: 2, upsert: [assignment('b')] };
}

/** A source whose polls get the scripted answers in order, numbered from 1. */
async function startSource(
  answerOfPoll: (poll: number) => Page,
  onRun: (checkId: string) => void = () => {},
) {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const polls: PollRequest[] = [];
  // Not over HTTP, where a thousand pages take seconds.
  const source = await createServiceSource({
    client: {
      key: 'the key',
      async post(_path, body, { schema }) {
        polls.push(pollRequestSchema.parse(body));
        const { answer, bytes = 100 } = answerOfPoll(polls.length);
        return { ok: true, value: schema.parse(answerOf(clock, answer)), bytes };
      },
    },
    dataDir: null,
    capabilities: { types: ['TCP'], ipv6: false, icmp: true, capture: false },
    concurrency: 1,
    load: () => ({ running: 0, queued: 0 }),
    health: () => ({
      maxLatenessMs: null,
      missedSlots: 0,
      spoolRecords: 0,
      spoolBytes: 0,
      spoolOldestMs: null,
    }),
    version: '1.2.3',
    clock,
    log,
    onTrialRefused: () => {},
  });
  const sets: string[][] = [];
  const onChecks = ({ checks }: CheckSet) => void sets.push(checks.map(({ id }) => id));
  const controller = new AbortController();
  const watching = source.watch(
    {
      onChecks,
      onRun: ({ check }) => onRun(check.id),
      onRunCancelled: () => {},
      onTrial: () => {},
    },
    controller.signal,
  );
  return {
    clock,
    source,
    polls,
    sets,
    warnings: () => records().filter(({ level }) => level === 'warn'),
    /** Resolves once it waits for its next poll. */
    polled: (times: number) => eventually(() => polls.length >= times && clock.pendingTimers === 1),
    async stop(): Promise<void> {
      controller.abort();
      await watching;
      expect(clock.pendingTimers).toBe(0);
    },
  };
}

it('rejects an answer of more than 1000 pages, and continues with its checks', async () => {
  const fixture = await startSource((poll) => ({ answer: answerTo(poll) }));
  const { clock, source, polls, sets, warnings, polled, stop } = fixture;

  await polled(1);
  await clock.advance(clock.nextTimerInMs ?? 0);
  await polled(1 + MAX_PAGES);
  expect(polls.map(({ page }) => page).slice(1)).toEqual([
    null,
    ...Array.from({ length: MAX_PAGES - 1 }, (_, n) => `page-${n + 1}`),
  ]);
  expect(warnings()).toEqual([
    expect.objectContaining({
      kind: 'failed',
      msg: "cannot poll the service; continuing with the previous checks: the service's answer to a poll has more than 1000 pages",
    }),
  ]);
  expect(sets).toEqual([['a']]);
  expect(source.revision).toBe(1);

  await clock.advance(clock.nextTimerInMs ?? 0);
  await polled(2 + MAX_PAGES);
  expect(polls.at(-1)).toMatchObject({ page: null, revision: 1 });
  expect(sets).toEqual([['a'], ['a', 'b']]);
  await stop();
});

/** Most of a page of the maximum size. */
const PAGE_BYTES = 16 * 1024 * 1024;
const FITTING_PAGES = 16;

it('accepts 256 MiB of checks, rejects the others by name, and continues (trust model SN18)', async () => {
  const LEFT_BYTES = 5_000;
  const long = assignmentMessageOf({
    check: checkOf('TCP', { id: 'long', name: 'n', tags: Array(100).fill('t'.repeat(255)) }),
    slots: { periodMs: 60_000, phaseMs: 6_000, stride: 2, index: 1 },
    answeredUntil: null,
    groupTags: [],
  });
  const script: Readonly<Record<number, Page>> = {
    [FITTING_PAGES]: {
      answer: { full: true, upsert: [assignment('last-that-fits')], nextPage: 'page' },
      bytes: PAGE_BYTES - LEFT_BYTES,
    },
    [FITTING_PAGES + 1]: {
      answer: { full: true, upsert: [assignment('x'), long, assignment('y')], revision: 5 },
      bytes: PAGE_BYTES,
    },
    // After a check was deleted, all others fit.
    [FITTING_PAGES + 2]: { answer: { revision: 6, remove: ['check-1'] } },
    [FITTING_PAGES + 3]: { answer: { revision: 6, full: true, upsert: [assignment('x'), long] } },
    [FITTING_PAGES + 4]: { answer: { revision: 7, remove: ['x'] } },
  };
  const page = (poll: number): Page => ({
    answer: { full: true, upsert: [assignment(`check-${poll}`)], nextPage: `page-${poll}` },
    bytes: PAGE_BYTES,
  });
  const fixture = await startSource((poll) => {
    if (poll > FITTING_PAGES + 4) return { answer: { revision: 7 } };
    return script[poll] ?? page(poll);
  });
  const { clock, polls, sets, warnings, polled, stop } = fixture;
  const next = async (poll: number) => {
    await polled(poll);
    await clock.advance(clock.nextTimerInMs ?? 0);
    await polled(poll + 1);
    return polls.at(poll);
  };
  const refusal = {
    checkId: 'long',
    problem: expect.stringContaining('at most 256 MiB of checks'),
  };
  expect(await next(FITTING_PAGES + 1)).toMatchObject({ revision: 5, refused: [refusal] });
  expect(sets.at(0)?.slice(-3)).toEqual(['last-that-fits', 'x', 'y']);
  // Requests all checks again, because the service does not send the rejected ones again.
  expect(await next(FITTING_PAGES + 2)).toMatchObject({ revision: 0, page: null });
  expect(sets.at(1)).not.toContain('check-1');
  expect(await next(FITTING_PAGES + 3)).toMatchObject({ revision: 6, refused: [] });
  expect(sets.at(2)).toEqual(['x', 'long']);
  expect(await next(FITTING_PAGES + 4)).toMatchObject({ revision: 7 });
  expect(warnings()).toEqual([]);
  await stop();
});

it('ignores changes before it has all checks, so that restarts add none (trust model SN18)', async () => {
  const fixture = await startSource((poll) => {
    // A service that does not know the agent's share yet answers that nothing changed.
    if (poll === 1) return { answer: { revision: 0 } };
    if (poll === 2) return { answer: { revision: 3, nextPage: 'more' } };
    if (poll === 3) return { answer: { revision: 3, upsert: [HALF_SENT] } };
    return { answer: { revision: 4, full: true, upsert: [assignment('a')] } };
  });
  const { clock, polls, sets, warnings, polled, stop } = fixture;
  await polled(1);
  await clock.advance(clock.nextTimerInMs ?? 0);
  await polled(3);
  expect(warnings()).toEqual([
    expect.objectContaining({
      kind: 'failed',
      msg: expect.stringContaining('sent changes of checks although all checks were requested'),
    }),
  ]);
  await clock.advance(clock.nextTimerInMs ?? 0);
  await polled(4);
  expect(polls.at(-1)).toMatchObject({ revision: 0, page: null });
  expect(sets.at(-1)).toEqual(['a']);
  expect(sets.flat()).not.toContain('half-sent');
  await stop();
});

it('accepts at most 256 MiB of one-off runs in the pages of an answer (trust model SN18)', async () => {
  const checks: string[] = [];
  const run = (poll: number) =>
    oneOffMessageOf({
      runId: `run-${poll}`,
      check: checkOf('TCP', { id: `check-${poll}` }),
      reason: 'requested',
      slot: 0,
      sequenceId: `sequence-${poll}`,
      notBefore: null,
      notAfter: Date.UTC(2027, 0, 1),
      retriesMade: 0,
      firstStartedAt: null,
    });
  const fixture = await startSource(
    (poll) => ({
      answer: { full: true, runs: [run(poll)], nextPage: poll <= FITTING_PAGES ? 'page' : null },
      bytes: PAGE_BYTES,
    }),
    (checkId) => checks.push(checkId),
  );
  await fixture.polled(FITTING_PAGES + 1);
  expect(checks).toEqual(Array.from({ length: FITTING_PAGES }, (_, n) => `check-${n + 1}`));
  await fixture.stop();
});

it('requests all checks again after 256 MiB of changes, and ignores further ones', async () => {
  const changes = (poll: number): Page => ({
    answer: { revision: poll, full: poll === 1, upsert: [assignment(`check-${poll}`)] },
    bytes: PAGE_BYTES,
  });
  const fixture = await startSource((poll) =>
    poll === FITTING_PAGES + 3 ? { answer: { full: true, upsert: [HALF_SENT] } } : changes(poll),
  );
  const { clock, polls, sets, warnings, polled, stop } = fixture;
  for (let poll = 1; poll <= FITTING_PAGES + 2; poll += 1) {
    await polled(poll);
    expect(polls.at(-1)?.revision).toBe(poll <= FITTING_PAGES + 1 ? poll - 1 : 0);
    await clock.advance(clock.nextTimerInMs ?? 0);
  }
  await polled(FITTING_PAGES + 3);
  expect(warnings()[0]?.msg).toContain('all checks are requested again');
  expect(sets.map((set) => set.length)).toEqual([
    ...Array.from({ length: FITTING_PAGES }, (_, n) => n + 1),
    1,
  ]);
  await stop();
});

it('waits longer after each answer that does not end (trust model SN17)', async () => {
  const fixture = await startSource(() => ({ answer: { nextPage: 'page' } }));
  const { clock, polled, stop } = fixture;
  const waits: number[] = [];
  for (let answers = 1; answers <= 7; answers += 1) {
    await polled(answers * MAX_PAGES);
    waits.push(clock.nextTimerInMs ?? 0);
    await clock.advance(clock.nextTimerInMs ?? 0);
  }
  expect(Math.max(...waits.slice(0, 1))).toBeLessThanOrEqual(1_000);
  expect(Math.min(...waits.slice(5))).toBeGreaterThanOrEqual(15_000);
  await stop();
});
