import { beforeEach } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { createAssigner } from '../../../src/service/agents/assignment/assigner.ts';
import {
  createLocationSilence,
  type LocationSilence,
} from '../../../src/service/private-locations/silent-locations.ts';
import { silentLog } from '../database/databases.ts';
import { captureLog, type LogCapture } from '../log-capture.ts';
import { LEASE_MS } from './agent-fixture.ts';
import { PollingAgent } from './polling-agent.ts';
import {
  DAY_MS,
  type ResultsFixture,
  type TestLocation,
  useResultsFixture,
} from './results-fixture.ts';
import type { RunningService } from './service-fixture.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/** A replica's keeper of silent locations. */
export interface Keeper extends LocationSilence {
  readonly logs: LogCapture;
}

/**
 * The fixture of results with agents whose leases go by the clock of the test. `shop` runs every minute
 * in berlin.
 */
export interface SilenceFixture extends ResultsFixture {
  /** The agent polls now, and gets the checks of the location. */
  poll(location: TestLocation, agentId?: string): Promise<void>;
  /** Assigns checks as the service does. */
  assign(): Promise<void>;
  keeper(): Keeper;
  /** Lets the time pass with a scan of each keeper every ten seconds. */
  pass(seconds: number, ...keepers: readonly Keeper[]): Promise<void>;
  /** The missed slots of the check, oldest first, as `seconds from the start of the test`. */
  missed(checkId?: string): Promise<readonly MissedView[]>;
  location(location: TestLocation): Promise<{ readonly silentSince: string | null }>;
  /** The instant of the test's clock, in ISO 8601. */
  at(seconds: number): string;
}

export interface MissedView {
  readonly location: string;
  readonly reason: string;
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** For a describe block: new locations and agents in each test. */
export function useSilenceFixture(runningOf: () => RunningService): () => SilenceFixture {
  const results = useResultsFixture(runningOf);
  let fixture: SilenceFixture | null = null;
  beforeEach(async () => {
    fixture = await makeFixture(results());
  });
  return () => {
    if (fixture === null) throw new Error('the fixture is for tests: it comes before the first');
    return fixture;
  };
}

async function makeFixture(results: ResultsFixture): Promise<SilenceFixture> {
  const { store, clock, features, mine } = results;
  const { accountId } = mine;
  // Without the locations of other tests.
  await store.query('delete from agents');
  await store.query('delete from silent_locations');
  // Tests let days pass, and agents that the database last saw a month ago are deleted. The slots of
  // hourly checks are whole hours.
  const startAtMs = systemClock.wallMs() - 15 * DAY_MS;
  clock.stepWall(startAtMs - (startAtMs % HOUR_MS) - clock.wallMs());
  const startMs = clock.wallMs();
  const assigner = createAssigner({ store, clock, log: silentLog() });
  const agents = new Map<string, PollingAgent>();
  const at = (seconds: number): string => new Date(startMs + seconds * SECOND_MS).toISOString();

  const assign = async (): Promise<void> => {
    await assigner.pass();
    // The database has another clock: moves the times that it wrote to the clock of the test.
    const changedAt = (column: string): string =>
      `${column} = case when ${column} > $2::timestamptz - interval '1 day' then $1::timestamptz else ${column} end`;
    await store.query(
      `update assigned_slots
       set ${changedAt('since')}, ${changedAt('until')}, ${changedAt('replaced_at')}
       where location_id in (select id from private_locations where account_id = $3)`,
      [new Date(clock.wallMs()), new Date(systemClock.wallMs()), accountId],
    );
  };
  const fixture: SilenceFixture = {
    ...results,
    assign,
    at,
    async poll({ id: locationId, slug }, agentId = `${slug}-1`) {
      const caller = { accountId, locationId, keyId: 'key' };
      const agent = agents.get(agentId) ?? new PollingAgent(features.agents, caller, agentId);
      agents.set(agentId, agent);
      await agent.look();
      await assign();
      await agent.look();
      await store.query(
        `update agents set last_seen_at = $2::timestamptz, lease_until = $3::timestamptz
         where location_id = $1 and id = $4`,
        [locationId, new Date(clock.wallMs()), new Date(clock.wallMs() + LEASE_MS), agentId],
      );
    },
    keeper() {
      const logs = captureLog();
      const { locationAlerts } = features;
      const parts = { store, clock, log: logs.log, leaseMs: LEASE_MS, retentionDays: 30 };
      return { ...createLocationSilence({ ...parts, locationAlerts }), logs };
    },
    async pass(seconds, ...keepers) {
      for (let passed = 0; passed < seconds; passed += 10) {
        clock.spend(10 * SECOND_MS);
        await Promise.all(keepers.map((keeper) => scanAll(keeper)));
      }
    },
    async missed(checkId = 'shop') {
      const from = Math.floor(startMs / 1_000) - 40 * 86_400;
      const to = from + 80 * 86_400;
      const reply = await mine.get(`/v1/missed-slots/${checkId}?limit=100&from=${from}&to=${to}`);
      if (reply.status !== 200) throw new Error(`no missed slots: ${reply.text}`);
      const rows: readonly { [field: string]: string }[] = reply.json;
      return rows.toReversed().map(({ location, reason, slot, lastSlot, count }) => ({
        location: location ?? '',
        reason: reason ?? '',
        from: (Date.parse(slot ?? '') - startMs) / SECOND_MS,
        to: (Date.parse(lastSlot ?? '') - startMs) / SECOND_MS,
        count: Number(count),
      }));
    },
    async location({ id }) {
      return (await mine.get(`/v1/private-locations/${id}`)).json;
    },
  };
  // It was created at the time of the test before.
  await mine.delete('/v1/checks/shop');
  await fixture.check('shop', {
    privateLocations: ['berlin'],
    frequency: 1,
    // The slots are whole minutes.
    frequencyOffset: 10,
  });
  return fixture;
}

async function scanAll(keeper: Keeper): Promise<void> {
  while (await keeper.scan());
}
