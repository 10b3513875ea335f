import { describe, expect, it } from 'vitest';
import { databases, useMigratedStore } from '../../../support/database/databases.ts';
import { useAgentFixture } from '../../../support/service/agent-fixture.ts';
import { useAgentsOverHttp } from '../../../support/service/agents-over-http.ts';

const LIMITS = { perLocation: 3, concurrency: 50 };
const FULL = { status: 409, attributes: { reason: 'too_many_agents', limit: 3 } };

/** The limits of agents of a location, and of the concurrency that they report. */
describe.each(databases)('on %s', (kind) => {
  describe('a private location with a limit of agents', () => {
    const store = useMigratedStore(kind);
    const fixtureOf = useAgentFixture(store, LIMITS);
    const httpOf = useAgentsOverHttp(store, fixtureOf);

    const poll = async (...ids: readonly string[]): Promise<void> => {
      for (const id of ids) await httpOf().agent(fixtureOf().cellar, id).look();
    };

    it('refuses, counts and logs every new agent over the limit, and keeps the others (trust model AN18)', async () => {
      const { cellar, logs } = fixtureOf();
      const { app, agent, listed } = httpOf();
      await poll('agent-a', 'agent-b', 'agent-c');
      for (let n = 0; n < 20; n += 1) {
        await expect(agent(cellar, `invented-${n}`).look()).rejects.toMatchObject({
          ...FULL,
          message: expect.stringContaining('MAX_AGENTS_PER_LOCATION'),
        });
      }
      await poll('agent-a', 'agent-b', 'agent-c');
      const ids = (await listed(cellar)).map(({ id }) => id);
      expect(ids).toEqual(['agent-a', 'agent-b', 'agent-c']);
      expect((await app.ask('/metrics')).text).toContain(
        'vedette_service_agents_refused_total{reason="too_many_agents"} 20',
      );
      expect(logs.records()).toEqual([
        expect.objectContaining({
          level: 'warn',
          reason: 'too_many_agents',
          locationId: cellar.id,
          agentId: 'invented-0',
        }),
      ]);
    });

    it('logs refusals again after ten minutes, with their number', async () => {
      const { cellar, logs, clock } = fixtureOf();
      await poll('agent-a', 'agent-b', 'agent-c');
      const refused = () => expect(poll('invented')).rejects.toMatchObject(FULL);
      await refused();
      await refused();
      clock.spend(600_000);
      await refused();
      expect(logs.records().map(({ refusedBefore }) => refusedBefore)).toEqual([0, 1]);
      // Another location has its own log line.
      const attic = await fixtureOf().addLocation('attic');
      await httpOf().agent(attic, 'invented').look();
      expect((await httpOf().listed(attic)).map(({ id }) => id)).toEqual(['invented']);
      expect(await httpOf().listed(cellar)).toHaveLength(3);
    });

    it('keeps the slot of an agent that restarts, however it stopped', async () => {
      const { cellar, assigner, silence } = fixtureOf();
      const { agent } = httpOf();
      const stopped = agent(cellar, 'agent-a');
      await stopped.look();
      await poll('agent-b', 'agent-c');
      expect(await stopped.release()).toBe(true);
      await silence('agent-b');
      await assigner.pass();
      await expect(poll('invented')).rejects.toMatchObject(FULL);
      await agent(cellar, 'agent-a', { instanceId: 'restarted' }).look();
      await agent(cellar, 'agent-b', { instanceId: 'restarted' }).look();
      await expect(poll('invented')).rejects.toMatchObject(FULL);
    });

    it('frees the slot of an agent that was gone for more than five minutes', async () => {
      const { cellar, store: database } = fixtureOf();
      const stopped = httpOf().agent(cellar, 'agent-a');
      await stopped.look();
      await poll('agent-b', 'agent-c');
      await stopped.release();
      await database.query(
        `update agents set last_seen_at = now() - interval '6 minutes' where id = 'agent-a'`,
      );
      await poll('agent-d');
      await expect(stopped.look()).rejects.toMatchObject(FULL);
    });

    it('keeps all its agents when the limit is lowered', async () => {
      const { cellar, store: database, accountId } = fixtureOf();
      const { agent } = httpOf();
      await poll('agent-a');
      await database.query(
        `insert into agents (account_id, location_id, id, version, instance_id, capabilities,
           concurrency, lease_until)
         select $1, $2, 'before-' || n, '1', 'i', '{}', 1, now() + interval '1 hour'
         from generate_series(1, 5) n`,
        [accountId, cellar.id],
      );
      await poll('agent-a');
      await agent(cellar, 'agent-a', { instanceId: 'restarted' }).look();
      await agent(cellar, 'before-1', { instanceId: 'restarted' }).look();
      await expect(poll('agent-b')).rejects.toMatchObject(FULL);
    });

    it('counts the concurrency that an agent reports only up to the limit (trust model AN18)', async () => {
      const { addChecks, assigner, cellar } = fixtureOf();
      const { agent, listed } = httpOf();
      await addChecks('check', 100);
      const honest = agent(cellar, 'agent-a', { concurrency: 50 });
      const boastful = agent(cellar, 'agent-b', { concurrency: 100_000 });
      await honest.look();
      await boastful.look();
      await assigner.pass();
      await honest.look();
      await boastful.look();
      expect(honest.ids.length).toBeGreaterThan(25);
      expect(honest.ids.length + boastful.ids.length).toBe(100);
      const before = honest.ids;
      boastful.become({ concurrency: 50 });
      await boastful.look();
      await assigner.pass();
      await honest.look();
      expect(honest.ids).toEqual(before);
      boastful.become({ concurrency: 100_000 });
      await boastful.look();
      expect(await listed(cellar)).toMatchObject([
        { id: 'agent-a', concurrency: 50, countedConcurrency: 50 },
        { id: 'agent-b', concurrency: 100_000, countedConcurrency: 50 },
      ]);
    });
  });
});
