import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { insertAccount } from '../../../../src/service/accounts/sql.ts';
import { createApiKeys } from '../../../../src/service/api-keys/api-keys.ts';
import { databases, useMigratedStore } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { type AgentFixture, useAgentFixture } from '../../../support/service/agent-fixture.ts';
import {
  type AgentsOverHttp,
  useAgentsOverHttp,
} from '../../../support/service/agents-over-http.ts';
import { CAPABILITIES } from '../../../support/service/check-runs-fixture.ts';
import type { PollingAgent } from '../../../support/service/polling-agent.ts';
import {
  minutesAgo,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const ENDED = { status: 409, attributes: { reason: 'ended' } };

/** Agents that an operator ends, and allows again. */
describe.each(databases)('on %s', (kind) => {
  describe('an agent that was ended', () => {
    const store = useMigratedStore(kind);
    const fixtureOf = useAgentFixture(store, { perLocation: 2, concurrency: 100 });
    const httpOf = useAgentsOverHttp(store, fixtureOf);
    let fixture: AgentFixture;
    let http: AgentsOverHttp;
    let path: string;
    let one: PollingAgent;
    let other: PollingAgent;

    beforeEach(async () => {
      fixture = fixtureOf();
      http = httpOf();
      path = `/v1/private-locations/${fixture.cellar.id}/agents`;
      await fixture.addChecks('check', 10);
      one = http.agent(fixture.cellar, 'agent-a');
      other = http.agent(fixture.cellar, 'agent-b');
      await one.look();
      await other.look();
      await fixture.assigner.pass();
      await one.look();
      await other.look();
    });

    const end = async (): Promise<void> => {
      expect((await http.ask(`${path}/agent-a`, 'DELETE')).status).toBe(204);
    };

    it('loses its checks to the others at once, and is shown as ended', async () => {
      expect(one.ids.length).toBeGreaterThan(0);
      await end();
      await fixture.assigner.pass();
      await other.look();
      expect(other.ids).toHaveLength(10);
      expect(await http.listed(fixture.cellar)).toMatchObject([
        {
          id: 'agent-a',
          live: false,
          checks: 0,
          leaseUntil: null,
          endedAt: expect.stringMatching(/^\d{4}-.*Z$/),
        },
        { id: 'agent-b', live: true, checks: 10, endedAt: null },
      ]);
    });

    it('gets an answer without checks and is then refused, whichever process polls (trust model AN19)', async () => {
      await end();
      // An agent of the previous release would run its checks on at an error.
      expect(await one.look()).toMatchObject({ full: true, upsert: [], epoch: 0, revision: 0 });
      expect(one.ids).toEqual([]);
      await expect(one.look()).rejects.toMatchObject({
        ...ENDED,
        message: expect.stringContaining(`POST ${path}/agent-a/allow`),
      });
      const restarted = http.agent(fixture.cellar, 'agent-a', { instanceId: 'restarted' });
      await expect(restarted.look()).rejects.toMatchObject(ENDED);
      expect((await http.app.ask('/metrics')).text).toContain(
        'vedette_service_agents_refused_total{reason="ended"} 2',
      );
      expect(fixture.logs.records()).toMatchObject([{ reason: 'ended', agentId: 'agent-a' }]);
    });

    it('gets the end as the answer to its held poll', async () => {
      const held = fixture.agent('agent-c');
      await http.ask(`${path}/agent-b`, 'DELETE');
      await held.look();
      await fixture.assigner.pass();
      await held.look();
      expect(held.ids.length).toBeGreaterThan(0);
      const told = held.poll();
      await eventually(() => fixture.clock.pendingTimers > 0);
      expect((await http.ask(`${path}/agent-c`, 'DELETE')).status).toBe(204);
      expect(await told).toMatchObject({ full: true, upsert: [], epoch: 0 });
      expect(held.ids).toEqual([]);
    });

    it('gets no answer between two pages, which would add to them', async () => {
      await end();
      const marker = Buffer.from(
        JSON.stringify({ revision: 1, epoch: one.epoch, after: 'check-1' }),
      ).toString('base64url');
      const answer = await http.send(
        fixture.cellar,
        '/agent/v1/poll',
        one.request({ page: marker }),
      );
      expect([answer.status, answer.json.attributes.reason]).toEqual([409, 'ended']);
    });

    it('frees its slot for another agent, and gets one again when it is allowed', async () => {
      const newcomer = http.agent(fixture.cellar, 'agent-c');
      await expect(newcomer.look()).rejects.toMatchObject({ status: 409 });
      await end();
      await newcomer.look();
      await newcomer.release();
      expect((await http.ask(`${path}/agent-a/allow`, 'POST')).status).toBe(204);
      expect((await http.listed(fixture.cellar))[0]).toMatchObject({
        id: 'agent-a',
        endedAt: null,
      });
      one.epoch = 0;
      one.revision = 0;
      await one.look();
      await fixture.assigner.pass();
      await one.look();
      expect(one.ids.length).toBeGreaterThan(0);
      expect((await http.ask(`${path}/agent-a/allow`, 'POST')).status).toBe(204);
    });

    it('does not change when it is ended again', async () => {
      await end();
      const [before] = await http.listed(fixture.cellar);
      await end();
      expect((await http.listed(fixture.cellar))[0]).toEqual(before);
    });

    it('loses the lease that a replica of the previous release gave it', async () => {
      await end();
      await store().query(
        `update agents set lease_until = now() + interval '1 hour', epoch = epoch + 1
         where id = 'agent-a'`,
      );
      const told = await one.ask({ epoch: one.epoch + 1 });
      expect(told).toMatchObject({ full: true, upsert: [], epoch: 0 });
      await fixture.assigner.pass();
      await other.look();
      expect(other.ids).toHaveLength(10);
      expect((await http.listed(fixture.cellar))[0]).toMatchObject({
        live: false,
        leaseUntil: null,
      });
    });

    it('is not deleted after a month, since it could poll again as a new one', async () => {
      await end();
      await store().query(
        `update agents set last_seen_at = now() - interval '31 days' where id = 'agent-a'`,
      );
      await other.release();
      await fixture.assigner.pass();
      await expect(one.ask({ epoch: 0 })).rejects.toMatchObject(ENDED);
    });

    it('is ended and allowed only with write access to its account', async () => {
      const stranger = randomUUID();
      await insertAccount(store(), { id: stranger, name: 'theirs', createdAtMs: 0 });
      const keys = createApiKeys({ store: store(), clock: fixture.clock, ids: randomUUID });
      const { key } = await keys.create(stranger, { name: 'first', role: 'admin' });
      for (const [method, at] of [
        ['DELETE', `${path}/agent-a`],
        ['POST', `${path}/agent-a/allow`],
      ] as const) {
        expect((await http.ask(at, method, 'run')).status).toBe(403);
        expect((await http.app.ask(at, { key, method })).status).toBe(404);
        const unknown = at.replace('agent-a', 'agent-x');
        expect((await http.ask(unknown, method)).json.attributes).toEqual({ resource: 'agent' });
        expect((await http.ask(at.replace('agent-a', '..%2Fa'), method)).status).toBe(400);
        const elsewhere = at.replace(fixture.cellar.id, randomUUID());
        expect((await http.ask(elsewhere, method)).status).toBe(404);
      }
      expect(await http.listed(fixture.cellar)).toMatchObject([{ live: true }, { live: true }]);
    });
  });

  describe('the results of an agent that was ended', () => {
    const fixtureOf = useResultsFixture(useRunningService(kind));

    it('are stored (trust model AC15)', async () => {
      const { berlin, deliver, mine, running } = fixtureOf();
      const { features, app } = running;
      const polled = await features.agents.poll(
        { accountId: mine.accountId, locationId: berlin.id, keyId: 'key' },
        {
          agentId: 'agent',
          instanceId: 'first',
          version: '1',
          capabilities: { ...CAPABILITIES, types: ['URL'] },
          concurrency: 1,
          load: { running: 0, queued: 0 },
          revision: 0,
          epoch: 0,
          page: null,
          done: [],
          refused: [],
          clockAheadMs: null,
          health: null,
        },
        AbortSignal.abort(),
      );
      expect(polled.epoch).toBe(1);
      const ended = await mine.delete(`/v1/private-locations/${berlin.id}/agents/agent`);
      expect(ended.status).toBe(204);
      await deliver(berlin, { results: [resultOfRun({ slot: minutesAgo(1) })] });
      expect((await mine.get('/v1/check-results/shop')).json).toHaveLength(1);
      expect(app.logs.records().filter(({ level }) => level === 'error')).toEqual([]);
    });
  });
});
