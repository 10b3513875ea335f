import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECK_STATES } from '../../../../../src/model/result/check-state.ts';
import type { Store } from '../../../../../src/service/database/store.ts';
import type { Features } from '../../../../../src/service/feature-types.ts';
import { findStatus } from '../../../../../src/service/results/statuses/list.sql.ts';
import { createOutdatedStates } from '../../../../../src/service/results/statuses/outdated-states.ts';
import { databases, silentLog } from '../../../../support/database/databases.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { captureLog } from '../../../../support/log-capture.ts';
import { caseCount } from '../../../../support/nightly.ts';
import {
  minutesAgo,
  NOW,
  resultOfRun,
  useResultsFixture,
} from '../../../../support/service/results-fixture.ts';
import { type TestFeatures, testFeatures } from '../../../../support/service/service-features.ts';
import { useRunningService } from '../../../../support/service/service-fixture.ts';

const PLACES = ['berlin', 'oslo'] as const;
/** Two periods of the check: older results do not decide its status. */
const CURRENT_MINUTES = 20;

const OUTCOMES = {
  passing: {},
  degraded: { isDegraded: true },
  failing: { hasFailures: true },
  error: { hasErrors: true, hasFailures: true },
  cancelled: { isCancelled: true },
};

interface RunSpec {
  readonly place: (typeof PLACES)[number];
  readonly ago: number;
  readonly outcome: keyof typeof OUTCOMES;
}

const RUN = fc.record({
  place: fc.constantFrom(...PLACES),
  ago: fc.integer({ min: 1, max: 32 }),
  outcome: fc.constantFrom<RunSpec['outcome']>(
    'passing',
    'passing',
    'degraded',
    'failing',
    'failing',
    'error',
    'cancelled',
  ),
});

/** A clock that advances by 400 ms at each reading. */
class SlowClock extends FakeClock {
  override monotonicMs(): number {
    this.spend(400);
    return super.monotonicMs();
  }
}

/** The events between two deliveries. */
const BETWEEN = fc.constantFrom('nothing', 'nothing', 'read', 'previous release');

const STEPS = fc
  .uniqueArray(RUN, { selector: ({ place, ago }) => `${place} ${ago}`, maxLength: 14 })
  .chain((runs) =>
    fc.record({
      runs: fc.constant(runs),
      order: fc.shuffledSubarray([...runs, ...runs], { minLength: runs.length * 2 }),
      size: fc.integer({ min: 1, max: 4 }),
      between: fc.array(BETWEEN, { minLength: 28, maxLength: 28 }),
      atOnce: fc.boolean(),
    }),
  );

/** The state by all runs up to the slot of the status: the whole rule, without anything stored. */
function expectedState(runs: readonly RunSpec[]) {
  const slotOf = ({ ago }: RunSpec): number => minutesAgo(ago);
  const deciding = runs.filter(
    ({ ago, outcome }) => ago <= CURRENT_MINUTES && outcome !== 'cancelled',
  );
  const last = Math.max(...deciding.map(slotOf));
  const worst = new Map<number, string>();
  for (const state of ['passing', 'degraded', 'failing']) {
    for (const run of runs) {
      if (run.outcome === state && slotOf(run) <= last) worst.set(slotOf(run), state);
    }
  }
  const slots = [...worst].toSorted(([one], [other]) => other - one);
  const [latest] = slots;
  if (latest === undefined) return { state: 'unknown', since: new Date(NOW).toISOString() };
  const [, state] = latest;
  const change = slots.findIndex((slot) => slot[1] !== state);
  const stretch = change === -1 ? slots : slots.slice(0, change);
  const sinceMs = stretch.at(-1)?.[0] ?? 0;
  return { state, since: new Date(sinceMs).toISOString() };
}

/** Lets the statement that finds the beginning of a state time out. */
async function makeTooSlow(store: Store, checkIds: readonly string[]): Promise<void> {
  await store.query(`create function too_slow() returns trigger language plpgsql as $$
    begin raise exception 'too slow' using errcode = 'query_canceled'; end $$`);
  await store.query(`create trigger too_slow before update on check_statuses for each row
    when (new.check_id in ('${checkIds.join("', '")}') and new.state_version is not null)
    execute function too_slow()`);
}

describe.each(databases)('on %s', (kind) => {
  const running = useRunningService(kind);
  const fixture = useResultsFixture(running);
  let second: TestFeatures | null = null;
  beforeAll(async () => {
    second = await testFeatures(running().store, running().clock);
  });
  afterAll(() => second?.close());

  /** Two replicas that share the database alone, in turn. */
  const replica = (number: number): Features => {
    if (second === null) throw new Error('the second replica starts before the first test');
    return number % 2 === 0 ? running().features : second.features;
  };

  const deliver = async (runs: readonly RunSpec[], number: number, checkId: string) => {
    const { mine, berlin, oslo } = fixture();
    for (const place of [berlin, oslo]) {
      const own = runs.filter((run) => run.place === place.slug);
      const results = own.map(({ ago, outcome }) =>
        resultOfRun({
          checkId,
          slot: minutesAgo(ago),
          runLocation: place.slug,
          ...OUTCOMES[outcome],
        }),
      );
      if (results.length === 0) continue;
      const answer = await replica(number).resultIntake.take(
        { accountId: mine.accountId, locationId: place.id, keyId: 'key' },
        { agentId: place.slug, epoch: 1, results, missed: [] },
      );
      expect(answer.accepted).toHaveLength(results.length);
    }
  };
  const listed = async (query = '') =>
    (await fixture().mine.get(`/v1/check-statuses${query}`)).json;

  describe('the state of a check', () => {
    it('is the same in whatever order, how often and on which replica its results arrive', {
      timeout: 180_000,
    }, async () => {
      let checks = 0;
      const property = fc.asyncProperty(STEPS, async ({ runs, order, size, between, atOnce }) => {
        const { mine, check, store } = fixture();
        checks += 1;
        const id = `check-${checks}`;
        await check(id);
        const batches = Array.from({ length: Math.ceil(order.length / size) }, (_, number) =>
          order.slice(number * size, (number + 1) * size),
        );
        const step = async (batch: readonly RunSpec[], number: number): Promise<void> => {
          await deliver(batch, number, id);
          if (between[number] === 'read') await listed();
          // It writes none of the columns that the state is in.
          if (between[number] === 'previous release') {
            await store.query('update check_statuses set name = name where check_id = $1', [id]);
          }
        };
        if (atOnce) await Promise.all(batches.map(step));
        else for (const [number, batch] of batches.entries()) await step(batch, number);

        const [status] = await listed(`?search=${id}`);
        expect({ state: status.state, since: status.since }).toEqual(expectedState(runs));
        const one = (await mine.get(`/v1/check-statuses/${id}`)).json;
        if (one !== null) expect(one).toEqual(status);
        await mine.delete(`/v1/checks/${id}`);
      });
      await fc.assert(property, { numRuns: caseCount(40) });
    });
  });

  it.each([
    ['a system error', { ago: 2, outcome: 'error' }],
    ['a run within the current stretch', { ago: 2, outcome: 'passing' }],
    ['a late run within the stretch before', { ago: 6, outcome: 'passing' }],
    ['a late run with a system error', { ago: 6, outcome: 'error' }],
  ] as const)('is known without reading the results again after %s', async (_, run) => {
    const { mine, store } = fixture();
    const passing = [7, 5, 3].map((ago): RunSpec => ({ place: 'berlin', ago, outcome: 'passing' }));
    await deliver(passing, 0, 'shop');
    await listed();
    await deliver([{ place: 'berlin', ...run }], 0, 'shop');
    const known = await store.query(
      'select state, since, state_version is null as outdated from check_statuses where account_id = $1',
      [mine.accountId],
    );
    const since = new Date(minutesAgo(7));
    expect(known).toEqual([{ state: 'passing', since, outdated: false }]);
  });

  describe('after an upgrade', () => {
    const failing: readonly RunSpec[] = [7, 5, 3].map((ago) => ({
      place: 'berlin',
      ago,
      outcome: 'failing',
    }));
    const since = new Date(minutesAgo(7)).toISOString();
    /** As in a row of the previous release. */
    const FORGOTTEN = `state = null, since = null, state_slot = null, state_before = null,
      since_before = null, state_version = null`;

    it('reads the states of many checks, also of some whose states cannot be read', async () => {
      const { mine, store, check, running: service } = fixture();
      const ids = Array.from({ length: 25 }, (_, number) => `check-${number}`);
      for (const id of ids) {
        await check(id);
        await deliver(failing, 0, id);
      }
      await store.query(`update check_statuses set ${FORGOTTEN} where account_id = $1`, [
        mine.accountId,
      ]);
      await makeTooSlow(store, ['check-3', 'check-17']);

      const states = async () =>
        new Map<string, readonly unknown[]>(
          (await listed('?search=check-&limit=100')).map(
            (status: { checkId: string; state: string; since: string | null }) => [
              status.checkId,
              [status.state, status.since],
            ],
          ),
        );
      const expected = (slow: readonly unknown[]) =>
        new Map(ids.map((id) => [id, /-(3|17)$/.test(id) ? slow : ['failing', since]]));
      try {
        expect(await states()).toEqual(expected(['failing', null]));
        expect((await mine.get('/v1/check-state-counts')).json).toMatchObject({ failing: 25 });
      } finally {
        await store.query('drop trigger too_slow on check_statuses');
        await store.query('drop function too_slow');
      }
      // It is tried again after a minute.
      expect(await states()).toEqual(expected(['failing', null]));
      service.clock.spend(61_000);
      expect(await states()).toEqual(expected(['failing', since]));
    });

    it('refreshes the states of many checks in several reads, if one would take too long', async () => {
      const { mine, store, check } = fixture();
      const ids = Array.from({ length: 30 }, (_, number) => `check-${number}`);
      for (const id of ids) {
        await check(id);
        await deliver(failing, 0, id);
      }
      await store.query(`update check_statuses set ${FORGOTTEN} where account_id = $1`, [
        mine.accountId,
      ]);
      const known = async () =>
        (
          await store.query(
            'select from check_statuses where account_id = $1 and state_version is not null',
            [mine.accountId],
          )
        ).length;
      const slow = new SlowClock();
      const states = createOutdatedStates({ store, clock: slow, log: silentLog() });
      const read = () => states.refresh({ accountId: mine.accountId, checkId: null });
      await read();
      const first = await known();
      expect(first).toBeGreaterThan(0);
      expect(first).toBeLessThan(ids.length);
      for (let before = 0; before < (await known()); await read()) before = await known();
      expect(await known()).toBe(ids.length);
    });

    it('is refreshed in the background after an upgrade, by two replicas, and logged where that takes too long', async () => {
      const { mine, store, check } = fixture();
      const ids = Array.from({ length: 30 }, (_, number) => `check-${number}`);
      for (const id of ids) {
        await check(id);
        await deliver(failing, 0, id);
      }
      await store.query(`update check_statuses set ${FORGOTTEN} where account_id = $1`, [
        mine.accountId,
      ]);
      await makeTooSlow(store, ['check-7']);
      const outdated = async () =>
        (
          await store.query<{ checkId: string }>(
            'select check_id from check_statuses where account_id = $1 and state_version is null',
            [mine.accountId],
          )
        ).map(({ checkId }) => checkId);
      const clock = new FakeClock();
      const capture = captureLog();
      const stop = new AbortController();
      const replicas = [1, 2].map(() => createOutdatedStates({ store, clock, log: capture.log }));
      const working = replicas.map((states) => states.maintain(stop.signal));
      try {
        while ((await outdated()).length > 1) await clock.advance(1_000);
        expect(await outdated()).toEqual(['check-7']);
        while (capture.records().length === 0) await clock.advance(1_000);
      } finally {
        await store.query('drop trigger too_slow on check_statuses');
        await store.query('drop function too_slow');
      }
      while ((await outdated()).length > 0) await clock.advance(60_000);
      stop.abort();
      await Promise.all(working);
      const logged = capture.records().map(({ checkId }) => checkId);
      expect(new Set(logged)).toEqual(new Set(['check-7']));
      expect(await listed('?search=check-&limit=100')).toEqual(
        ids.map(() => expect.objectContaining({ state: 'failing', since })),
      );
    });

    it('has the state of the last run until it is refreshed', async () => {
      const { mine, store } = fixture();
      await deliver(failing, 0, 'shop');
      await store.query(`update check_statuses set ${FORGOTTEN} where account_id = $1`, [
        mine.accountId,
      ]);
      const key = { accountId: mine.accountId, id: 'shop' };
      expect(await findStatus(store, key)).toMatchObject({
        state: 'failing',
        since: null,
        unknownReason: null,
      });
    });

    it.each([
      ['failing', 'passing'],
      ['passing', 'failing'],
    ] as const)('finds where a %s stretch began', async (state, before) => {
      const { mine, store } = fixture();
      const runs = [9, 8, 7, 5, 3].map(
        (ago): RunSpec => ({ place: 'berlin', ago, outcome: ago > 7 ? before : state }),
      );
      const oslo: RunSpec = { place: 'oslo', ago: 5, outcome: 'passing' };
      await deliver([...runs, oslo], 0, 'shop');
      // The previous release did not store there whether a run was degraded.
      await store.query('update result_metrics set degraded = null where account_id = $1', [
        mine.accountId,
      ]);
      await store.query(`update check_statuses set ${FORGOTTEN} where account_id = $1`, [
        mine.accountId,
      ]);
      expect(await listed()).toMatchObject([{ state, since }]);
    });

    it('finds in the results where a degraded stretch began', async () => {
      const { mine, store } = fixture();
      const runs = [9, 7, 5, 3].map(
        (ago): RunSpec => ({ place: 'berlin', ago, outcome: ago > 7 ? 'passing' : 'degraded' }),
      );
      await deliver(runs, 0, 'shop');
      await store.query('update result_metrics set degraded = null where account_id = $1', [
        mine.accountId,
      ]);
      await store.query(`update check_statuses set ${FORGOTTEN} where account_id = $1`, [
        mine.accountId,
      ]);
      expect(await listed()).toMatchObject([{ state: 'degraded', since }]);
    });
  });

  it('counts every check once', async () => {
    const counts = (await fixture().mine.get('/v1/check-state-counts')).json;
    expect(Object.keys(counts)).toEqual([...CHECK_STATES]);
    expect(counts).toEqual({ failing: 0, degraded: 0, unknown: 1, passing: 0, paused: 0 });
  });
});
