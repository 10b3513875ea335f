import { expect, it } from 'vitest';
import type { CheckSet } from '../../../../src/agent/source/check-source.ts';
import { createServiceSource } from '../../../../src/agent/source/service-source.ts';
import { assignmentMessageOf } from '../../../../src/wire/v1/assignment.ts';
import {
  type PollRequest,
  type PollResponse,
  pollRequestSchema,
} from '../../../../src/wire/v1/poll.ts';
import { checkOf } from '../../../support/checks.ts';
import { eventually } from '../../../support/eventually.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { captureLog } from '../../../support/log-capture.ts';
import { answerOf } from '../../../support/service-stub.ts';

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

/** A set, then a change of it in more pages than are taken, then the change in one page. */
function answerTo(poll: number): Partial<PollResponse> {
  if (poll === 1) return { full: true, upsert: [assignment('a')] };
  const isPage = poll <= 1 + MAX_PAGES;
  return isPage
    ? { revision: 2, upsert: [HALF_SENT], nextPage: `page-${poll - 1}` }
    : { revision: 2, upsert: [assignment('b')] };
}

/** A source whose polls are answered one after the other by the script, from 1 on. */
async function startSource(answerOfPoll: (poll: number) => Page) {
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
    version: '1.2.3',
    clock,
    log,
  });
  const sets: string[][] = [];
  const onChecks = ({ checks }: CheckSet) => void sets.push(checks.map(({ id }) => id));
  const controller = new AbortController();
  const watching = source.watch({ onChecks, onRun: () => {} }, controller.signal);
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

it('gives up on an answer of more than 1000 pages, and goes on with the checks that it has', async () => {
  const rig = await startSource((poll) => ({ answer: answerTo(poll) }));
  const { clock, source, polls, sets, warnings, polled, stop } = rig;

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
      msg: "the service cannot be asked for checks, those from before go on: the service's answer to a poll has more than 1000 pages",
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

/** Most of a page that is as long as one may be. */
const PAGE_BYTES = 16 * 1024 * 1024;
const FITTING_PAGES = 16;

it('keeps 256 MiB of checks, and gives up on an answer that is longer (trust model SN18)', async () => {
  // Fills all that there is room for, then one byte more.
  const rig = await startSource((poll) => {
    const page = (poll - 1) % FITTING_PAGES;
    const nextPage = page < FITTING_PAGES - 1 ? `page-${page}` : null;
    const bytes = poll === 2 * FITTING_PAGES ? PAGE_BYTES + 1 : PAGE_BYTES;
    return { answer: { full: true, upsert: [assignment(`check-${poll}`)], nextPage }, bytes };
  });
  const { clock, polls, sets, warnings, polled, stop } = rig;
  await polled(FITTING_PAGES);
  expect(sets.map((set) => set.length)).toEqual([FITTING_PAGES]);
  await clock.advance(clock.nextTimerInMs ?? 0);
  await polled(2 * FITTING_PAGES);
  expect(sets).toHaveLength(1);
  expect(warnings()).toEqual([
    expect.objectContaining({
      kind: 'failed',
      msg: expect.stringContaining('have more than 256 MiB: give this location fewer'),
    }),
  ]);
  await clock.advance(clock.nextTimerInMs ?? 0);
  await polled(3 * FITTING_PAGES);
  expect(polls.at(2 * FITTING_PAGES)).toMatchObject({ page: null });
  expect(sets.map((set) => set.length)).toEqual([FITTING_PAGES, FITTING_PAGES]);
  await stop();
});

it('asks for all checks anew after 256 MiB of changes, and takes no more of them', async () => {
  const changes = (poll: number): Page => ({
    answer: { revision: poll, full: poll === 1, upsert: [assignment(`check-${poll}`)] },
    bytes: PAGE_BYTES,
  });
  const rig = await startSource((poll) =>
    poll === FITTING_PAGES + 3 ? { answer: { full: true, upsert: [HALF_SENT] } } : changes(poll),
  );
  const { clock, polls, sets, warnings, polled, stop } = rig;
  for (let poll = 1; poll <= FITTING_PAGES + 2; poll += 1) {
    await polled(poll);
    expect(polls.at(-1)?.revision).toBe(poll <= FITTING_PAGES + 1 ? poll - 1 : 0);
    await clock.advance(clock.nextTimerInMs ?? 0);
  }
  await polled(FITTING_PAGES + 3);
  expect(warnings()[0]?.msg).toContain('all checks are asked for anew');
  expect(sets.map((set) => set.length)).toEqual([
    ...Array.from({ length: FITTING_PAGES }, (_, n) => n + 1),
    1,
  ]);
  await stop();
});

it('waits longer from answer without end to answer without end (trust model SN17)', async () => {
  const rig = await startSource(() => ({ answer: { nextPage: 'page' } }));
  const { clock, polled, stop } = rig;
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
