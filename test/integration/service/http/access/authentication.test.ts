import type { FastifyPluginAsync } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import type { Caller } from '../../../../../src/service/http/access/caller.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import {
  ACCOUNT,
  KEYS,
  keyTable,
  type ServiceApp,
  startServiceApp,
} from '../../../../support/service/service-app.ts';
import { thingRoutes } from '../../../../support/service/service-routes.ts';

let service: ServiceApp | null = null;

async function start(...options: Parameters<typeof startServiceApp>[1][]): Promise<ServiceApp> {
  service = await startServiceApp([thingRoutes()], options[0]);
  return service;
}

afterEach(async () => {
  await service?.close();
  service = null;
});

describe('a key', () => {
  it.each([
    ['none', undefined],
    ['nothing', ''],
    ['another scheme', `Basic ${KEYS.admin}`],
    ['a key that nobody has', `Bearer vk_${'9'.repeat(32)}`],
    ['a key of a location', `Bearer pl_${'1'.repeat(32)}`],
    ['a key cut short', `Bearer ${KEYS.admin.slice(0, -1)}`],
    ['a key in capitals', `Bearer ${KEYS.admin.toUpperCase()}`],
    ['a key and more', `Bearer ${KEYS.admin} x`],
    ['SQL', "Bearer vk_' or '1'='1"],
  ])('%s is 401 Bad Token', async (_what, authorization) => {
    const { ask } = await start();
    const headers = authorization === undefined ? {} : { authorization };
    const reply = await ask('/v1/things', { key: null, headers });
    expect(reply.json).toEqual({
      statusCode: 401,
      error: 'Unauthorized',
      message: 'Bad Token',
      attributes: {
        advice: expect.stringMatching(/^Send an active key in the header Authorization/),
      },
    });
    expect(reply.headers['www-authenticate']).toMatch(/^Bearer/);
  });

  it('allows everything that its role and lesser roles may do', async () => {
    const { ask } = await start();
    expect((await ask('/v1/things', { key: KEYS.read })).json.caller).toBe('key-read');
    expect((await ask('/v1/things', { key: KEYS.admin })).status).toBe(200);
    expect((await ask('/v1/things/a', { key: KEYS.write, method: 'DELETE' })).json).toEqual({
      statusCode: 403,
      error: 'Forbidden',
      message: 'This needs a key with the role admin; this one has write',
      attributes: { role: 'write', needed: 'admin' },
    });
    expect((await ask('/v1/things/a', { key: KEYS.admin, method: 'DELETE' })).status).toBe(204);
  });

  it('is judged before the body is read', async () => {
    const { ask } = await start();
    const refused = await ask('/v1/things', { key: KEYS.run, method: 'POST', body: '{' });
    expect(refused.status).toBe(403);
  });

  it('that is wrong closes the connection of a client that sends without end', async () => {
    const clock = new FakeClock();
    const { raw } = await start({ clock });
    const answer = raw(
      'POST /v1/things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
    );
    await eventually(() => clock.pendingTimers > 0);
    await clock.advance(5_000);
    // The end of the response shows that the service closes the connection.
    expect(await answer).toMatch(/^HTTP\/1.1 401 /);
    expect(await answer).toMatch(/\r\nconnection: close\r\n/i);
  });

  it('is valid only for the account in x-service-account, if there is one', async () => {
    const { ask } = await start();
    const as = (account: string) =>
      ask('/v1/things', { headers: { 'x-service-account': account } });
    expect((await as(ACCOUNT)).status).toBe(200);
    const other = await as('5f0c8a8e-0000-4000-8000-000000000002');
    expect([other.status, other.text.includes(ACCOUNT)]).toEqual([403, false]);
  });

  it('accepts the scheme in any case', async () => {
    const { ask } = await start();
    const headers = { authorization: `bearer ${KEYS.read}` };
    expect((await ask('/v1/things', { key: null, headers })).status).toBe(200);
  });

  it('is never in the log', async () => {
    const { ask, logs } = await start();
    await ask('/v1/things');
    await ask('/v1/things/fault');
    expect(JSON.stringify(logs.records())).not.toContain(KEYS.admin);
  });
});

describe('looking keys up', () => {
  it('asks the store once in five seconds, and a revoked key then ends', async () => {
    const clock = new FakeClock();
    const keys = keyTable();
    const { ask } = await start({ authenticator: keys, clock });
    for (let n = 0; n < 3; n += 1) await ask('/v1/things');
    expect(keys.asked()).toBe(1);
    keys.revoke(KEYS.admin);
    expect((await ask('/v1/things')).status).toBe(200);
    clock.spend(5_001);
    expect((await ask('/v1/things')).status).toBe(401);
  });

  it('is 503 while the store cannot be asked, and works again afterwards', async () => {
    const keys = keyTable();
    let authenticate = (_hash: Buffer): Promise<Caller | null> =>
      Promise.reject(new Error('secret detail'));
    const { ask } = await start({ authenticator: { authenticate: (hash) => authenticate(hash) } });
    const away = await ask('/v1/things');
    expect(away.status).toBe(503);
    expect(away.headers['retry-after']).toBeDefined();
    expect(away.text).not.toContain('secret detail');
    authenticate = keys.authenticate;
    expect((await ask('/v1/things')).status).toBe(200);
  });

  it('limits wrong keys by address, and shuts out no valid key that comes from there', async () => {
    const keys = keyTable();
    const { ask } = await start({ authenticator: keys });
    expect((await ask('/v1/things')).status).toBe(200);
    const guess = (n: number) => ask('/v1/things', { key: `vk_${String(n).padStart(32, '0')}` });
    for (let n = 0; n < 100; n += 1) expect((await guess(n)).status).toBe(401);
    const stopped = await guess(100);
    expect(stopped.status).toBe(429);
    const retryAfterSeconds = Number(stopped.headers['retry-after']);
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(stopped.json).toMatchObject({
      message: `More than 100 wrong keys a minute from this address; try again in ${retryAfterSeconds} s`,
      attributes: { limit: 100, retryAfterSeconds },
    });
    expect((await ask('/v1/things')).status).toBe(200);
    // Not seen by this replica before.
    expect((await ask('/v1/things', { key: KEYS.read })).status).toBe(200);
    expect((await guess(101)).status).toBe(429);
  });

  it('bounds the wrong keys that are looked up at once, over all addresses that guess', async () => {
    const keys = keyTable();
    let waiting = 0;
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let authenticate = keys.authenticate;
    const { ask } = await start({ authenticator: { authenticate: (hash) => authenticate(hash) } });
    const guess = (n: number) => ask('/v1/things', { key: `vk_${String(n).padStart(32, '0')}` });
    for (let n = 0; n < 100; n += 1) expect((await guess(n)).status).toBe(401);
    authenticate = async (hash) => {
      waiting += 1;
      await held;
      return keys.authenticate(hash);
    };
    const slow = Array.from({ length: 1_000 }, (_, n) => guess(1_000 + n));
    await eventually(() => waiting === 1_000);
    expect((await guess(5_000)).status).toBe(429);
    expect(waiting).toBe(1_000);
    answer();
    const statuses = await Promise.all(slow.map(async (each) => (await each).status));
    expect(new Set(statuses)).toEqual(new Set([429]));
  });
});

describe('the rate limit', () => {
  it('counts for each key, and answers with what is left and when to retry', async () => {
    const { ask } = await start({ config: { rateLimitPerMinute: 2, trustedProxies: [] } });
    const first = await ask('/v1/things', { key: KEYS.read });
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '2', 'x-ratelimit-remaining': '1' });
    expect(Number(first.headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    await ask('/v1/things', { key: KEYS.read });
    const over = await ask('/v1/things', { key: KEYS.read });
    expect(over.json).toEqual({
      statusCode: 429,
      error: 'Too Many Requests',
      message: expect.stringContaining('try again in'),
      attributes: { limit: 2, retryAfterSeconds: Number(over.headers['retry-after']) },
    });
    expect(over.headers['x-ratelimit-remaining']).toBe('0');
    expect((await ask('/v1/things', { key: KEYS.admin })).status).toBe(200);
  });

  it('can differ for a route, whose requests do not count towards the general limit', async () => {
    const { ask } = await start();
    await ask('/v1/few');
    await ask('/v1/few');
    expect((await ask('/v1/few')).status).toBe(429);
    expect((await ask('/v1/things')).status).toBe(200);
  });

  it('counts requests without a key by their address, and does not count probes', async () => {
    const { ask } = await start({ config: { rateLimitPerMinute: 2, trustedProxies: [] } });
    for (let n = 0; n < 5; n += 1) expect((await ask('/-/liveness')).status).toBe(200);
    const at = () => ask('/v1/nothing', { key: null });
    expect([(await at()).status, (await at()).status, (await at()).status]).toEqual([
      404, 404, 429,
    ]);
  });

  it('believes X-Forwarded-For of a trusted proxy alone', async () => {
    const from = (address: string) => ({ key: null, headers: { 'x-forwarded-for': address } });
    const behind = await start({
      config: { rateLimitPerMinute: 1, trustedProxies: ['127.0.0.0/8'] },
    });
    expect((await behind.ask('/v1/nothing', from('192.0.2.1'))).status).toBe(404);
    expect((await behind.ask('/v1/nothing', from('192.0.2.2'))).status).toBe(404);
    expect((await behind.ask('/v1/nothing', from('192.0.2.1'))).status).toBe(429);
    await behind.close();
    const bare = await start({ config: { rateLimitPerMinute: 1, trustedProxies: [] } });
    expect((await bare.ask('/v1/nothing', from('192.0.2.1'))).status).toBe(404);
    expect((await bare.ask('/v1/nothing', from('192.0.2.2'))).status).toBe(429);
  });
});

describe('a route', () => {
  const routes = (config: object | undefined): FastifyPluginAsync => {
    return async (app) => {
      app.get('/v1/open', { ...(config === undefined ? {} : { config }) }, async () => 'ok');
    };
  };

  it.each([
    ['says nothing', undefined],
    ['says an unknown role', { role: 'owner' }],
    ['says both a role and public', { role: 'read', public: true }],
    ['says public in another way', { public: 'yes' }],
  ])('that %s about who may use it stops the start', async (_what, config) => {
    await expect(startServiceApp([routes(config)])).rejects.toThrow(
      /GET \/v1\/open does not say who may use it/,
    );
  });
});
