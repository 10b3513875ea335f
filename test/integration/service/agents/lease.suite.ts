import { describe, expect, it } from 'vitest';
import type { AgentFixture } from '../../../support/service/agent-fixture.ts';

/** Which process of an agent has its lease. */
export function leaseSuite(fixtureOf: () => AgentFixture): void {
  describe("an agent's lease", () => {
    it('goes to the newer of two processes, and ends the held poll of the older one (trust model AC10)', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 5);
      fixture.startAssigner();
      const old = fixture.agent('agent-a', { instanceId: 'first' });
      await old.poll();
      expect(old.ids).toHaveLength(5);
      const held = old.poll();
      const told = expect(held).rejects.toMatchObject({
        status: 409,
        attributes: { reason: 'replaced' },
      });
      const restarted = fixture.agent('agent-a', { instanceId: 'second' });
      await restarted.poll();
      await told;
      expect(restarted.ids).toHaveLength(5);
      expect(restarted.epoch).toBe(old.epoch + 1);
      await expect(old.look()).rejects.toMatchObject({
        status: 409,
        attributes: { reason: 'replaced' },
      });
      // The drain of the older process takes nothing from the newer one either.
      expect(await old.release()).toBe(false);
      await restarted.look();
      expect(restarted.ids).toHaveLength(5);
    });

    it('stays with a process that did not get the answer to its first poll', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 3);
      const a = fixture.agent('agent-a');
      const lost = await a.ask();
      await fixture.assigner.pass();
      const told = await a.look();
      expect(told.epoch).toBe(lost.epoch);
      expect(told.full).toBe(true);
      expect(a.ids).toHaveLength(3);
    });

    it('whose first answer was lost gets the whole set again', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 3);
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      // A check is deleted while no agent runs any, so no agent has to be notified.
      await fixture.silence('agent-a');
      await fixture.assigner.pass();
      await fixture.checks.remove({ accountId: fixture.accountId, id: 'check-1' });
      await fixture.assigner.pass();
      await a.ask();
      await fixture.assigner.pass();
      expect((await a.look()).full).toBe(true);
      expect(a.ids).toEqual(['check-0', 'check-2']);
    });

    it('continues after its end if no replica noticed it, without sending anything again', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 3);
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      const { epoch } = a;
      await fixture.silence('agent-a');
      expect(await a.look()).toMatchObject({ epoch, full: false, upsert: [], remove: [] });
      expect(await fixture.assigner.pass()).toBe(0);
    });

    it('that is acquired again keeps its checks without moving them', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 10);
      const [a, b] = [fixture.agent('agent-a'), fixture.agent('agent-b')];
      await a.look();
      await b.look();
      await fixture.assigner.pass();
      await a.look();
      await b.look();
      const ofA = a.ids;
      const restarted = fixture.agent('agent-a', { instanceId: 'second' });
      await restarted.look();
      await fixture.assigner.pass();
      expect(await b.look()).toMatchObject({ full: false, upsert: [], remove: [] });
      expect(await restarted.look()).toMatchObject({ full: false, upsert: [], remove: [] });
      expect(restarted.ids).toEqual(ofA);
      // They have the new epoch, which shows that their agent is live.
      expect(
        await fixture.store.query(
          'select distinct agent_id, agent_epoch from assignments order by agent_id',
        ),
      ).toEqual([
        { agentId: 'agent-a', agentEpoch: restarted.epoch },
        { agentId: 'agent-b', agentEpoch: b.epoch },
      ]);
    });

    it('with a revision that the service does not know gets the whole set', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 2);
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      // As after a database was restored from a backup.
      a.revision += 1_000;
      expect((await a.look()).full).toBe(true);
      expect(a.ids).toHaveLength(2);
      expect(a.revision).toBeLessThan(1_000);
    });

    it('is stored for at most a thousand agents of a location; those that are gone are deleted', async () => {
      const fixture = fixtureOf();
      const { store, cellar, accountId } = fixture;
      const fill = (lease: string): Promise<unknown> =>
        store.query(
          `insert into agents (account_id, location_id, id, version, instance_id, capabilities,
             concurrency, lease_until, last_seen_at)
           select $1, $2, 'filler-' || n, '1', 'i', '{}', 1, ${lease},
             now() - interval '1 hour' - n * interval '1 second'
           from generate_series(1, 1000) n
           on conflict (location_id, id) do update set lease_until = excluded.lease_until`,
          [accountId, cellar.id],
        );
      const known = async (): Promise<readonly string[]> =>
        (await store.query<{ id: string }>('select id from agents')).map(({ id }) => id);
      await fill('null');
      await fixture.agents.end(accountId, cellar.id, 'filler-1000');
      await fixture.agent('agent-a').look();
      expect(await known()).toHaveLength(1000);
      expect(await known()).not.toContain('filler-999');
      // An ended agent stays: otherwise it could return as a new one.
      expect(await known()).toContain('filler-1000');
    });
  });

  describe('the list of the agents of a location', () => {
    it('shows what they reported, and which are gone', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 10);
      const [a, b] = [fixture.agent('agent-a'), fixture.agent('agent-b', { concurrency: 50 })];
      await a.look();
      await b.look();
      await fixture.assigner.pass();
      await b.look();
      const [checkId = ''] = b.ids;
      b.refused = [{ checkId, problem: 'request.http3: is not known' }];
      await b.look();
      const list = (): ReturnType<AgentFixture['agents']['list']> =>
        fixture.agents.list(fixture.accountId, fixture.cellar.id, { limit: 10, page: 1 });
      const [first, second] = await list();
      expect(first).toMatchObject({ id: 'agent-a', live: true, checks: 10 - b.ids.length });
      expect(second).toMatchObject({
        id: 'agent-b',
        version: '1.2.3',
        concurrency: 50,
        running: 1,
        queued: 2,
        checks: b.ids.length,
        live: true,
        refused: b.refused,
        capabilities: { icmp: true, ipv6: true, capture: false },
      });
      await b.release();
      await fixture.assigner.pass();
      expect((await list())[1]).toMatchObject({ live: false, leaseUntil: null, checks: 0 });
      expect((await list())[0]).toMatchObject({ checks: 10 });
      expect(
        await fixture.agents.list(fixture.accountId, fixture.cellar.id, { limit: 1, page: 2 }),
      ).toMatchObject([{ id: 'agent-b' }]);
      await expect(
        fixture.agents.list('another', fixture.cellar.id, { limit: 10, page: 1 }),
      ).rejects.toMatchObject({ status: 404 });
    });
  });
}
