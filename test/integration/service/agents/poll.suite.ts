import { describe, expect, it } from 'vitest';
import type { PollResponse } from '../../../../src/wire/v1/poll.ts';
import { eventually } from '../../../support/eventually.ts';
import type { AgentFixture } from '../../../support/service/agent-fixture.ts';
import { PollingAgent } from '../../../support/service/polling-agent.ts';

const HOLD_MS = 5_000;

/** An agent that has all its checks, while the assigner waits for changes. */
async function settledAgent(fixture: AgentFixture, checks: number): Promise<PollingAgent> {
  await fixture.addChecks('check', checks);
  fixture.startAssigner();
  const a = fixture.agent('agent-a');
  await a.poll();
  await a.look();
  expect(a.ids).toHaveLength(checks);
  return a;
}

/** A poll that the service holds: there is a timer beside the assigner's. */
async function heldPoll(
  fixture: AgentFixture,
  agent: PollingAgent,
): Promise<{ answer: Promise<PollResponse> }> {
  await eventually(() => fixture.clock.pendingTimers === 1);
  const answer = agent.poll();
  await eventually(() => fixture.clock.pendingTimers === 2);
  return { answer };
}

/** The answers to polls, and their times. */
export function pollSuite(fixtureOf: () => AgentFixture): void {
  describe('a poll', () => {
    it('that is the first of an agent waits until its checks are assigned', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 3);
      const a = fixture.agent('agent-a');
      const answer = a.poll();
      // The poll is held: an answer without checks would stop what the agent ran before.
      await eventually(() => fixture.clock.pendingTimers === 1);
      await fixture.assigner.pass();
      expect(await answer).toMatchObject({
        full: true,
        epoch: 1,
        leaseMs: 15_000,
        location: {
          slug: 'cellar',
          proxyUrl: null,
          variables: [],
          settings: { clientCertificates: [], pauses: [] },
        },
        nextPage: null,
      });
      expect(a.ids).toEqual(['check-0', 'check-1', 'check-2']);
      const told = a.checks.get('check-0');
      expect(told?.check).toMatchObject({ checkType: 'TCP', name: 'check-0', groupId: null });
      expect(told?.slots).toMatchObject({ periodMs: 600_000, stride: 1, index: 0 });
      expect(a.revision).toBeGreaterThan(0);
    });

    it('that ends before its checks are assigned keeps what the agent ran before', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 3);
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      // The agent was away until it had lost all checks, and the service stops when it returns.
      await fixture.silence('agent-a');
      await fixture.assigner.pass();
      const answer = await a.look();
      expect(answer).toMatchObject({ full: false, upsert: [], remove: [], epoch: 2 });
      expect(a.ids).toEqual(['check-0', 'check-1', 'check-2']);
      await fixture.checks.remove({ accountId: fixture.accountId, id: 'check-1' });
      await fixture.assigner.pass();
      expect(await a.look()).toMatchObject({ full: true, epoch: 2 });
      expect(a.ids).toEqual(['check-0', 'check-2']);
    });

    it.each([
      [
        'created',
        (fixture: AgentFixture) => fixture.addCheck('new'),
        { upsert: ['new'], remove: [] },
      ],
      [
        'changed',
        (fixture: AgentFixture) =>
          fixture.checks.update(
            { accountId: fixture.accountId, id: 'check-1' },
            { name: 'renamed' },
          ),
        { upsert: ['check-1'], remove: [] },
      ],
      [
        'deactivated',
        (fixture: AgentFixture) =>
          fixture.checks.update(
            { accountId: fixture.accountId, id: 'check-1' },
            { activated: false },
          ),
        { upsert: [], remove: ['check-1'] },
      ],
      [
        'deleted',
        (fixture: AgentFixture) =>
          fixture.checks.remove({ accountId: fixture.accountId, id: 'check-1' }),
        { upsert: [], remove: ['check-1'] },
      ],
    ])('that is held ends when a check is %s, and returns that alone', async (_, change, told) => {
      const fixture = fixtureOf();
      const a = await settledAgent(fixture, 3);
      const { answer } = await heldPoll(fixture, a);
      await change(fixture);
      const { full, upsert, remove } = await answer;
      expect({ full, upsert: upsert.map(({ checkId }) => checkId), remove }).toEqual({
        full: false,
        ...told,
      });
    });

    it('returns the current check, and what was added and removed between polls', async () => {
      const fixture = fixtureOf();
      const { accountId, checks } = fixture;
      await fixture.addChecks('check', 3);
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      await checks.update({ accountId, id: 'check-0' }, { frequency: 5, frequencyOffset: 1 });
      await checks.remove({ accountId, id: 'check-1' });
      await checks.update({ accountId, id: 'check-2' }, { activated: false });
      await fixture.assigner.pass();
      await checks.update({ accountId, id: 'check-2' }, { activated: true });
      await fixture.assigner.pass();
      await a.look();
      expect(a.ids).toEqual(['check-0', 'check-2']);
      expect(a.checks.get('check-0')?.slots).toMatchObject({ periodMs: 300_000, phaseMs: 6_000 });
    });

    it('returns a check that was deleted and created again under the same id', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('check-0');
      await fixture.addCheck('check-1');
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      await fixture.checks.remove({ accountId: fixture.accountId, id: 'check-1' });
      await fixture.addCheck('check-1', { request: { hostname: 'another', port: 23 } });
      await fixture.assigner.pass();
      expect((await a.look()).upsert).toMatchObject([
        { checkId: 'check-1', check: { request: { hostname: 'another' } } },
      ]);
    });

    it('ends after a third of the lease without changes, with the current revision', async () => {
      const fixture = fixtureOf();
      const a = await settledAgent(fixture, 1);
      const attic = await fixture.addLocation('attic');
      const { answer } = await heldPoll(fixture, a);
      let ended = false;
      void answer.then(() => {
        ended = true;
      });
      // A check of another location does not concern it.
      const before = await revisionOf(fixture, attic.id);
      await fixture.addCheck('elsewhere', { privateLocations: ['attic'] });
      await eventuallyAsync(async () => (await revisionOf(fixture, attic.id)) > before);
      await fixture.clock.advance(HOLD_MS - 1);
      expect(ended).toBe(false);
      await fixture.clock.advance(1);
      expect(await answer).toMatchObject({
        full: false,
        upsert: [],
        remove: [],
        runs: [],
        revision: await revisionOf(fixture, fixture.cellar.id),
      });
    });

    it('of an agent without any check is held, too', async () => {
      const fixture = fixtureOf();
      fixture.startAssigner();
      const a = fixture.agent('agent-a');
      expect(await a.poll()).toMatchObject({ full: true, upsert: [] });
      await a.look();
      const { answer } = await heldPoll(fixture, a);
      await fixture.clock.advance(HOLD_MS);
      expect(await answer).toMatchObject({ full: false, upsert: [], remove: [] });
    });

    it('ends at once when the client is gone, and leaves nothing behind', async () => {
      const fixture = fixtureOf();
      await fixture.addCheck('check');
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      const gone = new AbortController();
      const answer = a.poll(gone.signal);
      await eventually(() => fixture.clock.pendingTimers === 1);
      gone.abort();
      expect(await answer).toMatchObject({ full: false, upsert: [], remove: [] });
      expect(fixture.clock.pendingTimers).toBe(0);
    });

    it('returns a new proxy of the location at once', async () => {
      const fixture = fixtureOf();
      const a = await settledAgent(fixture, 1);
      const { answer } = await heldPoll(fixture, a);
      const proxyUrl = 'http://proxy:3128';
      await fixture.locations.update(
        { accountId: fixture.accountId, id: fixture.cellar.id },
        { proxyUrl },
      );
      expect(await answer).toMatchObject({ location: { proxyUrl }, full: false, upsert: [] });
      // Also where it changed while no poll was held.
      await fixture.locations.update(
        { accountId: fixture.accountId, id: fixture.cellar.id },
        { proxyUrl: null },
      );
      expect(await a.poll()).toMatchObject({ location: { proxyUrl: null } });
      // Known settings are not sent again.
      const { answer: idle } = await heldPoll(fixture, a);
      await fixture.clock.advance(HOLD_MS);
      expect(await idle).toMatchObject({ location: { settings: null } });
    });

    it('ends when its location is deleted, with the answer to an invalid key', async () => {
      const fixture = fixtureOf();
      const attic = await fixture.addLocation('attic');
      const a = new PollingAgent(fixture.agents, attic.caller, 'agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      const answer = a.poll();
      const ended = expect(answer).rejects.toMatchObject({ status: 401 });
      await eventually(() => fixture.clock.pendingTimers === 1);
      await fixture.locations.remove({ accountId: fixture.accountId, id: attic.id });
      await ended;
      await expect(a.look()).rejects.toMatchObject({ status: 401 });
    });

    it('ends at once for a requested run, which later answers repeat', async () => {
      const fixture = fixtureOf();
      const a = await settledAgent(fixture, 1);
      const { answer } = await heldPoll(fixture, a);
      const { id } = await fixture.checkRuns.request(fixture.accountId, 'check-0', {
        location: null,
      });
      expect((await answer).runs).toMatchObject([{ runId: id, checkId: 'check-0' }]);
      // The run is still open, but does not end later polls. Only another run does.
      const next = await heldPoll(fixture, a);
      const further = await fixture.checkRuns.request(fixture.accountId, 'check-0', {
        location: null,
      });
      expect(new Set((await next.answer).runs.map(({ runId }) => runId))).toEqual(
        new Set([id, further.id]),
      );
      a.done = [id, further.id];
      expect((await a.look()).runs).toEqual([]);
    });

    it('ends at once for a run that is cancelled, which later answers repeat until it is done', async () => {
      const fixture = fixtureOf();
      const a = await settledAgent(fixture, 1);
      const { accountId } = fixture;
      const { id } = await fixture.checkRuns.request(accountId, 'check-0', { location: null });
      expect((await a.look()).cancelledRuns).toEqual([]);
      const { answer } = await heldPoll(fixture, a);
      await fixture.checkRuns.cancel({ accountId, id });
      expect(await answer).toMatchObject({ runs: [], cancelledRuns: [id] });
      expect((await a.look()).cancelledRuns).toEqual([id]);
      a.done = [id];
      expect((await a.look()).cancelledRuns).toEqual([]);
    });

    it('with an unknown page marker is refused', async () => {
      const a = fixtureOf().agent('agent-a');
      await expect(a.ask({ page: 'bm9uZQ' })).rejects.toMatchObject({
        status: 400,
        attributes: { problems: [{ path: 'body.page' }] },
      });
    });

    it('whose revision is older than the tombstones gets the whole set', async () => {
      const fixture = fixtureOf();
      await fixture.addChecks('check', 4);
      const a = fixture.agent('agent-a');
      await a.look();
      await fixture.assigner.pass();
      await a.look();
      await fixture.checks.remove({ accountId: fixture.accountId, id: 'check-1' });
      await fixture.assigner.pass();
      await fixture.store.query(
        `update assignment_tombstones set created_at = now() - interval '25 hours'`,
      );
      expect(await fixture.assigner.pass()).toBe(1);
      expect(await fixture.assigner.pass()).toBe(0);
      expect((await a.look()).full).toBe(true);
      expect(a.ids).toEqual(['check-0', 'check-2', 'check-3']);
    });
  });
}

async function revisionOf({ store }: AgentFixture, locationId: string): Promise<number> {
  const [row] = await store.query<{ revision: number }>(
    'select revision from location_assignments where location_id = $1',
    [locationId],
  );
  return row?.revision ?? 0;
}

async function eventuallyAsync(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise<void>((resolve) => setImmediate(resolve));
}
