import type { FastifyPluginAsync } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../../src/runtime/clock.ts';
import type { SignedIn } from '../../../../../src/service/http/access/caller.ts';
import { KEY_TTL_MS, KeyCache } from '../../../../../src/service/http/access/key-cache.ts';
import { ServiceAddress } from '../../../../../src/service/http/access/service-address.ts';
import { callerOf } from '../../../../../src/service/http/app.ts';
import {
  ACCOUNT,
  type Reply,
  type ServiceApp,
  startServiceApp,
} from '../../../../support/service/service-app.ts';
import { thingRoutes } from '../../../../support/service/service-routes.ts';

const TOOLS = 'https://tools.example.org';
const OTHER = 'https://other.example.org';
const COOKIE = `vedette_session=${'a'.repeat(43)}`;

const USER: SignedIn = {
  sessionId: 's-1',
  userId: 'u-1',
  email: 'ann@example.org',
  memberships: [{ accountId: ACCOUNT, role: 'admin' }],
};

/** Every token is that of the same user. */
function oneUser(): KeyCache<SignedIn> {
  const holders = { authenticate: async () => USER };
  return new KeyCache({ holders, clock: systemClock, ttlMs: KEY_TTL_MS, maxEntries: 10 });
}

const routes: FastifyPluginAsync = async (app) => {
  const role = { role: 'read' } as const;
  app.get('/v1/who', { config: role, handler: async (request) => ({ by: callerOf(request).by }) });
  app.post('/v1/who', { config: role, handler: async (request) => ({ by: callerOf(request).by }) });
  app.get('/v1/open', { config: { public: true }, handler: async () => ({}) });
  app.get('/v1/me', { config: { user: true }, handler: async () => ({}) });
  app.get('/agent/v1/thing', { config: { agent: true }, handler: async () => ({}) });
};

let service: ServiceApp;

beforeAll(async () => {
  service = await startServiceApp([routes, thingRoutes()], {
    config: { rateLimitPerMinute: 600, trustedProxies: [], corsOrigins: [TOOLS] },
    sessions: oneUser(),
  });
});

afterAll(() => service.close());

const corsHeadersOf = ({ headers }: Reply): readonly string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'));

const preflight = (path: string, origin: string): Promise<Reply> =>
  service.ask(path, {
    key: null,
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,content-type',
    },
  });

describe('a page of a listed origin', () => {
  it('may send requests with a key, which its preflight does not need', async () => {
    const { status, headers, text } = await preflight('/v1/things/a', TOOLS);
    expect([status, text]).toEqual([204, '']);
    expect(headers).toMatchObject({ 'access-control-allow-origin': TOOLS, vary: 'origin' });
    expect(headers['access-control-allow-methods']?.split(', ')).toEqual(
      expect.arrayContaining(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
    );
    const allowed = headers['access-control-allow-headers']?.toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'if-match', 'idempotency-key']),
    );
  });

  it('reads answers and errors, with the headers that clients need', async () => {
    for (const [path, key] of [
      ['/v1/who', undefined],
      ['/v1/who', null],
      ['/v1/things/missing', undefined],
      ['/v1/nothing', undefined],
    ] as const) {
      const asked = { headers: { origin: TOOLS }, ...(key === undefined ? {} : { key }) };
      const { headers } = await service.ask(path, asked);
      expect(headers, path).toMatchObject({ 'access-control-allow-origin': TOOLS, vary: 'origin' });
      const shown = headers['access-control-expose-headers']?.toLowerCase().split(', ');
      expect(shown).toEqual(
        expect.arrayContaining(['etag', 'link', 'location', 'retry-after', 'x-next-cursor']),
      );
    }
  });

  it('is never signed in by a cookie', async () => {
    const withCookie = { key: null, headers: { cookie: COOKIE, origin: TOOLS } };
    expect((await service.ask('/v1/who', withCookie)).status).toBe(401);
    // The same path.
    expect((await service.ask('/%76%31/%77ho', withCookie)).status).toBe(401);
    expect((await service.ask('/v1/who', { ...withCookie, method: 'POST' })).status).toBe(401);
    const byKey = await service.ask('/v1/who', { headers: withCookie.headers });
    expect(byKey.json).toEqual({ by: { kind: 'key', id: 'key-admin' } });
    for (const reply of [byKey, await preflight('/v1/who', TOOLS)]) {
      expect(reply.headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it.each(['/health', '/docs', '/openapi.json', '/v1/open', '/v1/me', '/agent/v1/thing'])(
    'may not read %s, which keys cannot use',
    async (path) => {
      expect(corsHeadersOf(await service.ask(path, { headers: { origin: TOOLS } }))).toEqual([]);
    },
  );
});

describe('a page of another origin', () => {
  it.each([OTHER, `${TOOLS}:8443`, 'http://tools.example.org', `${TOOLS}.evil.test`, 'null', '*'])(
    'such as %s gets no permission',
    async (origin) => {
      const reply = await service.ask('/v1/who', { headers: { origin } });
      expect([corsHeadersOf(reply), reply.headers.vary]).toEqual([[], 'origin']);
      expect(corsHeadersOf(await preflight('/v1/who', origin))).toEqual([]);
    },
  );
});

describe('a page of the service itself', () => {
  it('stays signed in, even if its origin is listed', async () => {
    const origin = 'http://status.example.org';
    const own = await startServiceApp([routes], {
      config: { rateLimitPerMinute: 600, trustedProxies: [], corsOrigins: [origin] },
      sessions: oneUser(),
      serviceAddress: new ServiceAddress(origin),
    });
    const headers = { cookie: COOKIE, origin };
    const { json } = await own.ask('/v1/who', { key: null, method: 'POST', headers });
    await own.close();
    expect(json.by).toMatchObject({ kind: 'user', id: 'u-1' });
  });
});

describe('a service without listed origins', () => {
  it('allows no page of another origin', async () => {
    const closed = await startServiceApp([routes]);
    const reply = await closed.ask('/v1/who', { headers: { origin: TOOLS } });
    await closed.close();
    expect([corsHeadersOf(reply), reply.headers.vary]).toEqual([[], undefined]);
  });
});
