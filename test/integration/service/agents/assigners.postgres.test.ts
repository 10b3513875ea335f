import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgents } from '../../../../src/service/agents/agents.ts';
import { createAssigner } from '../../../../src/service/agents/assignment/assigner.ts';
import { createLocationWake } from '../../../../src/service/agents/assignment/location-wake.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import {
  type DatabaseKind,
  databases,
  newPostgresDatabase,
  openMigratedStore,
  openOnPostgres,
  useEmptyTables,
} from '../../../support/database/databases.ts';
import { captureLog, type LogCapture } from '../../../support/log-capture.ts';
import {
  type AgentFixture,
  LEASE_MS,
  noSecrets,
  noSettings,
  useAgentFixture,
} from '../../../support/service/agent-fixture.ts';
import { PollingAgent, sorted } from '../../../support/service/polling-agent.ts';
import { TEST_PROXY_PASSWORDS } from '../../../support/service/service-features.ts';

/** Two stores on one database; of the embedded one there is only one. */
function useTwoStores(kind: DatabaseKind): () => readonly [Store, Store] {
  let stores: readonly [Store, Store] | null = null;
  beforeAll(async () => {
    stores = await openTwoStores(kind);
  });
  afterAll(async () => {
    for (const store of new Set(stores)) await store.close();
  });
  return () => {
    if (stores === null) throw new Error('the stores are for tests: they open before the first');
    return stores;
  };
}

async function openTwoStores(kind: DatabaseKind): Promise<readonly [Store, Store]> {
  if (kind === 'pglite') {
    const only = await openMigratedStore(kind);
    return [only, only];
  }
  const databaseUrl = await newPostgresDatabase('migrated');
  return [await openOnPostgres(databaseUrl), await openOnPostgres(databaseUrl)];
}

/** Replicas of the service that share nothing but the database. */
describe.each(databases)('on %s', (kind) => {
  describe('two assigners', () => {
    const stores = useTwoStores(kind);
    useEmptyTables(() => stores()[0]);
    const fixtureOf = useAgentFixture(() => stores()[0]);

    const second = async (fixture: AgentFixture) => {
      const [, store] = stores();
      const { clock, checkRuns, checkVariables } = fixture;
      const proxyPasswords = TEST_PROXY_PASSWORDS;
      const logs: LogCapture = captureLog();
      const wake = await createLocationWake(store, clock);
      return {
        agents: createAgents({
          store,
          clock,
          log: logs.log,
          wake,
          checkRuns,
          checkTrials: fixture.checkTrials,
          leaseMs: LEASE_MS,
          checkVariables,
          proxyPasswords,
          settingsOf: noSettings,
          scrubberOf: noSecrets,
        }),
        assigner: createAssigner({ store, clock, log: logs.log }),
        logs,
        wake,
      };
    };

    it('handle each location once', async () => {
      const fixture = fixtureOf();
      const other = await second(fixture);
      for (let n = 0; n < 20; n += 1) await fixture.addLocation(`location-${n}`);
      const done = await Promise.all([fixture.assigner.pass(), other.assigner.pass()]);
      expect(done[0] + done[1]).toBe(21);
      expect(await fixture.assigner.pass()).toBe(0);
      await other.wake.close();
    });

    it('assign every check to exactly one agent, whatever changes and whichever replica answers', async () => {
      const fixture = fixtureOf();
      const { accountId, checks, store } = fixture;
      const other = await second(fixture);
      const stop = new AbortController();
      const running = [fixture.assigner.run(stop.signal), other.assigner.run(stop.signal)];
      const replicas = [fixture.agents, other.agents];
      const polling = Array.from({ length: 6 }, (_, n) => {
        const agents = replicas[n % 2] ?? fixture.agents;
        return new PollingAgent(agents, fixture.cellar.caller, `agent-${n}`);
      });
      await fixture.addChecks('check', 40);
      await Promise.all([
        ...polling.map(async (agent, n) => {
          for (let round = 0; round < 4; round += 1) await agent.look();
          if (n > 3) await agent.release();
        }),
        (async () => {
          for (let n = 0; n < 15; n += 1) {
            await checks.update({ accountId, id: `check-${n}` }, { activated: n % 3 !== 0 });
            if (n % 5 === 0) await checks.remove({ accountId, id: `check-${n + 20}` });
            if (n % 4 === 0) await fixture.addCheck(`added-${n}`);
          }
        })(),
      ]);
      stop.abort();
      await Promise.all(running);
      while ((await fixture.assigner.pass()) + (await other.assigner.pass()) > 0);

      const live = polling.slice(0, 4);
      for (const agent of live) await agent.look();
      const active = await store.query<{ id: string }>(
        'select id from checks where account_id = $1 and activated',
        [accountId],
      );
      expect(active.length).toBeGreaterThan(30);
      expect(sorted(live.flatMap(({ ids }) => ids))).toEqual(sorted(active.map(({ id }) => id)));
      expect(other.logs.records()).toEqual([]);
      await other.wake.close();
    });

    it('continue with the other locations when one fails, and log that once', async () => {
      const fixture = fixtureOf();
      const other = await second(fixture);
      const attic = await fixture.addLocation('attic');
      await fixture.store.query(
        `create function refuse() returns trigger language plpgsql as $$
         begin raise exception 'not this one'; end $$`,
      );
      await fixture.store.query(
        `create trigger refuse before insert on assignments for each row
         when (new.location_id = '${fixture.cellar.id}') execute function refuse()`,
      );
      try {
        await fixture.addCheck('in-both', { privateLocations: ['cellar', 'attic'] });
        expect(await other.assigner.pass()).toBe(1);
        expect(await ownersIn(fixture, attic.id)).toEqual(['in-both']);
        await other.assigner.pass();
        await fixture.clock.advance(60_000);
        expect(await other.assigner.pass()).toBe(0);
        expect(other.logs.records()).toHaveLength(1);
      } finally {
        await fixture.store.query('drop function refuse cascade');
      }
      await fixture.clock.advance(60_000);
      expect(await other.assigner.pass()).toBe(1);
      expect(await ownersIn(fixture, fixture.cellar.id)).toEqual(['in-both']);
      await other.wake.close();
    });

    // The embedded database does one thing after the other.
    if (kind !== 'postgres') return;
    it('handle a check that is deleted while its group gets their location', async () => {
      const { store, accountId, groups, checks, cellar, addCheck, addLocation } = fixtureOf();
      const { id: groupId } = await groups.create(accountId, { name: 'group' });
      await addLocation('attic');
      await addCheck('check', { groupId, privateLocations: ['attic'] });
      const events = new EventEmitter();
      const [held, goOn] = [once(events, 'held'), once(events, 'continue')];
      const changing = store.transaction(async (tx) => {
        await tx.query(
          `update check_groups set private_locations = '["cellar"]' where id = $1::bigint`,
          [groupId],
        );
        events.emit('held');
        await goOn;
      });
      await held;
      let isRemoved = false;
      const removing = checks.remove({ accountId, id: 'check' }).finally(() => {
        isRemoved = true;
      });
      const waits = async (): Promise<boolean> =>
        (await store.query('select from pg_locks where not granted')).length > 0;
      while (!isRemoved && !(await waits()));
      events.emit('continue');
      await Promise.all([changing, removing]);
      const told = await store.query<{ checkId: string }>(
        'select check_id from location_changes where location_id = $1 and check_id is not null',
        [cellar.id],
      );
      expect(told).toEqual([{ checkId: 'check' }]);
    });
  });
});

async function ownersIn({ store }: AgentFixture, locationId: string): Promise<readonly string[]> {
  const rows = await store.query<{ checkId: string }>(
    'select check_id from assignments where location_id = $1',
    [locationId],
  );
  return rows.map(({ checkId }) => checkId);
}
