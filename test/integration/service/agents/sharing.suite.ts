import { describe, expect, it } from 'vitest';
import type { AgentFixture } from '../../../support/service/agent-fixture.ts';
import { PollingAgent, sorted } from '../../../support/service/polling-agent.ts';

/** Which agent runs each check, by the database: `agent`, or `- reason`. */
export async function ownersOf(fixture: AgentFixture): Promise<ReadonlyMap<string, string>> {
  const rows = await fixture.store.query<{ checkId: string; owner: string }>(
    `select check_id, coalesce(agent_id, '- ' || unassigned_reason) as owner from assignments
     where location_id = $1`,
    [fixture.cellar.id],
  );
  return new Map(rows.map(({ checkId, owner }) => [checkId, owner]));
}

const all = (...agents: readonly PollingAgent[]): readonly string[] =>
  sorted(agents.flatMap(({ ids }) => ids));

const LEASE_END = `(select lease_until from agents where id = 'agent-a')`;
const ASSIGNED_AT = `(select assigned_at from location_assignments where location_id = $1)`;

/** An instant of the cellar's by the database's clock, epoch milliseconds. */
async function timeIn({ store, cellar }: AgentFixture, sql: string): Promise<number> {
  const [row] = await store.query<{ at: Date }>(
    `select ${sql} as at from private_locations where id = $1`,
    [cellar.id],
  );
  return row?.at.getTime() ?? Number.NaN;
}

function answeredUntil(agent: PollingAgent): number | null | undefined {
  return agent.checks.get('ping')?.answeredUntil;
}

/** How the checks of a location are shared out among its agents. */
export function sharingSuite(fixtureOf: () => AgentFixture): void {
  describe('the checks of a location', () => {
    it('are each run by exactly one of its agents, in proportion to concurrency', async () => {
      const fixture = fixtureOf();
      const ids = sorted(await fixture.addChecks('check', 60));
      const [a, b] = [
        fixture.agent('agent-a', { concurrency: 100 }),
        fixture.agent('agent-b', { concurrency: 300 }),
      ];
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      expect(a.ids).toEqual(ids);
      await b.look();
      await fixture.assigner.pass();
      await a.look();
      await b.look();
      expect(all(a, b)).toEqual(ids);
      expect(b.ids.length).toBeGreaterThan(a.ids.length);
      expect(a.ids.length).toBeGreaterThan(0);
    });

    it('move to an agent that joins only as far as they are its share (trust model AC11)', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 60);
      const [a, b, c] = [
        fixture.agent('agent-a'),
        fixture.agent('agent-b'),
        fixture.agent('agent-c'),
      ];
      await a.look();
      await b.look();
      await fixture.assigner.pass();
      await a.look();
      await b.look();
      const before = await ownersOf(fixture);
      const [ofA, ofB] = [a.ids, b.ids];
      await c.look();
      await fixture.assigner.pass();
      const told = [await a.look(), await b.look()];
      await c.look();
      const after = await ownersOf(fixture);
      const moved = [...after].filter(([id, owner]) => owner !== before.get(id));
      expect(moved.length).toBeGreaterThan(5);
      expect(new Set(moved.map(([, owner]) => owner))).toEqual(new Set(['agent-c']));
      expect(c.ids).toEqual(sorted(moved.map(([id]) => id)));
      // An agent that loses checks gets only their removal.
      expect(told.map(({ full, upsert }) => ({ full, upsert }))).toEqual([
        { full: false, upsert: [] },
        { full: false, upsert: [] },
      ]);
      expect(sorted(told.flatMap(({ remove }) => remove))).toEqual(c.ids);
      expect(all(a, b, c)).toEqual(sorted([...ofA, ...ofB]));
    });

    it('move when the lease of a silent agent has ended, which then gets the whole set again', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 40);
      const [a, b] = [fixture.agent('agent-a'), fixture.agent('agent-b')];
      await a.look();
      await b.look();
      await fixture.assigner.pass();
      await a.look();
      await b.look();
      const ofB = b.ids;
      expect(await fixture.assigner.pass()).toBe(0);
      await fixture.silence('agent-b');
      expect(await fixture.assigner.pass()).toBe(1);
      const told = await a.look();
      expect(sorted(told.upsert.map(({ checkId }) => checkId))).toEqual(ofB);
      expect(told.full).toBe(false);
      expect(a.ids).toHaveLength(40);

      const epoch = b.epoch;
      await b.look();
      expect(b.epoch).toBeGreaterThan(epoch);
      await fixture.assigner.pass();
      await a.look();
      expect((await b.look()).full).toBe(true);
      expect(b.ids).toEqual(ofB);
      expect(all(a, b)).toHaveLength(40);
    });

    it('move within about a second of the end of a lease', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 4);
      const [a, b] = [fixture.agent('agent-a'), fixture.agent('agent-b')];
      fixture.startAssigner();
      await a.poll();
      await b.poll();
      await a.look();
      const held = a.poll();
      await fixture.silence('agent-b');
      await fixture.clock.advance(1_300);
      await held;
      expect(a.ids).toHaveLength(4);
    });

    it('move at once when an agent gives its lease back', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 20);
      const [a, b] = [fixture.agent('agent-a'), fixture.agent('agent-b')];
      await a.look();
      await b.look();
      await fixture.assigner.pass();
      await a.look();
      await b.look();
      fixture.startAssigner();
      const held = a.poll();
      expect(await b.release()).toBe(true);
      const told = await held;
      expect(sorted(told.upsert.map(({ checkId }) => checkId))).toEqual(b.ids);
      expect(a.ids).toHaveLength(20);
      expect(await b.release()).toBe(false);
    });

    it('move unchanged, or with the changes made while their agent left', async () => {
      const fixture = fixtureOf();
      const { accountId, checks } = fixture;
      // They rotate with another location, so their slots differ from those of their frequency.
      await fixture.addLocation('attic');
      await fixture.addChecks('check', 30, { privateLocations: ['attic', 'cellar'] });
      const [a, b] = [fixture.agent('agent-a'), fixture.agent('agent-b')];
      await a.look();
      await b.look();
      while ((await fixture.assigner.pass()) > 0);
      await a.look();
      await b.look();
      const ofB = new Map(b.checks);
      const [off, gone, renamed] = [...ofB.keys()].slice(0, 3) as [string, string, string];
      await b.release();
      await checks.update({ accountId, id: off }, { activated: false });
      await checks.remove({ accountId, id: gone });
      await checks.update({ accountId, id: renamed }, { name: 'renamed' });
      while ((await fixture.assigner.pass()) > 0);
      const { upsert, remove } = await a.look();
      expect(remove).toEqual([]);
      const told = new Map(upsert.map((one) => [one.checkId, one]));
      expect(sorted([...told.keys(), off, gone])).toEqual(sorted([...ofB.keys()]));
      expect(told.get(renamed)?.check).toMatchObject({ name: 'renamed' });
      for (const [id, one] of told) {
        const before = ofB.get(id);
        expect(one.slots).toMatchObject({ ...before?.slots, stride: 2, index: 1 });
        if (id !== renamed) expect(one.check).toEqual(before?.check);
      }
      expect(await fixture.assigner.pass()).toBe(0);
    });

    it('end with their agent if they were deleted after the scan of its location', async () => {
      const fixture = fixtureOf();
      const ids = await fixture.addChecks('check', 3);
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      const b = fixture.agent('agent-b');
      await a.release();
      await b.look();
      await fixture.assigner.pass();
      const ownersBefore = await ownersOf(fixture);
      expect(new Set(ownersBefore.values())).toEqual(new Set(['agent-b']));
      const c = fixture.agent('agent-c', { capabilities: { types: ['DNS'] } });
      await c.look();
      await fixture.assigner.pass();
      await b.release();
      await fixture.checks.remove({ accountId: fixture.accountId, id: 'check-1' });
      // As if another assigner had just taken the changes.
      await fixture.store.query(`delete from location_changes where check_id = 'check-1'`);
      await fixture.assigner.pass();
      const left = ids.filter((id) => id !== 'check-1');
      expect(await ownersOf(fixture)).toEqual(
        new Map(left.map((id) => [id, '- type_not_supported'])),
      );
      expect(await fixture.assigner.pass()).toBe(0);
    });

    it('are unassigned with a reason if only the agent that is gone could run them', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('ping', { checkType: 'ICMP', request: { hostname: 'host' } });
      await fixture.addCheck('tcp-check');
      const a = fixture.agent('agent-a', { capabilities: { icmp: false } });
      const b = fixture.agent('agent-b', { capabilities: { types: ['ICMP'] } });
      await a.look();
      await b.look();
      await fixture.assigner.pass();
      expect(await ownersOf(fixture)).toEqual(
        new Map([
          ['ping', 'agent-b'],
          ['tcp-check', 'agent-a'],
        ]),
      );
      await b.release();
      await fixture.assigner.pass();
      expect((await ownersOf(fixture)).get('ping')).toBe('- icmp_not_permitted');
      // The reason why no agent has a check follows the remaining agents.
      const c = fixture.agent('agent-c', { capabilities: { types: ['DNS'] } });
      await c.look();
      await fixture.assigner.pass();
      await a.release();
      await fixture.assigner.pass();
      expect(await ownersOf(fixture)).toEqual(
        new Map([
          ['ping', '- type_not_supported'],
          ['tcp-check', '- type_not_supported'],
        ]),
      );
      expect(await fixture.assigner.pass()).toBe(0);
    });

    it('come with the time from which an agent answers for them', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('ping');
      await fixture.assigner.pass();
      const agent = fixture.agent('agent-a');
      await agent.look();
      await fixture.assigner.pass();
      // The next poll renews the lease.
      const leaseEndMs = await timeIn(fixture, LEASE_END);
      await agent.look();
      // Not from the assignment: the check may need up to a lease to reach the agent.
      expect(answeredUntil(agent)).toBe(leaseEndMs);
      // The process may have run the checks, and been killed before they were on disk.
      const assignedMs = await timeIn(fixture, `(select first_assigned_at from assignments)`);
      expect(assignedMs).toBeLessThan(leaseEndMs);
      const again = fixture.agent('agent-a', { instanceId: 'agent-a-2' });
      await again.look();
      expect(answeredUntil(again)).toBe(assignedMs);
      await fixture.assigner.pass();
      await again.look();
      expect(answeredUntil(again)).toBe(assignedMs);

      const seenMs = await timeIn(
        fixture,
        `(select last_seen_at from agents where id = 'agent-a')`,
      );
      await fixture.silence('agent-a');
      const other = fixture.agent('agent-b');
      await other.look();
      await fixture.assigner.pass();
      await other.look();
      expect(answeredUntil(other)).toBeGreaterThanOrEqual(seenMs);
    });

    it('are answered for from their first assignment if the agent was killed before it saved them, and the answer to its next process was lost', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('ping');
      const killed = fixture.agent('agent-a');
      await killed.look();
      await fixture.assigner.pass();
      const assignedMs = await timeIn(fixture, `(select first_assigned_at from assignments)`);
      await killed.look();
      await fixture.agent('agent-a', { instanceId: 'agent-a-2' }).ask();
      await fixture.silence('agent-a');
      await fixture.assigner.pass();
      expect(await ownersOf(fixture)).toEqual(new Map([['ping', '- no_live_agent']]));
      const third = fixture.agent('agent-a', { instanceId: 'agent-a-3' });
      await third.look();
      await fixture.assigner.pass();
      await third.look();
      expect(answeredUntil(third)).toBe(assignedMs);
    });

    it('that an agent lost before it had them on disk are answered for from where the agent before it stopped', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('ping');
      const first = fixture.agent('agent-a');
      await first.look();
      await fixture.assigner.pass();
      await first.look();
      await first.look();
      await first.release();
      const second = fixture.agent('agent-b');
      await second.look();
      await fixture.assigner.pass();
      const stoppedMs = await timeIn(fixture, `(select answered_until from assignments)`);
      // It received the check, and was killed before it saved it and polled again.
      await second.look();
      expect(answeredUntil(second)).toBe(stoppedMs);
      await fixture.silence('agent-b');
      const third = fixture.agent('agent-c');
      await third.look();
      await fixture.assigner.pass();
      await third.look();
      expect(answeredUntil(third)).toBe(stoppedMs);
      // The next poll confirms that it has them: it answers for them from then on.
      await third.look();
      const seenMs = await timeIn(
        fixture,
        `(select last_seen_at from agents where id = 'agent-c')`,
      );
      await fixture.silence('agent-c');
      const fourth = fixture.agent('agent-d');
      await fourth.look();
      await fixture.assigner.pass();
      await fourth.look();
      expect(answeredUntil(fourth)).toBe(seenMs);
    });

    it.each([
      { polls: 'still has them', time: ASSIGNED_AT },
      { polls: 'was told that they are gone', time: LEASE_END },
    ])('come back to an agent that $polls with another such time', async ({ polls, time }) => {
      const fixture = fixtureOf();
      const { accountId, checks } = fixture;
      await fixture.addCheck('ping');
      const agent = fixture.agent('agent-a');
      await agent.look();
      await fixture.assigner.pass();
      await agent.look();
      await checks.update({ accountId, id: 'ping' }, { activated: false });
      await fixture.assigner.pass();
      if (polls !== 'still has them') {
        await agent.look();
        expect(agent.ids).toEqual([]);
        await agent.look();
      }
      await checks.update({ accountId, id: 'ping' }, { activated: true });
      await fixture.assigner.pass();
      const untilMs = await timeIn(fixture, time);
      // The agent still runs them: a later instant would lose slots that are already due.
      await agent.look();
      expect(answeredUntil(agent)).toBe(untilMs);
    });

    it('are unassigned with a reason while there is no agent', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('ping', {
        checkType: 'ICMP',
        request: { hostname: 'host' },
      });
      await fixture.assigner.pass();
      expect(await ownersOf(fixture)).toEqual(new Map([['ping', '- no_live_agent']]));
      const a = fixture.agent('agent-a', { capabilities: { icmp: false } });
      await a.look();
      await fixture.assigner.pass();
      expect(await ownersOf(fixture)).toEqual(new Map([['ping', '- icmp_not_permitted']]));
      // After the operator permits ICMP, the same process notices.
      a.become({ capabilities: { icmp: true } });
      const { epoch } = a;
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      expect(a.ids).toEqual(['ping']);
      expect(a.epoch).toBe(epoch);
    });

    it('with newer fields are for agents that know them, also as runs on request', async () => {
      const fixture = fixtureOf();
      const tcp = { hostname: 'host', port: 22 };
      await fixture.addCheck('plain');
      await fixture.addCheck('secure', { request: { ...tcp, tls: 'ON' } });
      await fixture.addCheck('steps', { request: { ...tcp, steps: [{ expect: '^220' }] } });
      await fixture.addCheck('serials', {
        checkType: 'DNS',
        request: { query: 'zone.test', recordType: 'SOA', compareSerials: true },
      });
      const auth = { type: 'DIGEST', username: 'reader', password: 'secret' };
      await fixture.addCheck('auth', {
        checkType: 'API',
        request: { url: 'http://shop.test/', auth },
      });
      const flags = [{ source: 'RESPONSE_DATA', comparison: 'NOT_NULL', regex: '(?i)ready' }];
      await fixture.addCheck('flags', { request: { ...tcp, assertions: flags } });
      await fixture.addCheck('often', {
        checkType: 'URL',
        frequency: 0,
        frequencyOffset: 10,
        request: { url: 'http://shop.test/' },
      });
      await fixture.addCheck('statuses', {
        checkType: 'URL',
        request: {
          url: 'http://shop.test/',
          assertions: [{ source: 'STATUS_CODE', comparison: 'ONE_OF', target: '200, 404' }],
        },
      });
      const old = fixture.agent('agent-a', { capabilities: { features: [] } });
      await old.look();
      await fixture.assigner.pass();
      await old.look();
      expect(old.ids).toEqual(['plain']);
      const newer = ['auth', 'flags', 'often', 'secure', 'serials', 'statuses', 'steps'];
      const owners = await ownersOf(fixture);
      for (const id of newer) expect(owners.get(id)).toBe('- feature_not_supported');
      const { id: runId } = await fixture.checkRuns.request(fixture.accountId, 'secure', {
        location: null,
      });
      expect((await old.look()).runs).toEqual([]);

      const upgraded = fixture.agent('agent-a', { instanceId: 'agent-a-2' });
      await upgraded.look();
      await fixture.assigner.pass();
      expect((await upgraded.look()).runs).toMatchObject([{ runId }]);
      expect(upgraded.ids).toEqual(sorted(['plain', ...newer]));
    });

    it('rotate among the locations that they name, as their fields say', async () => {
      const fixture = fixtureOf();
      const attic = await fixture.addLocation('attic');
      await fixture.addCheck('turns', { frequency: 1, frequencyOffset: 2 });
      const a = fixture.agent('agent-a');
      const other = new PollingAgent(fixture.agents, attic.caller, 'agent-a');
      await a.look();
      await other.look();
      await fixture.assigner.pass();
      await a.look();
      const slots = { periodMs: 60_000, phaseMs: 12_000 };
      expect(a.checks.get('turns')?.slots).toEqual({ ...slots, stride: 1, index: 0 });

      await fixture.addCheck('turns', { privateLocations: ['attic', 'cellar'] });
      await fixture.assigner.pass();
      await a.look();
      await other.look();
      expect(a.checks.get('turns')?.slots).toEqual({ ...slots, stride: 2, index: 1 });
      expect(other.checks.get('turns')?.slots).toEqual({ ...slots, stride: 2, index: 0 });

      // Only those that have agents here rotate.
      await fixture.addCheck('turns', { locations: ['eu-west-1'] });
      await fixture.store.query(
        `update checks set body = jsonb_set(body, '{privateLocations}', '["no-more", "attic", "cellar"]')`,
      );
      await fixture.assigner.pass();
      await a.look();
      expect(a.checks.get('turns')?.slots).toEqual({ ...slots, stride: 2, index: 1 });

      await fixture.addCheck('turns', { privateLocations: ['attic', 'cellar'], runParallel: true });
      await fixture.assigner.pass();
      await a.look();
      expect(a.checks.get('turns')?.slots).toEqual({ ...slots, stride: 1, index: 0 });
      expect(a.checks.get('turns')?.check).toMatchObject({ runParallel: true });
    });

    it('run where their group says, and only while it is active', async () => {
      const fixture = fixtureOf();
      const { accountId, groups, assigner } = fixture;
      const attic = await fixture.addLocation('attic');
      const group = await groups.create(accountId, { name: 'Shop' });
      await fixture.addCheck('grouped', { groupId: group.id });
      const a = fixture.agent('agent-a');
      const other = new PollingAgent(fixture.agents, attic.caller, 'agent-a');
      const seen = async (): Promise<unknown> => {
        await assigner.pass();
        await a.look();
        await other.look();
        return [a.ids, other.ids];
      };
      await seen();
      expect(await seen()).toEqual([['grouped'], []]);
      expect(a.checks.get('grouped')?.check).toMatchObject({ groupId: group.id });
      await groups.update({ accountId, id: group.id }, { activated: false });
      expect(await seen()).toEqual([[], []]);
      await groups.update({ accountId, id: group.id }, { activated: true });
      expect(await seen()).toEqual([['grouped'], []]);
      await groups.update({ accountId, id: group.id }, { privateLocations: ['attic'] });
      expect(await seen()).toEqual([[], ['grouped']]);
      await groups.update({ accountId, id: group.id }, { privateLocations: [] });
      expect(await seen()).toEqual([['grouped'], []]);
      await groups.update({ accountId, id: group.id }, { privateLocations: ['attic'] });
      expect(await seen()).toEqual([[], ['grouped']]);
      await groups.remove({ accountId, id: group.id });
      expect(await seen()).toEqual([['grouped'], []]);
    });
  });
}
