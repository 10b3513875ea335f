import { createHash, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/private-locations';
const CELLAR = { slug: 'cellar', name: 'Cellar' };

const sha256 = (key: string): Buffer => createHash('sha256').update(key).digest();

/** Private locations and the keys of their agents through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('private locations', () => {
    const service = useAccounts(useRunningService(kind));

    it('have every default', async () => {
      const { mine, clock } = service();
      const created = await mine.post(PATH, CELLAR);
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        ...CELLAR,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        icon: null,
        proxyUrl: null,
        silentSince: null,
        created_at: new Date(clock.wallMs()).toISOString(),
        updated_at: null,
      });
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it('return every field as it was sent', async () => {
      const { mine } = service();
      const fields = {
        slug: `0${'a-_9'.repeat(24)}xyz`,
        name: HOSTILE,
        icon: HOSTILE,
        proxyUrl: 'http://user:pa%27ss@proxy.internal:3128',
      };
      const created = await mine.post(PATH, fields);
      const proxyUrl = 'http://user:********@proxy.internal:3128';
      expect(created.json).toMatchObject({ ...fields, proxyUrl });
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it.each([
      [{ slug: '' }, 'body.slug'],
      [{ slug: 'Cellar' }, 'body.slug'],
      [{ slug: '-cellar' }, 'body.slug'],
      [{ slug: 'cel/lar' }, 'body.slug'],
      [{ slug: 'c'.repeat(101) }, 'body.slug'],
      [{ slug: 'eu-west-1' }, 'body.slug must not be the name of a public location'],
      [{ slug: undefined }, 'body.slug is missing'],
      [{ name: '' }, 'body.name'],
      [{ name: '\ud800' }, 'body.name'],
      [{ icon: '' }, 'body.icon'],
      [{ proxyUrl: 'proxy.internal:3128' }, 'body.proxyUrl'],
      [{ proxyUrl: 'socks5://proxy.internal' }, 'body.proxyUrl'],
      [{ proxyURL: null }, 'body.proxyURL is not a known field'],
      [{ id: randomUUID() }, 'body.id is not a known field'],
    ])('refuse %j', async (fields, problem) => {
      const { mine } = service();
      const refused = await mine.post(PATH, { ...CELLAR, ...fields });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(problem);
      expect((await mine.get(PATH)).json).toEqual([]);
    });

    it('have a slug that is unique in the account', async () => {
      const { mine, theirs } = service();
      const replies = await Promise.all([mine.post(PATH, CELLAR), mine.post(PATH, CELLAR)]);
      expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
      expect((await theirs.post(PATH, CELLAR)).status).toBe(201);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine, clock, store } = service();
      const { json: before } = await mine.post(PATH, { ...CELLAR, icon: 'barrel' });
      clock.spend(1000);
      const path = `${PATH}/${before.id}`;
      const changed = await mine[method](path, { proxyUrl: 'http://proxy:3128' });
      expect(changed.json).toEqual({
        ...before,
        proxyUrl: 'http://proxy:3128',
        updated_at: new Date(clock.wallMs()).toISOString(),
      });
      // Each write moves updated_at on, also within a millisecond.
      const repeated = await mine[method](path, changed.json);
      const later = expect.not.stringMatching(changed.json.updated_at);
      expect(repeated.json).toEqual({ ...changed.json, updated_at: later });
      // Wakes the agents of the location, which need the new proxy.
      expect(
        await store.query('select revision from private_locations where id = $1', [before.id]),
      ).toEqual([{ revision: 2 }]);
      const moved = await mine[method](path, { slug: 'attic' });
      expect(moved.status).toBe(400);
      expect(problemsIn(moved)).toEqual(['body.slug must be cellar here']);
      expect((await mine[method](path, { name: null })).status).toBe(400);
      expect((await mine.get(path)).json).toEqual(repeated.json);
    });

    it('changes of different fields at the same time all take effect', async () => {
      const { mine } = service();
      const { json: location } = await mine.post(PATH, CELLAR);
      const changes = { name: 'Vault', icon: 'lock', proxyUrl: 'http://proxy:3128' };
      await Promise.all(
        Object.entries(changes).map(([field, value]) =>
          mine.patch(`${PATH}/${location.id}`, { [field]: value }),
        ),
      );
      expect((await mine.get(`${PATH}/${location.id}`)).json).toMatchObject(changes);
    });

    it('cannot be deleted while a check or a group names them', async () => {
      const { mine } = service();
      const { json: location } = await mine.post(PATH, CELLAR);
      const path = `${PATH}/${location.id}`;
      await mine.put('/v1/checks/tcp/ssh', {
        privateLocations: ['cellar'],
        request: { hostname: 'host', port: 22 },
      });
      const group = await mine.post('/v1/check-groups', {
        name: 'Shop',
        privateLocations: ['cellar'],
      });
      const refused = await mine.delete(path);
      expect(refused.status).toBe(409);
      expect(refused.json.attributes).toEqual({ checks: ['ssh'], groups: [group.json.id] });
      await mine.delete('/v1/checks/ssh');
      expect((await mine.delete(path)).status).toBe(409);
      await mine.delete(`/v1/check-groups/${group.json.id}`);
      expect((await mine.delete(path)).status).toBe(204);
      expect((await mine.get(path)).status).toBe(404);
      expect((await mine.delete(path)).status).toBe(404);
    });

    it('of another account are not found, and stay', async () => {
      const { mine, theirs } = service();
      const { json: location } = await mine.post(PATH, CELLAR);
      const path = `${PATH}/${location.id}`;
      const { json: key } = await mine.post(`${path}/keys`);
      expect((await theirs.get(path)).status).toBe(404);
      expect((await theirs.put(path, { name: 'theirs' })).status).toBe(404);
      expect((await theirs.patch(path, { name: 'theirs' })).status).toBe(404);
      expect((await theirs.delete(path)).status).toBe(404);
      expect((await theirs.get(`${path}/keys`)).status).toBe(404);
      expect((await theirs.post(`${path}/keys`)).status).toBe(404);
      expect((await theirs.delete(`${path}/keys/${key.id}`)).status).toBe(404);
      expect((await theirs.get(PATH)).json).toEqual([]);
      // Keys cannot be revoked through a location of another account either.
      const { json: own } = await theirs.post(PATH, CELLAR);
      expect((await theirs.delete(`${PATH}/${own.id}/keys/${key.id}`)).status).toBe(404);
      expect((await mine.get(path)).json).toEqual(location);
      expect((await mine.get(`${path}/keys`)).json[0].revokedAt).toBeNull();
    });

    it('are listed oldest first, in pages', async () => {
      const { mine, clock } = service();
      for (const slug of ['c', 'b', 'a']) {
        await mine.post(PATH, { slug, name: slug });
        clock.spend(1000);
      }
      const slugs = async (query: string): Promise<unknown> =>
        (await mine.get(`${PATH}${query}`)).json.map(({ slug }: { slug: string }) => slug);
      expect(await slugs('')).toEqual(['c', 'b', 'a']);
      expect(await slugs('?limit=2&page=2')).toEqual(['a']);
      expect((await mine.get(`${PATH}?page=0`)).status).toBe(400);
    });

    it('are changed with the role write, and their keys with the role admin', async () => {
      const { mine, clientWith } = service();
      const { json: location } = await mine.post(PATH, CELLAR);
      const path = `${PATH}/${location.id}`;
      const runner = await clientWith('run');
      expect((await runner.get(path)).status).toBe(200);
      expect((await runner.post(PATH, { slug: 'attic', name: 'Attic' })).status).toBe(403);
      expect((await runner.patch(path, { name: 'x' })).status).toBe(403);
      expect((await runner.delete(path)).status).toBe(403);
      const writer = await clientWith('write');
      expect((await writer.patch(path, { name: 'x' })).status).toBe(200);
      expect((await writer.get(`${path}/keys`)).status).toBe(200);
      expect((await writer.post(`${path}/keys`)).status).toBe(403);
    });

    describe('their keys', () => {
      it('are shown once and stored as a hash', async () => {
        const { mine, store, clock } = service();
        const { json: location } = await mine.post(PATH, CELLAR);
        const made = await mine.post(`${PATH}/${location.id}/keys`);
        expect(made.status).toBe(201);
        const { key, ...shown } = made.json;
        expect(key).toMatch(/^pl_[0-9a-f]{32}$/);
        expect(shown).toEqual({
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          prefix: key.slice(0, 9),
          lastFour: key.slice(-4),
          created_at: new Date(clock.wallMs()).toISOString(),
          lastUsedAt: null,
          revokedAt: null,
          last_used_at: null,
          revoked_at: null,
        });
        expect((await mine.get(`${PATH}/${location.id}/keys`)).json).toEqual([shown]);
        const rows = await store.query('select * from location_keys where id = $1', [shown.id]);
        expect(rows[0]?.keyHash).toEqual(sha256(key));
        expect(JSON.stringify(rows)).not.toContain(key.slice(10));
      });

      it('are at most two, also for concurrent requests', async () => {
        const { mine } = service();
        const { json: location } = await mine.post(PATH, CELLAR);
        const keys = `${PATH}/${location.id}/keys`;
        const made = await Promise.all([1, 2, 3, 4].map(() => mine.post(keys)));
        expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
        const first = made.find(({ status }) => status === 201)?.json;
        expect((await mine.delete(`${keys}/${first.id}`)).status).toBe(204);
        expect((await mine.post(keys)).status).toBe(201);
        expect((await mine.post(keys)).status).toBe(409);
        expect((await mine.get(keys)).json).toHaveLength(3);
      });

      it('authenticate the agents of their location until they are revoked (trust model AN20)', async () => {
        const { mine, features, clock } = service();
        const { json: location } = await mine.post(PATH, CELLAR);
        const keys = `${PATH}/${location.id}/keys`;
        const { json: made } = await mine.post(keys);
        const caller = {
          accountId: mine.accountId,
          locationId: location.id,
          keyId: made.id,
        };
        clock.spend(5000);
        const usedAt = new Date(clock.wallMs()).toISOString();
        expect(await features.locationKeys.authenticate(sha256(made.key))).toEqual(caller);
        expect((await mine.get(keys)).json[0].lastUsedAt).toBe(usedAt);
        clock.spend(5000);
        await features.locationKeys.authenticate(sha256(made.key));
        expect((await mine.get(keys)).json[0].lastUsedAt).toBe(usedAt);
        expect(await features.locationKeys.authenticate(sha256(`pl_${'0'.repeat(32)}`))).toBeNull();

        await mine.delete(`${keys}/${made.id}`);
        const revokedAt = (await mine.get(keys)).json[0].revokedAt;
        expect(revokedAt).toBe(new Date(clock.wallMs()).toISOString());
        expect(await features.locationKeys.authenticate(sha256(made.key))).toBeNull();
        clock.spend(5000);
        expect((await mine.delete(`${keys}/${made.id}`)).status).toBe(204);
        expect((await mine.get(keys)).json[0].revokedAt).toBe(revokedAt);
        expect((await mine.delete(`${keys}/${randomUUID()}`)).status).toBe(404);
      });

      it('are deleted with their location', async () => {
        const { mine, features } = service();
        const { json: location } = await mine.post(PATH, CELLAR);
        const { json: made } = await mine.post(`${PATH}/${location.id}/keys`);
        await mine.delete(`${PATH}/${location.id}`);
        expect(await features.locationKeys.authenticate(sha256(made.key))).toBeNull();
      });
    });
  });
});
