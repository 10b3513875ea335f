import { describe, expect, it } from 'vitest';
import type { Store } from '../../../../src/service/database/store.ts';
import { StoreError } from '../../../../src/service/database/store-errors.ts';
import { createLocationSilence } from '../../../../src/service/private-locations/silent-locations.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { LEASE_MS } from '../../../support/service/agent-fixture.ts';
import { resultOfRun } from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';
import { useSilenceFixture } from '../../../support/service/silence-fixture.ts';

const HOUR_S = 3_600;
const DAY_S = 86_400;

/** Silent locations, and the slots that they miss. */
describe.each(databases)('on %s', (kind) => {
  const fixtureOf = useSilenceFixture(useRunningService(kind));

  describe('a private location', () => {
    it('is silent within a minute of the end of its last lease, and its slots are missed until an agent returns', async () => {
      const fixture = fixtureOf();
      const { berlin, oslo, pass, poll, missed, location, at } = fixture;
      const keeper = fixture.keeper();
      await poll(berlin, 'one');
      await poll(berlin, 'two');
      await pass(40, keeper);
      await poll(berlin, 'two');
      // Both are killed at 40 s: the lease ends at 55 s.
      await pass(40, keeper);
      expect(await location(berlin)).toMatchObject({ silentSince: null });
      expect(await missed()).toEqual([]);
      await pass(30, keeper);
      expect(await location(berlin)).toMatchObject({ silentSince: at(40) });
      expect(await location(oslo)).toMatchObject({ silentSince: null });
      const range = { location: 'berlin', reason: 'location_silent', from: 60 };
      expect(await missed()).toEqual([{ ...range, to: 60, count: 1 }]);
      await pass(5 * 60, keeper);
      expect(await missed()).toEqual([{ ...range, to: 360, count: 6 }]);
      expect(keeper.counts()).toEqual({ silentLocations: 1, silentSlotsMissed: 6 });

      await poll(berlin, 'three');
      await pass(10, keeper);
      expect(await location(berlin)).toMatchObject({ silentSince: null });
      for (let times = 0; times < 5; times += 1) {
        await pass(30, keeper);
        await poll(berlin, 'three');
      }
      expect(await missed()).toEqual([{ ...range, to: 360, count: 6 }]);
      expect(keeper.counts()).toEqual({ silentLocations: 0, silentSlotsMissed: 6 });
      const facts = { location: 'berlin', checks: 1, silentSince: at(40) };
      expect(keeper.logs.records()).toMatchObject([
        { level: 'warn', ...facts, msg: expect.stringContaining('start an agent there') },
        { level: 'info', ...facts, msg: expect.stringContaining('poll again') },
      ]);
    });

    it('is not silent while one of its agents polls, or restarts within half a minute', async () => {
      const fixture = fixtureOf();
      const { berlin, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await poll(berlin, 'one');
      for (let times = 0; times < 20; times += 1) {
        await pass(40, keeper);
        await poll(berlin, 'two');
      }
      expect(keeper.logs.records()).toEqual([]);
      expect(await fixture.missed()).toEqual([]);
    });

    it('is not silent if it never had an agent, or has no activated check', async () => {
      const fixture = fixtureOf();
      const { oslo, berlin, mine, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await fixture.check('everywhere', { privateLocations: ['berlin', 'oslo'], frequency: 1 });
      await fixture.assign();
      await pass(600, keeper);
      for (const checkId of ['shop', 'everywhere']) {
        expect((await mine.patch(`/v1/checks/${checkId}`, { activated: false })).status).toBe(200);
      }
      await poll(berlin);
      await poll(oslo);
      await pass(600, keeper);
      expect(keeper.logs.records()).toEqual([]);
      expect(await fixture.missed('everywhere')).toEqual([]);
    });

    it('is no longer silent when its checks are deactivated', async () => {
      const fixture = fixtureOf();
      const { berlin, mine, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await poll(berlin);
      await pass(120, keeper);
      expect(await fixture.location(berlin)).toMatchObject({ silentSince: fixture.at(0) });
      await mine.patch('/v1/checks/shop', { activated: false });
      await fixture.assign();
      await pass(300, keeper);
      expect(await fixture.location(berlin)).toMatchObject({ silentSince: null });
      expect(await fixture.missed()).toMatchObject([{ from: 60, to: 120, count: 2 }]);
      expect(keeper.logs.records().map(({ msg }) => msg)).toEqual([
        expect.stringContaining('start an agent there'),
        'a silent location has no checks any more',
      ]);
    });

    it('is not reported as silent by a service that was down or has just started', async () => {
      const fixture = fixtureOf();
      const { berlin, pass, poll } = fixture;
      await poll(berlin);
      fixture.clock.spend(HOUR_S * 1000);
      const keeper = fixture.keeper();
      await keeper.scan();
      await pass(30, keeper);
      // An agent waits up to 30 s between two attempts.
      await poll(berlin);
      await pass(40, keeper);
      await poll(berlin);
      expect(keeper.logs.records()).toEqual([]);
      expect(await fixture.missed()).toEqual([]);
    });

    it('is not reported as silent after an outage of the database until a minute later', async () => {
      const fixture = fixtureOf();
      const { berlin, store, clock, pass, poll } = fixture;
      const outages = new Set<string>();
      const failing: Store = {
        kind: store.kind,
        query: (...call) => store.query(...call),
        listen: (...call) => store.listen(...call),
        close: () => store.close(),
        transaction: async (...call) => {
          if (outages.size > 0) throw new StoreError('unavailable', 'STORE_CONNECTION', 'away');
          return store.transaction(...call);
        },
      };
      const keeper = createLocationSilence({
        store: failing,
        clock,
        log: silentLog(),
        locationAlerts: fixture.features.locationAlerts,
        leaseMs: LEASE_MS,
        retentionDays: 30,
      });
      const passOf = (seconds: number) => pass(seconds, { ...keeper, logs: fixture.keeper().logs });
      await poll(berlin);
      await passOf(20);
      outages.add('now');
      clock.spend(30_000);
      await expect(keeper.scan()).rejects.toThrow('away');
      outages.clear();
      await passOf(40);
      expect(await fixture.location(berlin)).toMatchObject({ silentSince: null });
      await passOf(20);
      expect(await fixture.location(berlin)).toMatchObject({ silentSince: fixture.at(0) });
    });

    it('is not reported as silent when the clock is set or the machine slept', async () => {
      const fixture = fixtureOf();
      const { berlin, clock, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await poll(berlin);
      await pass(40, keeper);
      await poll(berlin);
      clock.stepWall(HOUR_S * 1000);
      await pass(20, keeper);
      await poll(berlin);
      clock.suspend(HOUR_S * 1000);
      await pass(20, keeper);
      await poll(berlin);
      clock.stepWall(-HOUR_S * 1000);
      await pass(20, keeper);
      await poll(berlin);
      await pass(30, keeper);
      expect(keeper.logs.records()).toEqual([]);
    });

    it('is found by one of two replicas, which share its slots', async () => {
      const fixture = fixtureOf();
      const { berlin, pass, poll, location } = fixture;
      const keepers = [fixture.keeper(), fixture.keeper()];
      const ids = Array.from({ length: 5 }, (_, n) => `check-${n}`);
      for (const id of ids) {
        await fixture.check(id, {
          privateLocations: ['berlin'],
          frequency: 1,
          frequencyOffset: 10,
        });
      }
      await poll(berlin);
      await pass(300, ...keepers);
      expect(await location(berlin)).toMatchObject({ silentSince: fixture.at(0) });
      for (const id of ids) {
        expect(await fixture.missed(id)).toMatchObject([{ from: 60, to: 300, count: 5 }]);
      }
      const recorded = keepers.map((keeper) => keeper.counts());
      expect(recorded.map(({ silentLocations }) => silentLocations)).toEqual([1, 1]);
      const slots = recorded.reduce((sum, counts) => sum + counts.silentSlotsMissed, 0);
      expect(slots).toBe(6 * 5);
      await poll(berlin);
      await pass(10, ...keepers);
      const lines = keepers.flatMap(({ logs }) => logs.records());
      expect(lines.map(({ level }) => level).toSorted()).toEqual(['info', 'warn']);
    });
  });

  describe('the state of a check', () => {
    it('is unknown while all its private locations are silent, and that of its runs afterwards', async () => {
      const fixture = fixtureOf();
      const { berlin, oslo, mine, pass, poll, deliver, at } = fixture;
      const keeper = fixture.keeper();
      const everywhere = { privateLocations: ['berlin', 'oslo', 'never'], frequency: 1 };
      await fixture.addLocation('never');
      await fixture.check('both', { ...everywhere, runParallel: true });
      await fixture.check('new', { privateLocations: ['berlin'], frequency: 1 });
      await fixture.check('public', { privateLocations: [], locations: ['eu-west-1'] });
      const state = async (checkId: string) => {
        const all = (await mine.get('/v1/check-statuses?limit=100')).json;
        const found = all.find((one: { checkId: string }) => one.checkId === checkId);
        const single = (await mine.get(`/v1/check-statuses/${checkId}`)).json;
        if (single !== null) expect(single).toEqual(found);
        const { state: name, since, unknownReason } = found;
        return [name, since, unknownReason];
      };
      const slot = Date.parse(at(0));
      await poll(berlin);
      await poll(oslo);
      for (const checkId of ['shop', 'both']) {
        await deliver(berlin, { results: [resultOfRun({ slot, checkId })] });
      }
      for (let times = 0; times < 3; times += 1) {
        await pass(30, keeper);
        await poll(oslo);
      }
      const passing = ['passing', at(0), null];
      const noResult = (since: unknown) => ['unknown', since, 'no_result'];
      expect(await state('shop')).toEqual(['unknown', at(0), 'location_silent']);
      expect(await state('new')).toEqual(['unknown', expect.any(String), 'location_silent']);
      expect(await state('both')).toEqual(passing);
      expect(await state('public')).toEqual(noResult(expect.any(String)));
      // The last poll in oslo was after 90 s.
      await pass(60, keeper);
      expect(await state('both')).toEqual(['unknown', at(90), 'location_silent']);
      const counted = (await mine.get('/v1/check-state-counts')).json;
      expect(counted).toMatchObject({ unknown: 4, passing: 0, failing: 0 });
      const unknown = (await mine.get('/v1/checks?state=unknown&limit=100')).json;
      expect(unknown).toHaveLength(4);
      const silent = ['both', 'new', 'shop'];
      const { json: listed } = await mine.get('/v1/check-statuses?silent=true&limit=100');
      expect(listed.map(({ checkId }: { checkId: string }) => checkId).toSorted()).toEqual(silent);
      const { json: others } = await mine.get('/v1/checks?silent=false&limit=100');
      expect(others.map(({ id }: { id: string }) => id)).toEqual(['public']);
      const { json: parted } = await mine.get('/v1/check-state-breakdown?by=location&silent=true');
      const part = (value: string, checks: number, silentSince: string | null) =>
        expect.objectContaining({
          value,
          silentSince,
          counts: expect.objectContaining({ unknown: checks }),
        });
      expect(parted).toEqual({
        entries: [part('berlin', 3, at(0)), part('never', 1, null), part('oslo', 1, at(90))],
        omitted: 0,
      });
      await mine.patch('/v1/checks/both', { activated: false });
      expect((await state('both'))[0]).toBe('paused');
      expect((await mine.get('/v1/check-state-counts?silent=true')).json).toMatchObject({
        unknown: 2,
        paused: 0,
      });

      await poll(berlin);
      await pass(10, keeper);
      expect(await state('shop')).toEqual(passing);
      expect(await state('new')).toEqual(noResult(expect.any(String)));
    });
  });

  describe('the missed slots of a silent location', () => {
    it('give way to results, whenever they arrive', async () => {
      const fixture = fixtureOf();
      const { berlin, pass, poll, deliver, missed } = fixture;
      const keeper = fixture.keeper();
      const run = (minute: number) => {
        const slot = Date.parse(fixture.at(minute * 60));
        return deliver(berlin, { results: [resultOfRun({ slot, frequency: 1 } as never)] });
      };
      await poll(berlin);
      // A result of an agent that cannot poll, before the location is found to be silent.
      fixture.clock.spend(60_000);
      await run(1);
      await pass(240, keeper);
      const range = { location: 'berlin', reason: 'location_silent' };
      expect(await missed()).toEqual([{ ...range, from: 120, to: 300, count: 4 }]);
      await run(3);
      const [first, rest] = [
        { ...range, from: 120, to: 120, count: 1 },
        { ...range, from: 240, to: 300, count: 2 },
      ];
      expect(await missed()).toEqual([first, rest]);
      await pass(120, keeper);
      expect(await missed()).toEqual([first, { ...rest, to: 420, count: 4 }]);
      // Slots that the agent reports after its return do not count twice.
      await poll(berlin);
      const slots = [60, 420].map((seconds) => Date.parse(fixture.at(seconds)));
      const [slot = 0, lastSlot = 0] = slots;
      const report = { checkId: 'shop', slot, lastSlot, count: 7, reason: 'unassigned' };
      await deliver(berlin, { missed: [report] });
      expect(await missed()).toEqual([first, { ...rest, to: 420, count: 4 }]);
    });

    it('leave out those of maintenance windows', async () => {
      const fixture = fixtureOf();
      const { berlin, mine, pass, poll } = fixture;
      const keeper = fixture.keeper();
      const made = await mine.post('/v1/maintenance-windows', {
        name: 'A window',
        startsAt: fixture.at(150),
        endsAt: fixture.at(270),
        repeatUnit: 'DAY',
        pauseAllChecks: true,
      });
      expect(made.status).toBe(201);
      await poll(berlin);
      await pass(360, keeper);
      expect(await fixture.missed()).toMatchObject([
        { from: 60, to: 120, count: 2 },
        { from: 300, to: 360, count: 2 },
      ]);
    });

    it('follow the schedule of the check through changes of it', async () => {
      const fixture = fixtureOf();
      const { berlin, mine, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await fixture.check('gone', { privateLocations: ['berlin'], frequency: 1 });
      await poll(berlin);
      await pass(120, keeper);
      await mine.patch('/v1/checks/shop', { frequency: 2, frequencyOffset: 20 });
      await mine.delete('/v1/checks/gone');
      await fixture.check('new', {
        privateLocations: ['berlin'],
        frequency: 1,
        frequencyOffset: 10,
      });
      await fixture.assign();
      await pass(240, keeper);
      expect(await fixture.missed()).toMatchObject([
        { from: 60, to: 120, count: 2 },
        { from: 240, to: 360, count: 2 },
      ]);
      expect(await fixture.missed('new')).toMatchObject([{ from: 180, to: 360, count: 4 }]);
    });

    it('are recorded for a week back at most, in ranges of a day', async () => {
      const fixture = fixtureOf();
      const { berlin, clock, pass, poll } = fixture;
      await fixture.check('hourly', {
        privateLocations: ['berlin'],
        frequency: 60,
        frequencyOffset: 600,
      });
      await fixture.check('shop', { privateLocations: ['berlin'], frequency: 1440 });
      await poll(berlin);
      clock.spend(10 * DAY_S * 1000);
      const keeper = fixture.keeper();
      await keeper.scan();
      await pass(60, keeper);
      const ranges = await fixture.missed('hourly');
      const slots = ranges.reduce((sum, { count }) => sum + count, 0);
      expect(slots).toBe(7 * 24);
      expect(Math.min(...ranges.map(({ from }) => from))).toBeGreaterThanOrEqual(3 * DAY_S);
      expect(Math.max(...ranges.map(({ from, to }) => to - from))).toBe(DAY_S);
      expect(ranges.length).toBeLessThan(10);
      const daily = await fixture.missed();
      expect(daily.reduce((sum, { count }) => sum + count, 0)).toBe(7);
      // The rest of the day is added to the last range.
      clock.spend(2 * HOUR_S * 1000);
      await pass(60, keeper);
      expect(await fixture.missed('hourly')).toHaveLength(ranges.length);
    });

    it('are recorded for every check of a large location', async () => {
      const fixture = fixtureOf();
      const { berlin, store, mine, pass, poll } = fixture;
      const keeper = fixture.keeper();
      await store.query(
        `insert into checks (account_id, id, check_type, name, activated, muted, frequency, body)
         select account_id, 'copy-' || n, check_type, 'copy', activated, muted, frequency, body
         from checks, generate_series(1, 300) n where account_id = $1 and id = 'shop'`,
        [mine.accountId],
      );
      await poll(berlin);
      await pass(120, keeper);
      const rows = await store.query(
        `select slot, count, count(*) as checks from missed_slots where account_id = $1
         group by slot, count`,
        [mine.accountId],
      );
      expect(rows).toEqual([{ slot: new Date(fixture.at(60)), count: 2, checks: 301 }]);
    });
  });
});
