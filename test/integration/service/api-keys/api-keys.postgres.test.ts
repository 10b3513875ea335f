import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/api-keys';
/** A revocation takes effect after this at the latest. */
const KEY_TTL_MS = 5000;

/** The keys of the API through the API. */
describe.each(databases)('on %s', (kind) => {
  describe('API keys', () => {
    const service = useAccounts(useRunningService(kind));

    it('are shown once and stored as a hash', async () => {
      const { mine, store, clock } = service();
      const made = await mine.post(PATH, { name: HOSTILE, role: 'run' });
      expect(made.status).toBe(201);
      const { key, ...shown } = made.json;
      expect(key).toMatch(/^vk_[0-9a-f]{32}$/);
      expect(shown).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: HOSTILE,
        role: 'run',
        prefix: key.slice(0, 9),
        lastFour: key.slice(-4),
        created_at: new Date(clock.wallMs()).toISOString(),
        lastUsedAt: null,
        revokedAt: null,
        last_used_at: null,
        revoked_at: null,
      });
      expect((await mine.get(`${PATH}/${shown.id}`)).json).toEqual(shown);
      expect((await mine.get(PATH)).json).toContainEqual(shown);
      const rows = await store.query('select * from api_keys where id = $1', [shown.id]);
      expect(rows[0]?.keyHash).toEqual(createHash('sha256').update(key).digest());
      expect(JSON.stringify(rows)).not.toContain(key.slice(10));
    });

    it('have no last characters if a release before them made the key', async () => {
      const { mine, store } = service();
      const { json: made } = await mine.post(PATH, { name: 'Old', role: 'run' });
      await store.query('update api_keys set key_last_four = null where id = $1', [made.id]);
      expect((await mine.get(`${PATH}/${made.id}`)).json.lastFour).toBeNull();
    });

    it.each([
      [{ name: '' }, 'body.name'],
      [{ name: 'n'.repeat(256) }, 'body.name'],
      [{ name: 'a\u0000' }, 'body.name'],
      [{ name: undefined }, 'body.name is missing'],
      [{ role: 'root' }, 'body.role must be one of read, run, write, admin'],
      [{ role: undefined }, 'body.role'],
      [{ key: 'vk_1' }, 'body.key is not a known field'],
    ])('refuse %j', async (fields, problem) => {
      const { mine } = service();
      const refused = await mine.post(PATH, { name: 'CI', role: 'read', ...fields });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(problem);
      expect((await mine.get(PATH)).json).toHaveLength(1);
    });

    it('need the role admin', async () => {
      const { mine, clientWith } = service();
      const { json: made } = await mine.post(PATH, { name: 'CI', role: 'read' });
      for (const role of ['read', 'run', 'write'] as const) {
        const client = await clientWith(role);
        expect((await client.get(PATH)).status).toBe(403);
        expect((await client.get(`${PATH}/${made.id}`)).status).toBe(403);
        expect((await client.post(PATH, { name: 'x', role: 'read' })).status).toBe(403);
        expect((await client.delete(`${PATH}/${made.id}`)).status).toBe(403);
        expect((await client.get('/v1/checks')).status).toBe(200);
      }
    });

    it('are refused once they are revoked', async () => {
      const { mine, clientOf, clock } = service();
      const { json: made } = await mine.post(PATH, { name: 'CI', role: 'read' });
      const client = clientOf(made.key);
      expect((await client.get('/v1/checks')).status).toBe(200);
      expect((await mine.get(`${PATH}/${made.id}`)).json.lastUsedAt).toBe(
        new Date(clock.wallMs()).toISOString(),
      );
      expect((await mine.delete(`${PATH}/${made.id}`)).status).toBe(204);
      const revokedAt = new Date(clock.wallMs()).toISOString();
      clock.spend(KEY_TTL_MS);
      expect((await client.get('/v1/checks')).status).toBe(401);
      expect((await mine.delete(`${PATH}/${made.id}`)).status).toBe(204);
      expect((await mine.get(`${PATH}/${made.id}`)).json.revokedAt).toBe(revokedAt);
    });

    it('still work while their address sends many wrong keys', async () => {
      const { mine, clientOf } = service();
      const make = async (role: string) => (await mine.post(PATH, { name: role, role })).json.key;
      const [reader, writer] = [await make('read'), await make('write')];
      const guess = async (n: number) =>
        (await clientOf(`vk_${String(n).padStart(32, '0')}`).get('/v1/checks')).status;
      const guesses = await Promise.all(Array.from({ length: 150 }, (_, n) => guess(n)));
      expect(guesses).toContain(401);
      const replies = await Promise.all([
        guess(1_000),
        clientOf(reader).get('/v1/checks'),
        clientOf(reader).post(PATH, { name: 'x', role: 'read' }),
        clientOf(writer).get('/v1/checks'),
        guess(1_001),
      ]);
      const statuses = replies.map((each) => (typeof each === 'number' ? each : each.status));
      expect(statuses).toEqual([429, 200, 403, 200, 429]);
    });

    it('leave the account one admin key', async () => {
      const { mine } = service();
      const [first] = (await mine.get(PATH)).json;
      expect((await mine.delete(`${PATH}/${first.id}`)).status).toBe(409);
      const { json: second } = await mine.post(PATH, { name: 'second', role: 'admin' });
      const replies = await Promise.all([
        mine.delete(`${PATH}/${first.id}`),
        mine.delete(`${PATH}/${second.id}`),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([204, 409]);
    });

    it('of another account are not found, and stay', async () => {
      const { mine, theirs } = service();
      const { json: made } = await mine.post(PATH, { name: 'CI', role: 'read' });
      expect((await theirs.get(`${PATH}/${made.id}`)).status).toBe(404);
      expect((await theirs.delete(`${PATH}/${made.id}`)).status).toBe(404);
      expect((await theirs.get(PATH)).json).toHaveLength(1);
      expect((await mine.get(`${PATH}/${made.id}`)).json.revokedAt).toBeNull();
    });

    it('are listed oldest first, in pages', async () => {
      const { mine, clock } = service();
      for (const name of ['b', 'a']) {
        clock.spend(1000);
        await mine.post(PATH, { name, role: 'read' });
      }
      const names = async (query: string): Promise<unknown> =>
        (await mine.get(`${PATH}${query}`)).json.map(({ name }: { name: string }) => name);
      expect(await names('')).toEqual(['first', 'b', 'a']);
      expect(await names('?limit=2&page=2')).toEqual(['a']);
      expect((await mine.get(`${PATH}?limit=x`)).status).toBe(400);
      expect((await mine.get(`${PATH}/x`)).status).toBe(400);
    });
  });
});
