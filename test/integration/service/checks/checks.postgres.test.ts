import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Reply } from '../../../support/service/service-app.ts';
import {
  type Client,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';
import { checkFieldsSuite } from './fields.suite.ts';
import { checkListSuite } from './list.suite.ts';

const RHYTHM = { period: 1, periodUnit: 'HOURS', grace: 1, graceUnit: 'HOURS' };
const URL_CHECK = {
  name: 'A check',
  locations: ['eu-west-1'],
  request: { url: 'https://example.com/', skipSSL: true },
};
const TCP_CHECK = { ...URL_CHECK, request: { hostname: 'example.com', port: 22 } };

const NOWHERE = 'there-is-none';

async function create(client: Client, fields: object = {}): Promise<Reply['json']> {
  const created = await client.post('/v1/checks/url', { ...URL_CHECK, ...fields });
  expect(created.status).toBe(201);
  return created.json;
}

/** Creating, reading, changing, listing and deleting checks through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('checks', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    checkFieldsSuite(running);
    checkListSuite(running);

    describe.each(['put', 'patch'] as const)('%s of a check', (method) => {
      it('changes the given fields, each whole, and no other', async () => {
        const { mine, clock } = service();
        const before = await create(mine, { tags: ['a', 'b'], maxResponseTime: 9000 });
        clock.spend(90_500);
        const changed = await mine[method](`/v1/checks/url/${before.id}`, {
          muted: true,
          tags: ['c'],
          request: { url: 'https://example.org/' },
        });
        expect(changed.status).toBe(200);
        expect(changed.json).toEqual({
          ...before,
          muted: true,
          tags: ['c'],
          request: { ...before.request, url: 'https://example.org/', skipSSL: false },
          updated_at: new Date(clock.wallMs()).toISOString(),
        });
        expect((await mine.get(`/v1/checks/${before.id}`)).json).toEqual(changed.json);
      });

      it('accepts a read check as an update, which changes only its time', async () => {
        const { mine } = service();
        const before = await create(mine, {
          retryStrategy: { type: 'LINEAR', maxRetries: 3 },
          frequencyOffset: 7,
        });
        const changed = await mine[method](`/v1/checks/url/${before.id}`, before);
        expect(changed.json).toEqual({ ...before, updated_at: expect.any(String) });
      });

      it('judges the check as a whole', async () => {
        const { mine } = service();
        const before = await create(mine, { frequency: 10, frequencyOffset: 60 });
        const refused = await mine[method](`/v1/checks/url/${before.id}`, { frequency: 5 });
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)).toEqual([
          'body.frequencyOffset must be from 1 to 50 when frequency is 5',
        ]);
        const noPlace = await mine[method](`/v1/checks/url/${before.id}`, { locations: null });
        expect(noPlace.status).toBe(400);
        expect(problemsIn(noPlace)[0]).toContain('must name at least one location');
        expect((await mine.get(`/v1/checks/${before.id}`)).json).toEqual(before);
      });

      it('keeps the id and the type', async () => {
        const { mine } = service();
        const { id } = await create(mine);
        for (const field of [{ id: 'another' }, { checkType: 'API' }]) {
          const refused = await mine[method](`/v1/checks/${id}`, field);
          expect(refused.status).toBe(400);
          expect(problemsIn(refused)[0]).toContain(`body.${Object.keys(field)[0]} must be`);
        }
      });

      it('refuses an unknown field', async () => {
        const { mine } = service();
        const { id } = await create(mine);
        for (const path of [`/v1/checks/url/${id}`, `/v1/checks/${id}`]) {
          const refused = await mine[method](path, { maxPacketLossThreshold: 1 });
          expect(refused.status).toBe(400);
          expect(problemsIn(refused)).toEqual(['body.maxPacketLossThreshold is not a known field']);
        }
      });

      it('does not find a check that does not exist', async () => {
        const { mine } = service();
        for (const path of [`/v1/checks/url/${NOWHERE}`, `/v1/checks/${NOWHERE}`]) {
          const reply = await mine[method](path, { muted: true });
          expect(reply.status).toBe(method === 'put' ? 400 : 404);
        }
        expect((await mine.get('/v1/checks')).json).toEqual([]);
      });
    });

    describe('PUT under an id that does not exist', () => {
      it.each(['', '?autoAssignAlerts=true', '?autoAssignAlerts=false'])(
        'creates the check (%s)',
        async (query) => {
          const { mine } = service();
          const created = await mine.put(`/v1/checks/url/home.page_1-a${query}`, URL_CHECK);
          expect(created.status).toBe(200);
          expect(created.json).toMatchObject({
            id: 'home.page_1-a',
            checkType: 'URL',
            created_at: '2026-01-01',
            updated_at: null,
            alertChannels: { email: [], webhook: [], slack: [], sms: [] },
          });
          expect((await mine.get('/v1/checks/url/home.page_1-a')).json).toEqual(created.json);
        },
      );

      it.each(['yes', '', '1'])('refuses autoAssignAlerts=%s', async (value) => {
        const { mine } = service();
        const path = `/v1/checks/url/home?autoAssignAlerts=${value}`;
        const refused = await mine.put(path, URL_CHECK);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)[0]).toContain('query.autoAssignAlerts must be true or false');
      });

      it('gives it its id as its name if it has none', async () => {
        const { mine } = service();
        const { name: _, ...body } = URL_CHECK;
        expect((await mine.put('/v1/checks/url/home', body)).json.name).toBe('home');
      });

      it('creates any type at the path of all types', async () => {
        const { mine } = service();
        const created = await mine.put('/v1/checks/ssh', { ...TCP_CHECK, checkType: 'TCP' });
        expect(created.json).toMatchObject({ id: 'ssh', checkType: 'TCP' });
        const untyped = await mine.put('/v1/checks/other', TCP_CHECK);
        expect(untyped.status).toBe(400);
        expect(problemsIn(untyped).join()).toContain('body.checkType');
      });

      it('does not turn a check of one type into another', async () => {
        const { mine } = service();
        await mine.put('/v1/checks/tcp/ssh', TCP_CHECK);
        const refused = await mine.put('/v1/checks/url/ssh', URL_CHECK);
        expect(refused.status).toBe(409);
        expect(refused.json.attributes).toEqual({ checkType: 'TCP' });
        expect((await mine.get('/v1/checks/url/ssh')).status).toBe(404);
        expect((await mine.delete('/v1/checks/url/ssh')).status).toBe(404);
        expect((await mine.get('/v1/checks/tcp/ssh')).status).toBe(200);
      });

      it.each(['-a', 'a b', '%00', '..%2f..%2fetc', 'é', 'a'.repeat(101)])(
        'refuses the id %s',
        async (id) => {
          const { mine } = service();
          const refused = await mine.put(
            `/v1/checks/url/${encodeURI(decodeURIComponent(id)).replaceAll('/', '%2f')}`,
            URL_CHECK,
          );
          expect(refused.status).toBe(400);
          expect(problemsIn(refused)[0]).toContain('path.id must be 1 to 100 letters');
        },
      );

      it.each(['api', 'Icmp', 'heartbeats'])(
        'refuses a new check under %s, and still changes a stored one',
        async (id) => {
          const { mine, store } = service();
          const path = `/v1/checks/url/${id}`;
          const refused = await mine.put(path, URL_CHECK);
          expect(refused.status).toBe(400);
          expect(problemsIn(refused)).toEqual([
            `path.id must not be ${JSON.stringify(id)}: /v1/checks/${id.toLowerCase()} is a path of the API with another meaning; choose another id, for example ${id}-check`,
          ]);
          expect(
            (await mine.put(`/v1/checks/heartbeats/${id}`, { heartbeat: RHYTHM })).status,
          ).toBe(400);
          const made = await create(mine);
          await store.query('update checks set id = $1 where id = $2', [id, made.id]);
          const changed = await mine.put(path, { name: 'Renamed' });
          expect(changed).toMatchObject({ status: 200, json: { id, name: 'Renamed' } });
        },
      );

      it('refuses the name of a type as an id', async () => {
        const { mine } = service();
        const refused = await mine.put('/v1/checks/url', { ...URL_CHECK, checkType: 'URL' });
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)[0]).toContain('is the name of a check type');
        expect((await mine.delete('/v1/checks/tcp')).status).toBe(400);
      });
    });

    it('deletes a check, with its status', async () => {
      const { mine, store } = service();
      const { id } = await create(mine);
      const { warnings: _, ...kept } = await create(mine);
      await store.query(
        `insert into check_statuses (account_id, check_id, name, has_failures, has_errors,
           is_degraded) values ($1, $2, 'n', false, false, false)`,
        [mine.accountId, id],
      );
      const deleted = await mine.delete(`/v1/checks/url/${id}`);
      expect(deleted).toMatchObject({ status: 204, text: '' });
      expect((await mine.get(`/v1/checks/${id}`)).status).toBe(404);
      expect((await mine.delete(`/v1/checks/${id}`)).status).toBe(404);
      expect((await mine.get('/v1/checks')).json).toEqual([kept]);
      expect(
        await store.query('select 1 from check_statuses where account_id = $1', [mine.accountId]),
      ).toEqual([]);
      expect((await mine.delete(`/v1/checks/${kept.id}`)).status).toBe(204);
    });

    it('lists ten where no limit is given', async () => {
      const { mine } = service();
      await Promise.all(Array.from({ length: 11 }, () => create(mine)));
      expect((await mine.get('/v1/checks')).json).toHaveLength(10);
      expect((await mine.get('/v1/checks?page=2')).json).toHaveLength(1);
    });

    describe('between accounts', () => {
      it('a check of another is not found, and stays', async () => {
        const { mine, theirs } = service();
        const check = await create(mine, { tags: ['t'] });
        for (const path of [`/v1/checks/url/${check.id}`, `/v1/checks/${check.id}`]) {
          expect((await theirs.get(path)).status).toBe(404);
          expect(problemsIn(await theirs.put(path, { name: 'theirs' }))[0]).toBe(
            'body.request is missing: no check has the id in the path, and a new one needs this field',
          );
          expect((await theirs.patch(path, { name: 'theirs' })).status).toBe(404);
          expect((await theirs.delete(path)).status).toBe(404);
        }
        for (const query of ['', '?tag=t', '?search=check', '?type=URL']) {
          expect((await theirs.get(`/v1/checks${query}`)).json).toEqual([]);
        }
        expect((await mine.get(`/v1/checks/${check.id}`)).json).toEqual(check);
      });

      it('the same slug names a check of each', async () => {
        const { mine, theirs } = service();
        await mine.put('/v1/checks/url/home', { ...URL_CHECK, name: 'mine' });
        await theirs.put('/v1/checks/url/home', { ...URL_CHECK, name: 'theirs' });
        await theirs.delete('/v1/checks/url/home');
        expect((await mine.get('/v1/checks/url/home')).json.name).toBe('mine');
      });

      it('groups and private locations of another do not exist', async () => {
        const { mine, theirs } = service();
        const group = await theirs.post('/v1/check-groups', { name: 'theirs' });
        await theirs.post('/v1/private-locations', { slug: 'cellar', name: 'Cellar' });
        const refused = await mine.post('/v1/checks/url', {
          ...URL_CHECK,
          groupId: group.json.id,
          privateLocations: ['cellar'],
        });
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)).toEqual([
          `body.groupId must be the id of a group: there is no ${group.json.id}`,
          'body.privateLocations[0] must be the slug of a private location: there is no "cellar"',
        ]);
      });
    });

    it('allows each role only its own requests', async () => {
      const { mine, clientWith } = service();
      const { id } = await create(mine);
      for (const role of ['read', 'run'] as const) {
        const reader = await clientWith(role);
        expect((await reader.get(`/v1/checks/url/${id}`)).status).toBe(200);
        expect((await reader.get('/v1/checks')).status).toBe(200);
        expect((await reader.post('/v1/checks/url', URL_CHECK)).status).toBe(403);
        expect((await reader.put(`/v1/checks/url/${id}`, { muted: true })).status).toBe(403);
        expect((await reader.patch(`/v1/checks/${id}`, { muted: true })).status).toBe(403);
        expect((await reader.delete(`/v1/checks/${id}`)).status).toBe(403);
      }
      const writer = await clientWith('write');
      expect((await writer.patch(`/v1/checks/${id}`, { muted: true })).status).toBe(200);
    });

    describe('at the same time', () => {
      it('changes of different fields all take effect', async () => {
        const { mine } = service();
        const { id } = await create(mine);
        const changes = {
          muted: true,
          activated: false,
          shouldFail: true,
          description: 'd',
          tags: ['t'],
          frequency: 60,
          groupOrder: 3,
          maxResponseTime: 8000,
          runParallel: true,
          doubleCheck: false,
        };
        const replies = await Promise.all(
          Object.entries(changes).map(([field, value], index) =>
            index % 2 === 0
              ? mine.put(`/v1/checks/url/${id}`, { [field]: value })
              : mine.patch(`/v1/checks/${id}`, { [field]: value }),
          ),
        );
        expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
        expect((await mine.get(`/v1/checks/${id}`)).json).toMatchObject(changes);
      });

      it('of two changes that are only together invalid one is refused', async () => {
        const { mine } = service();
        const { id } = await create(mine, { degradedResponseTime: 100, maxResponseTime: 5000 });
        const replies = await Promise.all([
          mine.patch(`/v1/checks/${id}`, { degradedResponseTime: 4000 }),
          mine.patch(`/v1/checks/${id}`, { maxResponseTime: 1000 }),
        ]);
        expect(replies.map(({ status }) => status).sort()).toEqual([200, 400]);
      });

      it('several that create one id make one check, with the fields of all', async () => {
        const { mine } = service();
        const tried = ['muted', 'shouldFail', 'runParallel', 'useGlobalAlertSettings'];
        const replies = await Promise.all(
          tried.map((field) =>
            mine.put('/v1/checks/url/home', {
              ...URL_CHECK,
              [field]: field !== 'useGlobalAlertSettings',
            }),
          ),
        );
        expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        expect((await mine.get('/v1/checks')).json).toEqual([
          expect.objectContaining({
            muted: true,
            shouldFail: true,
            runParallel: true,
            useGlobalAlertSettings: false,
          }),
        ]);
      });

      it('a location is deleted or named, but not both', async () => {
        const { mine } = service();
        for (let round = 0; round < 5; round += 1) {
          const body = { slug: `cellar-${round}`, name: 'Cellar' };
          const location = await mine.post('/v1/private-locations', body);
          const [named, deleted] = await Promise.all([
            mine.post('/v1/checks/url', { ...URL_CHECK, privateLocations: [body.slug] }),
            mine.delete(`/v1/private-locations/${location.json.id}`),
          ]);
          expect([
            [201, 409],
            [400, 204],
          ]).toContainEqual([named.status, deleted.status]);
        }
      });
    });

    describe('what a location is sent', () => {
      it('is every change to its checks, once it is made', async () => {
        const { mine, store } = service();
        const { json: location } = await mine.post('/v1/private-locations', {
          slug: 'cellar',
          name: 'Cellar',
        });
        const { json: other } = await mine.post('/v1/private-locations', {
          slug: 'attic',
          name: 'Attic',
        });
        let told = 0;
        const end = await store.listen('vedette_changes', () => {
          told += 1;
        });
        // Changes of the locations themselves.
        await store.query('delete from location_changes');
        const revisions = async (): Promise<unknown> =>
          (
            await store.query(
              'select revision from private_locations where account_id = $1 order by slug',
              [mine.accountId],
            )
          ).map(({ revision }) => revision);
        const expectTold = async (...ids: readonly string[]): Promise<void> => {
          await eventually(() => told > 0);
          told = 0;
          const noted = await store.query(
            'delete from location_changes returning location_id, check_id',
          );
          expect(new Set(noted.map(({ locationId }) => locationId))).toEqual(new Set(ids));
          expect(new Set(noted.map(({ checkId }) => checkId))).toEqual(new Set([id]));
        };

        const { id } = await create(mine, { privateLocations: ['cellar'] });
        await expectTold(location.id);
        expect(await revisions()).toEqual([0, 1]);

        await mine.patch(`/v1/checks/${id}`, { privateLocations: ['attic'] });
        await expectTold(location.id, other.id);
        expect(await revisions()).toEqual([1, 2]);

        await mine.patch(`/v1/checks/${id}`, { frequency: 3 });
        await mine.patch(`/v1/checks/${id}`, { muted: true });
        await expectTold(other.id);
        expect(await revisions()).toEqual([2, 2]);

        await mine.delete(`/v1/checks/${id}`);
        await expectTold(other.id);
        expect(await revisions()).toEqual([3, 2]);
        await end();
      });
    });
  });
});
