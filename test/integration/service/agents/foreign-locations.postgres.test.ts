import { beforeEach, describe, expect, it } from 'vitest';
import {
  MAX_AGENT_ERRORS,
  MAX_ERRORS_PER_AGENT,
} from '../../../../src/service/agent-errors/agent-errors.ts';
import { databases, useMigratedStore } from '../../../support/database/databases.ts';
import {
  type AgentFixture,
  type FixtureLocation,
  useAgentFixture,
} from '../../../support/service/agent-fixture.ts';
import {
  type AgentsOverHttp,
  useAgentsOverHttp,
} from '../../../support/service/agents-over-http.ts';

const ERROR = { class: 'TypeError', code: null, stack: [], count: 1, firstAt: 0, lastAt: 0 };

const report = (agentId: string, errors: readonly object[] = [ERROR]) => ({
  agentId,
  version: '0.2.0',
  node: 'v20.19.0',
  platform: 'linux',
  arch: 'x64',
  reports: errors,
});

/** The key of one location neither affects another location nor shows its checks. */
describe.each(databases)('on %s', (kind) => {
  describe('the key of a location', () => {
    const store = useMigratedStore(kind);
    const fixtureOf = useAgentFixture(store);
    const httpOf = useAgentsOverHttp(store, fixtureOf);
    let fixture: AgentFixture;
    let http: AgentsOverHttp;
    let attic: FixtureLocation;

    beforeEach(async () => {
      fixture = fixtureOf();
      http = httpOf();
      attic = await fixture.addLocation('attic');
    });

    it('shows no problems of checks that its agents never had (trust model AN15)', async () => {
      const { cellar } = fixture;
      await fixture.addCheck('of-cellar');
      await fixture.addCheck('of-attic', { privateLocations: ['attic'] });
      const liar = http.agent(attic, 'agent-a');
      await liar.look();
      await fixture.assigner.pass();
      await liar.look();
      expect(liar.ids).toEqual(['of-attic']);
      liar.refused = [
        { checkId: 'of-cellar', problem: 'is down, and nobody noticed' },
        { checkId: 'of-attic', problem: 'request.http3: is not known' },
        { checkId: 'invented', problem: 'was never there' },
      ];
      await liar.look();
      expect((await http.listed(attic))[0].refused).toEqual([
        { checkId: 'of-attic', problem: 'request.http3: is not known' },
      ]);
      // Nor those of another agent of the location.
      const second = http.agent(attic, 'agent-b');
      second.refused = [{ checkId: 'of-attic', problem: 'I say so, too' }];
      await second.look();
      expect((await http.listed(attic))[1].refused).toEqual([]);
      expect(await http.listed(cellar)).toEqual([]);
    });

    it('shows the problem of a run that its agent got', async () => {
      await fixture.addCheck('asked-for', { activated: false });
      await fixture.checkRuns.request(fixture.accountId, 'asked-for', { location: 'cellar' });
      const asked = http.agent(fixture.cellar, 'agent-a');
      await asked.look();
      await fixture.assigner.pass();
      expect((await asked.look()).runs).toHaveLength(1);
      asked.refused = [{ checkId: 'asked-for', problem: 'request.http3: is not known' }];
      await asked.look();
      expect((await http.listed(fixture.cellar))[0].refused).toEqual(asked.refused);
    });

    it('closes no runs of another location, neither by a poll nor by a release (trust model AN15)', async () => {
      await fixture.addCheck('of-cellar');
      const { id: runId } = await fixture.checkRuns.request(fixture.accountId, 'of-cellar', {
        location: 'cellar',
      });
      const holder = http.agent(fixture.cellar, 'agent-a');
      await holder.look();
      await fixture.assigner.pass();
      const runs = async () => (await holder.look()).runs.map((run) => run.runId);
      expect(await runs()).toEqual([runId]);
      const liar = http.agent(attic, 'agent-a');
      liar.done = [runId];
      await liar.look();
      await liar.look();
      await http.send(attic, '/agent/v1/release', { agentId: 'agent-a', epoch: 1, done: [runId] });
      expect(await runs()).toEqual([runId]);
    });

    it('releases no lease of another location (trust model AN15)', async () => {
      await fixture.addCheck('of-cellar');
      const holder = http.agent(fixture.cellar, 'agent-a');
      await holder.look();
      const release = { agentId: 'agent-a', epoch: holder.epoch, done: [] };
      const answer = await http.send(attic, '/agent/v1/release', release);
      expect(answer.json).toEqual({ released: false });
      expect((await http.listed(fixture.cellar))[0]).toMatchObject({ live: true });
    });

    it('reports errors only for agents of its own (trust model AC13, AN16)', async () => {
      await http.agent(fixture.cellar, 'agent-a').look();
      for (const agentId of ['agent-a', 'invented-1', 'invented-2']) {
        const refused = await http.send(attic, '/agent/v1/errors', report(agentId));
        expect([refused.status, refused.json.attributes]).toEqual([
          409,
          { reason: 'unknown_agent' },
        ]);
      }
      const errors = async ({ id }: FixtureLocation) =>
        (await http.ask(`/v1/private-locations/${id}/agent-errors?limit=100`)).json;
      expect(await errors(attic)).toEqual([]);
      expect(await errors(fixture.cellar)).toEqual([]);
      const own = await http.send(fixture.cellar, '/agent/v1/errors', report('agent-a'));
      expect(own.json).toEqual({ stored: 1 });
      expect(await errors(fixture.cellar)).toMatchObject([{ agentId: 'agent-a' }]);
    });

    it('does not evict the errors of one agent by those of another (trust model AN16)', async () => {
      await http.agent(fixture.cellar, 'agent-a').look();
      await http.agent(fixture.cellar, 'agent-b').look();
      await http.send(fixture.cellar, '/agent/v1/errors', report('agent-a'));
      const many = Array.from({ length: 100 }, () => ERROR);
      for (let n = 0; n < 11; n += 1) {
        const sent = await http.send(fixture.cellar, '/agent/v1/errors', report('agent-b', many));
        expect(sent.json).toEqual({ stored: 100 });
      }
      const counts = await store().query(
        'select agent_id, count(*) as errors from agent_errors group by agent_id order by agent_id',
      );
      expect(counts).toEqual([
        { agentId: 'agent-a', errors: 1 },
        { agentId: 'agent-b', errors: MAX_ERRORS_PER_AGENT },
      ]);
    });

    it('does not evict the errors of an agent by those of many invented agents (trust model AN16)', async () => {
      await http.agent(fixture.cellar, 'honest').look();
      const own = Array.from({ length: 60 }, () => ERROR);
      await http.send(fixture.cellar, '/agent/v1/errors', report('honest', own));
      const many = Array.from({ length: MAX_ERRORS_PER_AGENT }, () => ERROR);
      for (let n = 0; n < 12; n += 1) {
        await http.agent(fixture.cellar, `invented-${n}`).look();
        const sent = await http.send(
          fixture.cellar,
          '/agent/v1/errors',
          report(`invented-${n}`, many),
        );
        expect(sent.json).toEqual({ stored: MAX_ERRORS_PER_AGENT });
      }
      const counts = await store().query<{ agentId: string; errors: number }>(
        'select agent_id, count(*) as errors from agent_errors group by agent_id order by agent_id',
      );
      expect(counts[0]).toEqual({ agentId: 'honest', errors: 60 });
      expect(counts.reduce((sum, { errors }) => sum + errors, 0)).toBe(MAX_AGENT_ERRORS);
      // The agents above their share divide the rest.
      const invented = counts.slice(1).map(({ errors }) => errors);
      expect([Math.min(...invented), Math.max(...invented)]).toEqual([78, 79]);
    });
  });
});
