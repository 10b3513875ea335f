import { beforeEach, describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { until } from '../../../support/service/deployment.ts';
import { PollingAgent } from '../../../support/service/polling-agent.ts';
import { useResultsFixture } from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const PATH = '/v1/private-location-statuses';
const HEALTH = {
  maxLatenessMs: 12,
  missedSlots: 1,
  spoolRecords: 4,
  spoolBytes: 900,
  spoolOldestMs: 3_000,
};

/** The statuses of private locations by their agents. */
describe.each(databases)('on %s', (kind) => {
  const fixtureOf = useResultsFixture(useRunningService(kind));

  beforeEach(async () => {
    const { store } = fixtureOf();
    for (const table of ['agents', 'silent_locations', 'missed_slots']) {
      await store.query(`delete from ${table}`);
    }
  });

  const agent = (id: string): PollingAgent => {
    const { features, mine, berlin } = fixtureOf();
    const caller = { accountId: mine.accountId, locationId: berlin.id, keyId: 'key' };
    return new PollingAgent(features.agents, caller, id);
  };
  // biome-ignore lint/suspicious/noExplicitAny: like `json` of a reply
  const status = async (): Promise<any> => {
    const { mine, berlin } = fixtureOf();
    return (await mine.get(`${PATH}/${berlin.id}`)).json;
  };

  describe('the status of a private location', () => {
    it('is new before its first agent, and says what runs there', async () => {
      const { berlin } = fixtureOf();
      expect(await status()).toEqual({
        id: berlin.id,
        slug: 'berlin',
        name: expect.any(String),
        state: 'new',
        silentSince: null,
        lastSeen: null,
        agents: { live: 0, known: 0 },
        versions: [],
        checks: expect.any(Number),
        unassignedChecks: expect.any(Number),
        missedSlots: 0,
        maxLatenessMs: null,
        clockAheadMs: null,
        spoolRecords: null,
        spoolOldestMs: null,
      });
    });

    it('has the worst of the agents that poll, and the sum of what waits at them', async () => {
      await agent('one').ask({ clockAheadMs: 40, health: HEALTH });
      await agent('two').ask({
        version: '1.3.0',
        clockAheadMs: -90,
        health: { ...HEALTH, maxLatenessMs: 700, spoolRecords: 5, spoolOldestMs: null },
      });
      // An agent of an older release does not report it.
      await agent('old').ask();
      expect(await status()).toMatchObject({
        state: 'online',
        lastSeen: expect.stringMatching(/Z$/),
        agents: { live: 3, known: 3 },
        versions: ['1.2.3', '1.3.0'],
        clockAheadMs: -90,
        maxLatenessMs: 700,
        spoolRecords: 9,
        spoolOldestMs: 3_000,
      });
    });

    it('is idle or silent when no agent polls any more, without what the gone ones reported', async () => {
      const { store, berlin, mine } = fixtureOf();
      const one = agent('one');
      await one.ask({ health: HEALTH });
      await store.query('update agents set lease_until = null');
      const gone = { agents: { live: 0, known: 1 }, versions: [], maxLatenessMs: null };
      expect(await status()).toMatchObject({ ...gone, state: 'idle', silentSince: null });
      await store.query(
        `insert into assignments (location_id, check_id, account_id, unassigned_reason, period_ms,
           phase_ms, stride, stride_index, check_revision, revision)
         values ($1, 'shop', $2, 'no_agents', 60000, 0, 1, 0, 1, 1)`,
        [berlin.id, mine.accountId],
      );
      // Before the service has stored the silence.
      const { lastSeen, ...unstored } = await status();
      expect(unstored).toMatchObject({ ...gone, state: 'silent', silentSince: lastSeen });
      const since = '2026-01-31T12:00:00.000Z';
      await store.query(
        `insert into silent_locations (location_id, account_id, since, covered_until)
         values ($1, $2, $3::timestamptz, now())`,
        [berlin.id, mine.accountId, since],
      );
      expect(await status()).toMatchObject({ ...gone, state: 'silent', silentSince: since });
      // The silence ends at the next scan.
      await one.ask({ health: HEALTH });
      expect(await status()).toMatchObject({ state: 'online', silentSince: null });
    });

    it('counts the missed slots of the last day alone, also of ranges that began before', async () => {
      const { store, mine } = fixtureOf();
      const missed = (slot: string, lastSlot: string, count: number, location = 'berlin') =>
        store.query(
          `insert into missed_slots (account_id, check_id, location, slot, last_slot, count, reason)
           values ($1, 'shop', $2, now() - $3::interval, now() - $4::interval, $5::int, 'agent_busy')`,
          [mine.accountId, location, slot, lastSlot, count],
        );
      await missed('2 hours', '2 hours', 1);
      await missed('3 hours', '2 hours 50 minutes', 11);
      // Every hour from 28:30 to 22:30 hours ago: two of seven are within the day.
      await missed('28 hours 30 minutes', '22 hours 30 minutes', 7);
      await missed('40 hours', '30 hours', 11);
      await missed('1 hour', '1 hour', 1, 'oslo');
      expect(await status()).toMatchObject({ missedSlots: 14 });
    });

    it('is listed with those of the other locations of the account, and of no other account', async () => {
      const { mine, theirs, berlin } = fixtureOf();
      const listed = await mine.get(`${PATH}?limit=100`);
      expect(listed.json.map(({ slug }: { slug: string }) => slug)).toContain('berlin');
      expect(listed.json.find(({ id }: { id: string }) => id === berlin.id)).toEqual(
        await status(),
      );
      // Transactions of other tests on the same server delay what a cursor shows.
      const walked = await until(
        () => mine.get(`${PATH}?limit=100&cursor=start`),
        ({ json }) => json.length >= listed.json.length,
      );
      expect(walked.json).toHaveLength(listed.json.length);
      expect((await theirs.get(`${PATH}/${berlin.id}`)).status).toBe(404);
      const foreign = (await theirs.get(`${PATH}?limit=100`)).json;
      expect(foreign.map(({ id }: { id: string }) => id)).not.toContain(berlin.id);
    });
  });
});
