import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/check-groups';
const CHECK = { locations: ['eu-west-1'], request: { url: 'https://example.com/' } };

const DEFAULTS = {
  activated: true,
  muted: false,
  locations: null,
  privateLocations: null,
  tags: [],
  concurrency: 3,
  runtimeId: null,
  alertSettings: null,
  logicalId: null,
  useGlobalAlertSettings: true,
  setupScript: null,
  teardownScript: null,
  setupSnippetId: null,
  teardownSnippetId: null,
};

/** Groups of checks through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('check groups', () => {
    const service = useAccounts(useRunningService(kind));

    it('have every default', async () => {
      const { mine, clock } = service();
      const created = await mine.post(PATH, { name: 'Shop' });
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        ...DEFAULTS,
        id: expect.any(Number),
        name: 'Shop',
        created_at: new Date(clock.wallMs()).toISOString(),
        updated_at: null,
      });
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it('return every field as it was sent', async () => {
      const { mine } = service();
      await mine.post('/v1/private-locations', { slug: 'cellar', name: 'Cellar' });
      const fields = {
        name: HOSTILE,
        activated: false,
        muted: true,
        locations: ['us-east-1'],
        privateLocations: ['cellar'],
        tags: [HOSTILE, 'b'],
        concurrency: 100,
        runtimeId: '2026.04',
        alertSettings: {
          escalationType: 'RUN_BASED',
          runBasedEscalation: { failedRunThreshold: 5 },
        },
        useGlobalAlertSettings: false,
        setupScript: HOSTILE,
        teardownScript: '1',
      };
      const created = await mine.post(PATH, fields);
      expect(created.json).toMatchObject(fields);
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it.each([
      [{ name: '' }, 'body.name'],
      [{ name: 'a\u0000' }, 'body.name'],
      [{ name: undefined }, 'body.name'],
      [{ concurrency: 0 }, 'body.concurrency'],
      [{ concurrency: 101 }, 'body.concurrency'],
      [{ concurrency: 1.5 }, 'body.concurrency'],
      [{ locations: ['mars-1'] }, 'body.locations[0]'],
      [{ privateLocations: ['nowhere'] }, 'body.privateLocations[0]'],
      [{ frequency: 5 }, 'body.frequency'],
      [{ setupSnippetId: 7 }, 'body.setupSnippetId'],
      [{ setupSnippetId: 7, setupScript: '1' }, 'body.setupSnippetId'],
      [{ teardownScript: 'x'.repeat(100_001) }, 'body.teardownScript'],
      [{ id: 5 }, 'body.id'],
    ])('refuse %j', async (fields, path) => {
      const { mine } = service();
      const refused = await mine.post(PATH, { name: 'Shop', ...fields });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
      expect((await mine.get(PATH)).json).toEqual([]);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine, clock } = service();
      const { json: before } = await mine.post(PATH, { name: 'Shop', tags: ['a'], muted: true });
      clock.spend(1000);
      const changed = await mine[method](`${PATH}/${before.id}`, { tags: ['b', 'c'] });
      expect(changed.json).toEqual({
        ...before,
        tags: ['b', 'c'],
        updated_at: new Date(clock.wallMs()).toISOString(),
      });
      const same = await mine[method](`${PATH}/${before.id}`, changed.json);
      expect(same.json).toEqual(changed.json);
      expect((await mine[method](`${PATH}/${before.id}`, { id: 0 })).status).toBe(400);
      expect((await mine[method](`${PATH}/${before.id}`, { concurrency: 0 })).status).toBe(400);
      expect((await mine.get(`${PATH}/${before.id}`)).json).toEqual(changed.json);
    });

    it('changes of different fields at the same time all take effect', async () => {
      const { mine } = service();
      const { json: group } = await mine.post(PATH, { name: 'Shop' });
      const changes = { name: 'Shops', muted: true, activated: false, concurrency: 9, tags: ['t'] };
      await Promise.all(
        Object.entries(changes).map(([field, value]) =>
          mine.patch(`${PATH}/${group.id}`, { [field]: value }),
        ),
      );
      expect((await mine.get(`${PATH}/${group.id}`)).json).toMatchObject(changes);
    });

    it('keep their checks when they are deleted', async () => {
      const { mine } = service();
      const { json: group } = await mine.post(PATH, { name: 'Shop' });
      const put = await mine.put('/v1/checks/url/home', { ...CHECK, groupId: group.id });
      expect(put.json.groupId).toBe(group.id);
      expect((await mine.delete(`${PATH}/${group.id}`)).status).toBe(204);
      expect((await mine.get(`${PATH}/${group.id}`)).status).toBe(404);
      expect((await mine.delete(`${PATH}/${group.id}`)).status).toBe(404);
      expect((await mine.get('/v1/checks/home')).json.groupId).toBeNull();
      // The deleted group does not prevent the next change of its check.
      expect((await mine.patch('/v1/checks/home', { muted: true })).status).toBe(200);
    });

    it('are deleted or joined, but no check names a deleted one', async () => {
      const { mine } = service();
      for (let round = 0; round < 5; round += 1) {
        const { json: group } = await mine.post(PATH, { name: 'Shop' });
        const [joined, deleted] = await Promise.all([
          mine.put(`/v1/checks/url/home-${round}`, { ...CHECK, groupId: group.id }),
          mine.delete(`${PATH}/${group.id}`),
        ]);
        expect(deleted.status).toBe(204);
        expect([200, 400]).toContain(joined.status);
        const check = await mine.get(`/v1/checks/home-${round}`);
        if (joined.status === 200) expect(check.json.groupId).toBeNull();
        else expect(check.status).toBe(404);
      }
    });

    it('are deleted while their checks change, without a deadlock', async () => {
      const { mine } = service();
      const { json: group } = await mine.post(PATH, { name: 'Shop' });
      const ids = ['a', 'b', 'c', 'd'];
      for (const id of ids) {
        await mine.put(`/v1/checks/url/${id}`, { ...CHECK, groupId: group.id });
      }
      const replies = await Promise.all([
        ...ids.map((id) => mine.patch(`/v1/checks/${id}`, { muted: true })),
        mine.delete(`${PATH}/${group.id}`),
        ...ids.map((id) => mine.patch(`/v1/checks/${id}`, { shouldFail: true })),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([
        200, 200, 200, 200, 204, 200, 200, 200, 200,
      ]);
      for (const check of (await mine.get('/v1/checks')).json) {
        expect(check).toMatchObject({ groupId: null, muted: true, shouldFail: true });
      }
    });

    it('count a change for every location that it affects', async () => {
      const { mine, store } = service();
      const slugs = ['attic', 'cellar', 'yard'];
      for (const slug of slugs) await mine.post('/v1/private-locations', { slug, name: slug });
      const revisions = async (): Promise<unknown> => {
        const rows = await store.query(
          'select slug, revision from private_locations where account_id = $1 order by slug',
          [mine.accountId],
        );
        return Object.fromEntries(rows.map(({ slug, revision }) => [slug, revision]));
      };
      const group = await mine.post(PATH, { name: 'Shop', privateLocations: ['yard'] });
      const path = `${PATH}/${group.json.id}`;
      expect(await revisions()).toEqual({ attic: 0, cellar: 0, yard: 1 });
      await mine.put('/v1/checks/url/home', {
        ...CHECK,
        privateLocations: ['cellar'],
        groupId: group.json.id,
      });
      expect(await revisions()).toEqual({ attic: 0, cellar: 1, yard: 2 });
      await mine.patch(path, { privateLocations: ['attic'] });
      expect(await revisions()).toEqual({ attic: 1, cellar: 2, yard: 3 });
      await mine.patch(path, { privateLocations: ['nowhere'] });
      expect(await revisions()).toEqual({ attic: 1, cellar: 2, yard: 3 });
      await mine.patch('/v1/checks/home', { muted: true });
      expect(await revisions()).toEqual({ attic: 2, cellar: 3, yard: 3 });
      await mine.delete(path);
      expect(await revisions()).toEqual({ attic: 3, cellar: 4, yard: 3 });
    });

    it('of another account are not found, and stay', async () => {
      const { mine, theirs } = service();
      const { json: group } = await mine.post(PATH, { name: 'Shop' });
      const path = `${PATH}/${group.id}`;
      expect((await theirs.get(path)).status).toBe(404);
      expect((await theirs.put(path, { name: 'theirs' })).status).toBe(404);
      expect((await theirs.patch(path, { name: 'theirs' })).status).toBe(404);
      expect((await theirs.delete(path)).status).toBe(404);
      expect((await theirs.get(PATH)).json).toEqual([]);
      expect((await mine.get(path)).json).toEqual(group);
    });

    it('are listed oldest first, in pages', async () => {
      const { mine } = service();
      for (const name of ['a', 'b', 'c']) await mine.post(PATH, { name });
      const names = async (query: string): Promise<unknown> =>
        (await mine.get(`${PATH}${query}`)).json.map(({ name }: { name: string }) => name);
      expect(await names('')).toEqual(['a', 'b', 'c']);
      expect(await names('?limit=2')).toEqual(['a', 'b']);
      expect(await names('?limit=2&page=2')).toEqual(['c']);
      expect((await mine.get(`${PATH}?limit=101`)).status).toBe(400);
    });

    it.each(['0', '-1', 'x', '1.5', '99999999999999999999'])(
      'have a number for an id, not %s',
      async (id) => {
        const { mine } = service();
        const refused = await mine.get(`${PATH}/${id}`);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)[0]).toContain('path.id must be');
      },
    );

    it('are changed only with write access', async () => {
      const { mine, clientWith } = service();
      const { json: group } = await mine.post(PATH, { name: 'Shop' });
      const runner = await clientWith('run');
      expect((await runner.get(`${PATH}/${group.id}`)).status).toBe(200);
      expect((await runner.post(PATH, { name: 'Other' })).status).toBe(403);
      expect((await runner.put(`${PATH}/${group.id}`, { muted: true })).status).toBe(403);
      expect((await runner.patch(`${PATH}/${group.id}`, { muted: true })).status).toBe(403);
      expect((await runner.delete(`${PATH}/${group.id}`)).status).toBe(403);
    });
  });
});
