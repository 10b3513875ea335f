import { describe, expect, it } from 'vitest';
import {
  type Assigner,
  createAssigner,
} from '../../../../src/service/agents/assignment/assigner.ts';
import { pausesOf, windowsNear } from '../../../../src/service/maintenance-windows/sql.ts';
import { databases, silentLog } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { PollingAgent } from '../../../support/service/polling-agent.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  HOSTILE,
  problemsIn,
  type TestService,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/maintenance-windows';
const DAY_MS = 86_400_000;
const WINDOW = {
  name: 'Nightly',
  startsAt: '2026-01-31',
  endsAt: '2026-01-31T04:30:00Z',
  repeatUnit: 'MONTH',
};

const namesIn = (reply: Reply): readonly string[] =>
  reply.json.map(({ name }: { name: string }) => name);

interface PolledFixture {
  readonly agent: PollingAgent;
  readonly assigner: Assigner;
  readonly groupId: number;
}

/** An agent of the first account's cellar that has the check `home`, which is in a group. */
async function polledFixture({
  mine,
  features,
  store,
  clock,
}: TestService): Promise<PolledFixture> {
  const { json: location } = await mine.post('/v1/private-locations', {
    slug: 'cellar',
    name: 'Cellar',
  });
  const { json: group } = await mine.post('/v1/check-groups', { name: 'Shop', tags: ['shop'] });
  await mine.put('/v1/checks/url/home', {
    privateLocations: ['cellar'],
    groupId: group.id,
    request: { url: 'https://example.com/' },
  });
  const caller = { accountId: mine.accountId, locationId: location.id, keyId: 'key' };
  const agent = new PollingAgent(features.agents, caller, 'agent-a');
  const assigner = createAssigner({ store, clock, log: silentLog() });
  await agent.look();
  await assigner.pass();
  await agent.look();
  expect(agent.ids).toEqual(['home']);
  return { agent, assigner, groupId: group.id };
}

/**
 * Maintenance windows through the API and in polls of agents: src/service/README.md,
 * "Maintenance windows", 4.12, 4.13.
 */
describe.each(databases)('on %s', (kind) => {
  describe('maintenance windows', () => {
    const service = useAccounts(useRunningService(kind));

    it('have every default, and full timestamps', async () => {
      const { mine, clock } = service();
      const created = await mine.post(PATH, WINDOW);
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        id: expect.any(Number),
        name: 'Nightly',
        startsAt: '2026-01-31T00:00:00.000Z',
        endsAt: '2026-01-31T04:30:00.000Z',
        repeatUnit: 'MONTH',
        repeatInterval: null,
        repeatEndsAt: null,
        tags: [],
        pauseAllChecks: false,
        silenceAlertsTags: [],
        silenceAllAlerts: false,
        logicalId: null,
        created_at: new Date(clock.wallMs()).toISOString().slice(0, 10),
        updated_at: null,
      });
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it('return every field as it was given', async () => {
      const { mine } = service();
      const fields = {
        name: HOSTILE.slice(0, 200),
        startsAt: '1970-01-01T00:00:00.000Z',
        endsAt: '9999-12-31T23:59:59.999Z',
        repeatUnit: 'WEEK',
        repeatInterval: 10_000,
        repeatEndsAt: '9999-12-31T23:59:59.999Z',
        tags: [HOSTILE, 'b'],
        pauseAllChecks: true,
        silenceAlertsTags: [HOSTILE],
        silenceAllAlerts: true,
      };
      const created = await mine.post(PATH, fields);
      expect(created.json).toMatchObject(fields);
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it('accept times of other time zones', async () => {
      const { mine } = service();
      const startsAt = '2026-01-31T01:00:00+05:30';
      const created = await mine.post(PATH, { ...WINDOW, startsAt });
      expect(created.json.startsAt).toBe('2026-01-30T19:30:00.000Z');
    });

    it.each([
      [{ name: 'x'.repeat(200) }, null],
      [{ name: 'x'.repeat(201) }, 'body.name'],
      [{ name: '' }, 'body.name'],
      [{ name: undefined }, 'body.name'],
      [{ name: 'a\u0000' }, 'body.name'],
      [{ startsAt: undefined }, 'body.startsAt'],
      [{ startsAt: '2026-02-30' }, 'body.startsAt'],
      [{ startsAt: '1969-12-31' }, 'body.startsAt'],
      [{ startsAt: 1_767_225_600 }, 'body.startsAt'],
      [{ endsAt: undefined }, 'body.endsAt'],
      [{ endsAt: '2026-01-31' }, 'body.endsAt must be after startsAt'],
      [{ endsAt: '2026-01-31T00:00:00.001Z' }, null],
      [{ repeatUnit: undefined }, 'body.repeatUnit'],
      [{ repeatUnit: 'YEAR' }, 'body.repeatUnit'],
      [{ repeatUnit: 'DAY' }, null],
      [{ repeatInterval: 0 }, 'body.repeatInterval'],
      [{ repeatInterval: 1 }, null],
      [{ repeatInterval: 1.5 }, 'body.repeatInterval'],
      [{ repeatInterval: 10_001 }, 'body.repeatInterval'],
      [{ repeatEndsAt: '2026-01-31' }, 'body.repeatEndsAt must be after startsAt'],
      [{ tags: null }, 'body.tags'],
      [{ tags: [''] }, 'body.tags[0]'],
      [{ pauseAllChecks: 1 }, 'body.pauseAllChecks'],
      [{ id: 5 }, 'body.id'],
      [{ frequency: 5 }, 'body.frequency'],
    ])('with %j are validated', async (fields, problem) => {
      const { mine } = service();
      const answer = await mine.post(PATH, { ...WINDOW, ...fields });
      expect(answer.status).toBe(problem === null ? 201 : 400);
      if (problem !== null) expect(problemsIn(answer).join('\n')).toContain(problem);
      expect((await mine.get(PATH)).json).toHaveLength(problem === null ? 1 : 0);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine, clock } = service();
      const { json: before } = await mine.post(PATH, { ...WINDOW, tags: ['a'], repeatInterval: 2 });
      clock.spend(2 * DAY_MS);
      const changed = await mine[method](`${PATH}/${before.id}`, { endsAt: '2026-02-01' });
      expect(changed.status).toBe(200);
      expect(changed.json).toEqual({
        ...before,
        endsAt: '2026-02-01T00:00:00.000Z',
        updated_at: new Date(clock.wallMs()).toISOString().slice(0, 10),
      });
      const same = await mine[method](`${PATH}/${before.id}`, changed.json);
      expect(same.json).toEqual(changed.json);
      // The new fields must be consistent with the stored ones.
      const early = await mine[method](`${PATH}/${before.id}`, { startsAt: '2026-02-01' });
      expect(problemsIn(early)).toEqual(['body.endsAt must be after startsAt']);
      expect((await mine[method](`${PATH}/${before.id}`, { id: 0 })).status).toBe(400);
      expect((await mine[method](`${PATH}/${before.id}`, { name: '' })).status).toBe(400);
      expect((await mine.get(`${PATH}/${before.id}`)).json).toEqual(changed.json);
    });

    it('take changes of different fields at the same time', async () => {
      const { mine } = service();
      const { json: window } = await mine.post(PATH, WINDOW);
      const changes = { name: 'Other', tags: ['t'], repeatInterval: 3, silenceAllAlerts: true };
      await Promise.all(
        Object.entries(changes).map(([field, value]) =>
          mine.patch(`${PATH}/${window.id}`, { [field]: value }),
        ),
      );
      expect((await mine.get(`${PATH}/${window.id}`)).json).toMatchObject(changes);
    });

    it('are deleted once', async () => {
      const { mine } = service();
      const { json: window } = await mine.post(PATH, WINDOW);
      expect((await mine.delete(`${PATH}/${window.id}`)).status).toBe(204);
      expect((await mine.delete(`${PATH}/${window.id}`)).status).toBe(404);
      expect((await mine.get(`${PATH}/${window.id}`)).status).toBe(404);
      expect((await mine.patch(`${PATH}/${window.id}`, {})).status).toBe(404);
    });

    it('of another account are not found', async () => {
      const { mine, theirs, clientWith } = service();
      const { json: window } = await mine.post(PATH, WINDOW);
      expect((await theirs.get(`${PATH}/${window.id}`)).status).toBe(404);
      expect((await theirs.patch(`${PATH}/${window.id}`, { name: 'x' })).status).toBe(404);
      expect((await theirs.delete(`${PATH}/${window.id}`)).status).toBe(404);
      expect((await theirs.get(PATH)).json).toEqual([]);
      const reader = await clientWith('read');
      expect((await reader.get(PATH)).json).toEqual([window]);
      expect((await reader.post(PATH, WINDOW)).status).toBe(403);
      expect((await reader.delete(`${PATH}/${window.id}`)).status).toBe(403);
    });

    it('are listed oldest first, in pages', async () => {
      const { mine } = service();
      for (const name of ['a', 'b', 'c']) await mine.post(PATH, { ...WINDOW, name });
      expect(namesIn(await mine.get(`${PATH}?limit=2`))).toEqual(['a', 'b']);
      expect(namesIn(await mine.get(`${PATH}?limit=2&page=2`))).toEqual(['c']);
      expect((await mine.get(`${PATH}?limit=101`)).status).toBe(400);
    });

    it.each([
      ['', 'abc'],
      ['startsAt[gte]=2026-01-02', 'bc'],
      ['startsAt%5Bgte%5D=2026-01-02T00%3A00%3A00Z', 'bc'],
      ['startsAt[gt]=2026-01-02', 'c'],
      ['startsAt[lt]=2026-01-02', 'a'],
      ['startsAt[lte]=2026-01-02', 'ab'],
      ['endsAt[gt]=2026-01-02', 'bc'],
      ['endsAt[lte]=2026-01-02', 'a'],
      ['startsAt[gte]=2026-01-02&endsAt[lt]=2026-01-03T00:00:00.001Z', 'b'],
    ])('are listed by %s', async (query, names) => {
      const { mine } = service();
      for (const [n, name] of ['a', 'b', 'c'].entries()) {
        const [startsAt, endsAt] = [`2026-01-0${n + 1}`, `2026-01-0${n + 2}`];
        await mine.post(PATH, { ...WINDOW, name, startsAt, endsAt });
      }
      expect(namesIn(await mine.get(`${PATH}?${query}`)).join('')).toBe(names);
    });

    it.each([
      ['startsAt[gte]=2026-01-01&startsAt[lt]=2026-02-01', 'query["startsAt[lt]"]'],
      ['endsAt[gte]=2026-01-01&endsAt[gt]=2026-02-01', 'query["endsAt[gte]"]'],
      ['startsAt[gte]=2026-01-01&startsAt[gte]=2026-02-01', 'query["startsAt[gte]"]'],
      ['startsAt[gte]=soon', 'query["startsAt[gte]"]'],
      ['startsAt[gte]=', 'query["startsAt[gte]"]'],
      ['startsAt[eq]=2026-01-01', 'query["startsAt[eq]"]'],
      ['startsAt=2026-01-01', 'query.startsAt'],
    ])('are not listed by %s', async (query, path) => {
      const refused = await service().mine.get(`${PATH}?${query}`);
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
    });

    it('reach the alerts until their last occurrence is over', async () => {
      const { mine, store } = service();
      const near = async (atMs: number): Promise<readonly string[]> =>
        (await windowsNear(store, { ...mine, atMs })).map(({ name }) => name);
      await mine.post(PATH, { ...WINDOW, name: 'once' });
      await mine.post(PATH, { ...WINDOW, name: 'ever', repeatInterval: 1 });
      const repeatEndsAt = '2026-02-28T00:00:00.001Z';
      await mine.post(PATH, { ...WINDOW, name: 'twice', repeatInterval: 1, repeatEndsAt });
      expect(await near(Date.UTC(2026, 0, 31, 4, 29))).toEqual(['once', 'ever', 'twice']);
      expect(await near(Date.UTC(2026, 0, 31, 4, 30))).toEqual(['ever', 'twice']);
      expect(await near(Date.UTC(2026, 1, 28, 4, 29))).toEqual(['ever', 'twice']);
      expect(await near(Date.UTC(2026, 1, 28, 4, 30))).toEqual(['ever']);
    });

    it('reach agents where they pause checks, until a week after their end', async () => {
      const { mine, store } = service();
      await mine.post(PATH, { ...WINDOW, tags: ['db'], endsAt: '2026-02-01' });
      await mine.post(PATH, { ...WINDOW, silenceAllAlerts: true });
      await mine.post(PATH, { ...WINDOW, pauseAllChecks: true, tags: ['db'], repeatInterval: 1 });
      const pause = {
        startsAtMs: Date.UTC(2026, 0, 31),
        repeatUnit: 'MONTH',
        repeatEndsAtMs: null,
      };
      const byTag = {
        ...pause,
        endsAtMs: Date.UTC(2026, 1, 1),
        repeatInterval: null,
        tags: ['db'],
      };
      const all = {
        ...pause,
        endsAtMs: Date.UTC(2026, 0, 31, 4, 30),
        repeatInterval: 1,
        tags: null,
      };
      const told = (atMs: number) => pausesOf(store, { ...mine, atMs });
      expect(await told(Date.UTC(2026, 1, 1) + 7 * DAY_MS)).toEqual([byTag, all]);
      expect(await told(Date.UTC(2026, 1, 1) + 8 * DAY_MS)).toEqual([all]);
      expect(await told(0)).toEqual([byTag, all]);
    });

    it('are limited to the number that agents accept', async () => {
      const { mine, store, clock } = service();
      const { json: window } = await mine.post(PATH, { ...WINDOW, pauseAllChecks: true });
      const copy = async (count: number, overAt: Date | null): Promise<void> => {
        await store.query(
          `insert into maintenance_windows (account_id, name, tags, starts_at, ends_at, repeat_unit,
             pause_all_checks, silence_alerts_tags, silence_all_alerts, over_at, created_at)
           select account_id, name, tags, starts_at, ends_at, repeat_unit, pause_all_checks,
             silence_alerts_tags, silence_all_alerts, coalesce($3::timestamptz, over_at), created_at
           from maintenance_windows, generate_series(1, $2::int) where id = $1::bigint`,
          [window.id, count, overAt],
        );
      };
      await copy(998, null);
      expect((await mine.post(PATH, WINDOW)).status).toBe(201);
      const refused = await mine.post(PATH, WINDOW);
      expect(refused.status).toBe(409);
      expect(refused.json.attributes).toEqual({ limit: 1000 });
      expect(await windowsNear(store, { ...mine, atMs: clock.wallMs() })).toHaveLength(1000);
      // Windows that have ended do not count, and have a limit of their own.
      await store.query(
        'delete from maintenance_windows where account_id = $1 and id <> $2::bigint',
        [mine.accountId, window.id],
      );
      await copy(9_998, new Date(0));
      expect((await mine.post(PATH, WINDOW)).status).toBe(201);
      expect((await mine.post(PATH, WINDOW)).json.attributes).toEqual({ limit: 10_000 });
      expect((await mine.patch(`${PATH}/${window.id}`, { name: 'x' })).status).toBe(200);
    });

    it('are limited in the bytes of their tags', async () => {
      const { mine } = service();
      const tags = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(255, 'é'));
      const post = () => mine.post(PATH, { ...WINDOW, tags, silenceAlertsTags: tags });
      const statuses = [];
      for (let n = 0; n < 11; n += 1) statuses.push((await post()).status);
      expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 409]);
    });

    it('reach a polling agent when they are created, changed and deleted', async () => {
      const fixture = service();
      const { mine, theirs, clock } = fixture;
      const { agent } = await polledFixture(fixture);
      const told = async (): Promise<unknown> => (await agent.look()).location.settings?.pauses;
      expect(await told()).toBeUndefined();

      const answer = agent.poll();
      await eventually(() => clock.pendingTimers === 1);
      const { json: window } = await mine.post(PATH, { ...WINDOW, tags: ['db'] });
      expect((await answer).location.settings?.pauses).toMatchObject([{ tags: ['db'] }]);
      expect(await told()).toBeUndefined();

      await mine.patch(`${PATH}/${window.id}`, { pauseAllChecks: true });
      expect(await told()).toMatchObject([{ tags: null }]);
      // A change that does not concern agents.
      await mine.patch(`${PATH}/${window.id}`, { name: 'Other', silenceAllAlerts: true });
      await mine.post(PATH, { ...WINDOW, silenceAllAlerts: true });
      await theirs.post(PATH, { ...WINDOW, pauseAllChecks: true });
      expect(await told()).toBeUndefined();

      await mine.delete(`${PATH}/${window.id}`);
      expect(await told()).toEqual([]);
    });

    it('apply by the tags of groups, which agents get', async () => {
      const fixture = service();
      const { agent, assigner, groupId } = await polledFixture(fixture);
      const groupTags = () => agent.checks.get('home')?.groupTags;
      expect(groupTags()).toEqual(['shop']);
      await fixture.mine.patch(`/v1/check-groups/${groupId}`, { name: 'Other' });
      await assigner.pass();
      expect((await agent.look()).upsert).toEqual([]);
      await fixture.mine.patch(`/v1/check-groups/${groupId}`, { tags: ['db'] });
      await assigner.pass();
      await agent.look();
      expect(groupTags()).toEqual(['db']);
      // The locations of the group replace those of the check.
      await fixture.mine.patch(`/v1/check-groups/${groupId}`, { privateLocations: ['cellar'] });
      await fixture.mine.patch('/v1/checks/home', {
        privateLocations: null,
        locations: ['eu-west-1'],
      });
      await assigner.pass();
      await agent.look();
      await fixture.mine.patch(`/v1/check-groups/${groupId}`, { tags: ['web'] });
      await assigner.pass();
      await agent.look();
      expect(groupTags()).toEqual(['web']);
    });
  });
});
