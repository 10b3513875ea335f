import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_ONE_OFFS } from '../../../../src/wire/v1/limits.ts';
import { databases } from '../../../support/database/databases.ts';
import {
  RunsFixture,
  type TestAgent,
  type TestLocation,
  useRunsService,
} from '../../../support/service/check-runs-fixture.ts';
import { problemsIn, useAccounts } from '../../../support/service/service-fixture.ts';

const MINUTE_MS = 60_000;

/** Runs of groups through the API, with agents that run the checks. */
describe.each(databases)('on %s', (kind) => {
  describe('runs of a group', () => {
    const running = useRunsService(kind);
    const service = useAccounts(running);
    let fixture: RunsFixture;
    let cellar: TestLocation;
    let attic: TestLocation;
    let groupId: number;

    beforeEach(async () => {
      fixture = new RunsFixture(running(), service().mine.accountId);
      cellar = await fixture.location('cellar');
      attic = await fixture.location('attic');
      groupId = await group({});
    });

    it('start its checks in their order, and end with a verdict and an event', async () => {
      const { mine, theirs, store } = service();
      const agent = await fixture.join(cellar, 'a');
      await member('last');
      await member('two', { groupOrder: 2 });
      await member('one', { groupOrder: 1 });
      await member('uno', { groupOrder: 1 });
      await member('off', { activated: false });

      const made = await mine.post(path());
      expect(made.status).toBe(201);
      expect(made.json).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        groupId,
        groupName: 'Shop',
        location: null,
        state: 'waiting',
        verdict: null,
        concurrency: 3,
        requestedBy: { kind: 'key', id: expect.any(String) },
        created_at: expect.any(String),
        endedAt: null,
        checks: expect.any(Array),
      });
      const { id } = made.json;
      const seen = async () => (await read(id)).checks.map(shown);
      expect(await seen()).toEqual([
        'one cellar waiting',
        'uno cellar waiting',
        'two cellar pending',
        'last cellar pending',
        'off - skipped deactivated',
      ]);

      expect(await make(agent, { one: 'degraded' })).toEqual(['one', 'uno']);
      expect(await advanced(id)).toMatchObject({ state: 'running', verdict: null });
      expect(await make(agent)).toEqual(['two']);
      await advanced(id);
      expect(await make(agent)).toEqual(['last']);
      const ended = await advanced(id);
      expect(ended).toMatchObject({ state: 'ended', verdict: 'degraded' });
      expect(ended.endedAt).not.toBeNull();
      expect(ended.checks.map(shown)).toEqual([
        'one cellar done degraded',
        'uno cellar done passed',
        'two cellar done passed',
        'last cellar done passed',
        'off - skipped deactivated',
      ]);
      const [{ runId, resultId }] = ended.checks;
      const run = (await mine.get(`/v1/check-runs/${runId}`)).json;
      expect(run).toMatchObject({ checkId: 'one', state: 'done', resultId });

      expect((await theirs.get(`/v1/check-group-runs/${id}`)).status).toBe(404);
      const events = await store.query(
        `select resource_id, data from events where account_id = $1 and kind = 'group_run.finished'`,
        [mine.accountId],
      );
      expect(events).toEqual([
        { resourceId: id, data: { groupId, state: 'ended', verdict: 'degraded' } },
      ]);
    });

    it('go through each location by itself', async () => {
      const inCellar = await fixture.join(cellar, 'a');
      const inAttic = await fixture.join(attic, 'b');
      const both = { privateLocations: ['attic', 'cellar'] };
      groupId = await group(both);
      await member('one', { groupOrder: 1 });
      await member('two', { groupOrder: 2 });
      const { id } = await started();
      expect(await make(inAttic, { one: 'failed' })).toEqual(['one']);
      await advanced(id);
      expect(await make(inAttic)).toEqual(['two']);
      expect((await advanced(id)).checks.map(shown)).toEqual([
        'one attic done failed',
        'one cellar waiting',
        'two attic done passed',
        'two cellar pending',
      ]);
      expect(await make(inCellar)).toEqual(['one']);
      await advanced(id);
      expect(await make(inCellar)).toEqual(['two']);
      expect(await advanced(id)).toMatchObject({ state: 'ended', verdict: 'failed' });
    });

    it('leave locations without an agent out, unless one is requested', async () => {
      const { mine } = service();
      await fixture.join(cellar, 'a');
      await member('one', {}, [attic, cellar]);
      const all = await started();
      expect(all.checks.map(shown)).toEqual(['one attic skipped no_agent', 'one cellar waiting']);
      const here = await started({ location: 'attic' });
      expect(here.location).toBe('attic');
      expect(here.checks.map(shown)).toEqual(['one attic waiting']);
      for (const [location, problem] of [
        ['vault', 'body.location must be a private location of the checks of the group: '],
        [7, 'body.location'],
        ['', 'body.location'],
      ]) {
        const refused = await mine.post(path(), { location });
        expect(refused.status).toBe(400);
        expect(problemsIn(refused).join('\n')).toContain(problem);
      }
    });

    it('have no more concurrent runs in a location than the group allows', async () => {
      const agent = await fixture.join(cellar, 'a');
      groupId = await group({ concurrency: 2 });
      for (const id of ['a', 'b', 'c', 'd', 'e']) await member(id);
      const { id } = await started();
      expect(await make(agent)).toEqual(['a', 'b']);
      await advanced(id);
      expect(await make(agent)).toEqual(['c', 'd']);
      await advanced(id);
      expect(await make(agent)).toEqual(['e']);
      expect((await advanced(id)).verdict).toBe('passed');
    });

    it('continue in a location that was full, whatever the others do', async () => {
      const inCellar = await fixture.join(cellar, 'a');
      await fixture.join(attic, 'b');
      const both = [attic, cellar];
      await member('one', { groupOrder: 1 }, both);
      await member('two', { groupOrder: 1 }, both);
      await member('three', { groupOrder: 2 }, both);
      await fill(cellar, MAX_ONE_OFFS);
      const { id, checks } = await started();
      const inAttic = ['one attic waiting', 'two attic waiting', 'three attic pending'];
      const ofCellar = ({ checks: all }: { checks: { location: string }[] }) =>
        all
          .filter(({ location }) => location === 'cellar')
          .map(shown)
          .sort((one, other) => one.localeCompare(other));
      expect(checks.map(shown)).toEqual(expect.arrayContaining(inAttic));
      expect(ofCellar({ checks })).toEqual([
        'one cellar pending',
        'three cellar pending',
        'two cellar pending',
      ]);
      // One of the two locations has capacity.
      await empty(cellar, 1);
      expect(ofCellar(await advanced(id))).toEqual([
        'one cellar waiting',
        'three cellar pending',
        'two cellar pending',
      ]);
      await empty(cellar, MAX_ONE_OFFS);
      const all = await advanced(id);
      expect(ofCellar(all)).toEqual([
        'one cellar waiting',
        'three cellar pending',
        'two cellar waiting',
      ]);
      expect(all.checks.map(shown)).toEqual(expect.arrayContaining(inAttic));
      // There is nothing to do until a run ends.
      expect(await running().features.groupRuns.sweep()).toBe(0);
      expect(await make(inCellar)).toEqual(['one', 'two']);
      expect(ofCellar(await advanced(id))).toContain('three cellar waiting');
    });

    it('go on when an agent is lost, when a check is deleted and when a location is', async () => {
      const agent = await fixture.join(cellar, 'a');
      await fixture.join(attic, 'b');
      await member('one', { groupOrder: 1 });
      await member('two', { groupOrder: 2 });
      await member('three', { groupOrder: 3 }, [attic, cellar]);
      const { id } = await started();
      await fixture.claim(agent);
      await fixture.endLease(agent);
      const { accountId } = service().mine;
      await running().features.checks.remove({ accountId, id: 'two' });
      await lapse();
      expect(await running().features.checkRuns.sweep()).toBeGreaterThan(0);
      expect((await advanced(id)).checks.map(shown)).toEqual([
        'one cellar expired',
        'two cellar skipped check_deleted',
        'three attic expired',
        'three cellar waiting',
      ]);
      await deleteLocation(cellar);
      expect(await advanced(id)).toMatchObject({ state: 'ended', verdict: 'incomplete' });
    });

    it('are cancelled as a whole, and each by itself', async () => {
      const { mine, theirs, clientWith } = service();
      const agent = await fixture.join(cellar, 'a');
      groupId = await group({ concurrency: 1 });
      for (const [groupOrder, id] of ['a', 'b', 'c'].entries()) await member(id, { groupOrder });
      const { id, checks } = await started();
      const cancel = (client = mine) => client.delete(`/v1/check-group-runs/${id}`);
      // The group goes on after a run of its own was cancelled.
      expect((await mine.delete(`/v1/check-runs/${checks[0].runId}`)).status).toBe(204);
      await advanced(id);
      expect(await make(agent)).toEqual(['b']);
      await advanced(id);
      await fixture.claim(agent);
      expect((await cancel(theirs)).status).toBe(404);
      expect((await cancel(await clientWith('read'))).status).toBe(403);
      expect((await cancel()).status).toBe(204);
      const cancelled = await read(id);
      expect(cancelled).toMatchObject({ state: 'cancelled', verdict: 'incomplete' });
      expect(cancelled.checks.map(shown)).toEqual([
        'a cellar cancelled',
        'b cellar done passed',
        'c cellar cancelled',
      ]);
      const run = (await mine.get(`/v1/check-runs/${cancelled.checks[2].runId}`)).json;
      expect(run.state).toBe('cancelled');
      expect((await cancel()).status).toBe(204);
      expect(await advanced(id)).toEqual(cancelled);

      const { id: other, checks: pending } = await started();
      expect(pending.map(shown)).toEqual([
        'a cellar waiting',
        'b cellar pending',
        'c cellar pending',
      ]);
      expect((await mine.delete(`/v1/check-group-runs/${other}`)).status).toBe(204);
      expect(
        (await read(other)).checks.every((one: { state: string }) => one.state === 'cancelled'),
      ).toBe(true);
      expect(await make(agent)).toEqual([]);

      await service().store.query(`update check_group_runs set state = 'ended' where id = $1`, [
        other,
      ]);
      const late = await mine.delete(`/v1/check-group-runs/${other}`);
      expect([late.status, late.json.attributes]).toEqual([409, { reason: 'ended' }]);
    });

    it('start each check once, whichever replica advances them', async () => {
      const agent = await fixture.join(cellar, 'a');
      await member('one', { groupOrder: 1 });
      await member('two', { groupOrder: 2 });
      await started();
      await make(agent);
      const { groupRuns } = running().features;
      await Promise.all([1, 2, 3].map(() => groupRuns.sweep()));
      expect(await make(agent)).toEqual(['two']);
    });

    it('are woken by the end of a run', async () => {
      const { store } = service();
      const agent = await fixture.join(cellar, 'a');
      await member('one');
      await started();
      let hear = (): void => {};
      const woken = new Promise<void>((resolve) => {
        hear = resolve;
      });
      const end = await store.listen('vedette_group_runs', hear);
      await make(agent);
      await woken;
      await end();
    });

    it('need a group with a check that can run, and the role run', async () => {
      const { mine, theirs, clientWith } = service();
      expect((await mine.post(path())).json).toMatchObject({
        statusCode: 409,
        message: 'The group has no checks: put some into it first',
      });
      await member('off', { activated: false });
      expect((await mine.post(path())).json).toMatchObject({
        statusCode: 409,
        message: 'None of the checks of the group can be run: 1 deactivated',
        attributes: { reasons: { deactivated: 1 } },
      });
      await member('on');
      expect((await mine.post('/v1/check-groups/999999999/run')).status).toBe(404);
      expect((await theirs.post(path())).status).toBe(404);
      expect((await (await clientWith('read')).post(path())).status).toBe(403);
      expect((await (await clientWith('run')).post(path(), {})).status).toBe(201);
      expect((await mine.get(`/v1/check-group-runs/${randomUUID()}`)).status).toBe(404);
      expect((await mine.get('/v1/check-group-runs/1')).status).toBe(400);
    });

    it('are limited for each account', async () => {
      const { mine, store } = service();
      await member('one');
      await store.query(
        `insert into check_group_runs (id, account_id, group_id, group_name, concurrency,
           requested_by_kind, requested_by_id)
         select gen_random_uuid()::text, $1, $2::bigint, 'Shop', 3, 'key', 'k'
         from generate_series(1, 20)`,
        [mine.accountId, groupId],
      );
      const refused = await mine.post(path());
      expect(refused.status).toBe(409);
      expect(refused.json.attributes).toEqual({ limit: 20 });
    });

    function path(): string {
      return `/v1/check-groups/${groupId}/run`;
    }

    async function group(fields: object): Promise<number> {
      const { mine, features } = service();
      return (await features.checkGroups.create(mine.accountId, { name: 'Shop', ...fields })).id;
    }

    function member(id: string, fields: object = {}, locations = [cellar]): Promise<string> {
      return fixture.check(id, locations, { groupId, ...fields });
    }

    // biome-ignore lint/suspicious/noExplicitAny: the answer of the API
    async function started(body: object = {}): Promise<any> {
      const made = await service().mine.post(path(), body);
      expect(made.status).toBe(201);
      return made.json;
    }

    // biome-ignore lint/suspicious/noExplicitAny: the answer of the API
    async function read(id: string): Promise<any> {
      return (await service().mine.get(`/v1/check-group-runs/${id}`)).json;
    }

    // biome-ignore lint/suspicious/noExplicitAny: the answer of the API
    async function advanced(id: string): Promise<any> {
      await running().features.groupRuns.sweep();
      return read(id);
    }

    /** Makes the runs of an agent. @returns the ids of their checks */
    async function make(
      agent: TestAgent,
      verdicts: Readonly<Record<string, 'failed' | 'degraded' | 'passed'>> = {},
    ): Promise<readonly string[]> {
      const made = await fixture.claim(agent);
      for (const run of made) await fixture.final(run, verdicts[run.checkId]);
      await fixture.close(agent, ...made.map(({ runId }) => runId));
      return made.map(({ checkId }) => checkId).sort();
    }

    /** No agent made the runs in time. */
    async function lapse(): Promise<void> {
      await service().store.query(
        `update one_off_runs set not_after = not_after - $2::float8 * interval '1 millisecond'
         where account_id = $1`,
        [service().mine.accountId, 120 * MINUTE_MS],
      );
    }

    /** Runs of other checks wait in a location. */
    async function fill({ id }: TestLocation, runs: number): Promise<void> {
      await service().store.query(
        `insert into one_off_runs (id, account_id, location_id, check_id, reason, slot, sequence_id,
           retries_made, not_after)
         select 'filling-' || n, $1, $2, 'filling', 'requested', now(), 'filling-' || n, 0,
           now() + interval '1 hour'
         from generate_series(1, $3::int) n`,
        [service().mine.accountId, id, runs],
      );
    }

    async function empty({ id }: TestLocation, runs: number): Promise<void> {
      await service().store.query(
        `delete from one_off_runs where id in (
           select id from one_off_runs where location_id = $1 and id like 'filling-%'
           limit $2::bigint)`,
        [id, runs],
      );
    }

    async function deleteLocation({ id }: TestLocation): Promise<void> {
      await service().store.query('delete from private_locations where id = $1', [id]);
    }
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the answer of the API
function shown({ checkId, location, state, reason, verdict }: any): string {
  return [checkId, location ?? '-', state, reason ?? verdict]
    .filter((one) => one !== null)
    .join(' ');
}
