import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { yieldToEventLoop } from '../../../../../src/runtime/event-loop.ts';
import { apiRoutes } from '../../../../../src/service/api-routes.ts';
import { databases } from '../../../../support/database/databases.ts';
import {
  askService,
  type Reply,
  type ServiceApp,
  startServiceApp,
} from '../../../../support/service/service-app.ts';
import { testFeatures } from '../../../../support/service/service-features.ts';
import {
  type Client,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

function post(client: Client, key: string, path: string, body: unknown): Promise<Reply> {
  return client.ask('POST', path, body, { 'idempotency-key': key });
}

describe.each(databases)('on %s', (kind) => {
  describe('a POST with an Idempotency-Key', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);
    const snippet = () => ({ name: randomUUID(), script: '1' });
    const countOf = async (client: Client) =>
      (await client.get('/v1/snippets?limit=100')).json.length;

    it('is done once, and gets the first response again', async () => {
      const { mine } = service();
      const [key, body] = [randomUUID(), snippet()];
      const first = await post(mine, key, '/v1/snippets', body);
      expect(first.status, first.text).toBe(201);
      expect(first.headers['idempotent-replayed']).toBeUndefined();
      const again = await post(mine, key, '/v1/snippets', body);
      expect(again).toMatchObject({ status: 201, text: first.text });
      expect(again.headers).toMatchObject({
        'idempotent-replayed': 'true',
        location: first.headers.location,
        'content-type': first.headers['content-type'],
      });
      expect(await countOf(mine)).toBe(1);
    });

    it.each([
      ['/v1/snippets', snippet()],
      ['/v1/check-groups', { name: 'a' }],
      [
        '/v1/checks/url',
        { name: 'a', request: { url: 'https://shop.test/' }, locations: ['eu-west-1'] },
      ],
    ])('to %s gets the first ETag again, with which a change may follow', async (path, body) => {
      const { mine } = service();
      const key = randomUUID();
      const first = await post(mine, key, path, body);
      expect(first.status, first.text).toBe(201);
      const again = await post(mine, key, path, body);
      expect(again.headers['idempotent-replayed']).toBe('true');
      const { etag, location } = again.headers;
      expect(etag).toMatch(/^"/);
      expect({ etag, location }).toEqual({
        etag: first.headers.etag,
        location: first.headers.location,
      });
      const change = { name: randomUUID() };
      const changed = await mine.ask('PATCH', String(location), change, {
        'if-match': String(etag),
      });
      expect(changed.status, changed.text).toBe(200);
    });

    it('is refused with another body or path under the same key', async () => {
      const { mine } = service();
      const [key, body] = [randomUUID(), snippet()];
      await post(mine, key, '/v1/snippets', body);
      expect((await post(mine, key, '/v1/snippets', snippet())).status).toBe(422);
      expect((await post(mine, key, '/v1/variables', body)).status).toBe(422);
      expect(await countOf(mine)).toBe(1);
    });

    it('of another account or API key is another request', async () => {
      const { mine, theirs, clientWith } = service();
      const [key, body] = [randomUUID(), snippet()];
      await post(mine, key, '/v1/snippets', body);
      expect((await post(theirs, key, '/v1/snippets', body)).status).toBe(201);
      const colleague = await clientWith('write');
      expect((await post(colleague, key, '/v1/snippets', body)).status).toBe(409);
    });

    it('that failed may be sent again with the same key', async () => {
      const { mine } = service();
      const key = randomUUID();
      expect((await post(mine, key, '/v1/snippets', { name: 1 })).status).toBe(400);
      const reply = await post(mine, key, '/v1/snippets', snippet());
      expect(reply.status, reply.text).toBe(201);
    });

    it('may be sent to two replicas at once, and is done by one of them', async () => {
      const { mine } = service();
      const { store, clock, app } = running();
      const made = await testFeatures(store, clock);
      const other = await startServiceApp(apiRoutes(made.features, new AbortController().signal), {
        store,
        clock,
        authenticator: made.features.apiKeys,
        locationKeys: made.features.locationKeys,
        idempotency: made.features.idempotency,
      });
      try {
        const apiKey = (await mine.post('/v1/api-keys', { name: 'two', role: 'write' })).json.key;
        const [key, body] = [randomUUID(), snippet()];
        const ask = ({ port }: ServiceApp) =>
          askService(port, '/v1/snippets', {
            key: apiKey,
            method: 'POST',
            headers: { 'idempotency-key': key },
            body,
          });
        const replies = await Promise.all([app, other, app, other].map(ask));
        expect(replies.some(({ status }) => status === 201)).toBe(true);
        expect(replies.every(({ status }) => status === 201 || status === 409)).toBe(true);
        const late = await ask(other);
        expect(late.headers['idempotent-replayed']).toBe('true');
        expect(await countOf(mine)).toBe(1);
      } finally {
        await other.close();
        await made.close();
      }
    });

    it('gets 409 while the first is in progress, until that counts as abandoned', async () => {
      const { mine, store, clock } = service();
      const [key, body] = [randomUUID(), snippet()];
      await post(mine, key, '/v1/snippets', body);
      // As a replica leaves the key if it is killed before it writes the response.
      await store.query('update idempotency_keys set status = null where account_id = $1', [
        mine.accountId,
      ]);
      await mine.delete(`/v1/snippets/${(await mine.get('/v1/snippets')).json[0].id}`);
      const early = await post(mine, key, '/v1/snippets', body);
      expect(early.status).toBe(409);
      expect(early.headers['retry-after']).toBe('2');
      clock.spend(6 * MINUTE_MS);
      expect((await post(mine, key, '/v1/snippets', body)).status).toBe(201);
    });

    it('is new again after a day', async () => {
      const { mine, clock } = service();
      const key = randomUUID();
      await post(mine, key, '/v1/snippets', snippet());
      clock.spend(DAY_MS + 1);
      const reply = await post(mine, key, '/v1/snippets', snippet());
      expect(reply.status, reply.text).toBe(201);
    });

    it('gets a secret again that is shown only once, which the database has encrypted', async () => {
      const { mine, store } = service();
      const [key, body] = [randomUUID(), { name: 'a', role: 'read' }];
      const first = await post(mine, key, '/v1/api-keys', body);
      const again = await post(mine, key, '/v1/api-keys', body);
      expect(again.json.key).toBe(first.json.key);
      const rows = await store.query(`select body from idempotency_keys where account_id = $1`, [
        mine.accountId,
      ]);
      expect(Buffer.from(Object(rows[0]).body).includes(first.json.key)).toBe(false);
    });

    it.each(['', 'a b', 'é', 'x'.repeat(256)])('is refused with the key %j', async (key) => {
      const { mine } = service();
      const sent = Buffer.from(key, 'utf8').toString('latin1');
      expect((await post(mine, sent, '/v1/snippets', snippet())).status).toBe(400);
    });
  });

  describe('a service without an encryption key', () => {
    const service = useAccounts(useRunningService(kind, { secrets: null }));

    it('does not keep a secret that is shown only once, and says where the resource is', async () => {
      const { mine } = service();
      const [key, body] = [randomUUID(), { name: 'a', role: 'read' }];
      const first = await post(mine, key, '/v1/api-keys', body);
      expect(first.status).toBe(201);
      const again = await post(mine, key, '/v1/api-keys', body);
      expect(again).toMatchObject({
        status: 409,
        json: { attributes: { statusCode: 201, location: first.headers.location } },
      });
      const other = await post(mine, randomUUID(), '/v1/snippets', { name: 'a', script: '' });
      expect(other.status).toBe(201);
    });
  });

  describe('old Idempotency-Keys', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    it('are deleted after a day', async () => {
      const { mine, store, clock, features } = service();
      await post(mine, randomUUID(), '/v1/snippets', { name: 'a', script: '' });
      clock.spend(DAY_MS + 1);
      await post(mine, randomUUID(), '/v1/snippets', { name: 'b', script: '' });
      const stop = new AbortController();
      const ended = features.idempotency.maintain(stop.signal);
      const rows = () =>
        store.query('select 1 from idempotency_keys where account_id = $1', [mine.accountId]);
      while ((await rows()).length > 1) await yieldToEventLoop();
      expect(await rows()).toHaveLength(1);
      stop.abort();
      await ended;
    });
  });
});
