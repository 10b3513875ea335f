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

/** A set, then a change of it in more pages than are taken, then the change in one page. */
function answerTo(poll: number): Partial<PollResponse> {
  if (poll === 1) return { full: true, upsert: [assignment('a')] };
  const isPage = poll <= 1 + MAX_PAGES;
  return isPage
    ? { revision: 2, upsert: [HALF_SENT], nextPage: `page-${poll - 1}` }
    : { revision: 2, upsert: [assignment('b')] };
}

it('gives up on an answer of more than 1000 pages, and goes on with the checks that it has', async () => {
  const clock = new FakeClock();
  const { log, records } = captureLog();
  const polls: PollRequest[] = [];
  // Not over HTTP, where a thousand pages take seconds.
  const source = await createServiceSource({
    client: {
      key: 'the key',
      async post(_path, body, { schema }) {
        polls.push(pollRequestSchema.parse(body));
        return { ok: true, value: schema.parse(answerOf(clock, answerTo(polls.length))) };
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
  const warnings = () => records().filter(({ level }) => level === 'warn');
  /** Resolves once it waits for its next poll. */
  const polled = (times: number) =>
    eventually(() => polls.length >= times && clock.pendingTimers === 1);

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
  controller.abort();
  await watching;
  expect(clock.pendingTimers).toBe(0);
});
