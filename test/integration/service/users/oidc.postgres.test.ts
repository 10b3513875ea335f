import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_PROXIES } from '../../../../src/runtime/net/proxy/choose-proxy.ts';
import { readProxies } from '../../../../src/runtime/net/proxy/proxy-variables.ts';
import { apiRoutes } from '../../../../src/service/api-routes.ts';
import type { Store } from '../../../../src/service/database/store.ts';
import type { OidcConfig } from '../../../../src/service/oidc/oidc-config.ts';
import { NO_OUTGOING } from '../../../../src/service/outgoing/outgoing-config.ts';
import {
  type DatabaseKind,
  databases,
  openMigratedStore,
  useEmptyTables,
} from '../../../support/database/databases.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { httpProxy } from '../../../support/servers/http-proxy.ts';
import {
  type Reply,
  type ServiceApp,
  startServiceApp,
} from '../../../support/service/service-app.ts';
import { testFeatures } from '../../../support/service/service-features.ts';
import { type Browser, openBrowser } from '../../../support/users/browser.ts';
import {
  CLIENT,
  startTestProvider,
  type TestProvider,
} from '../../../support/users/oidc-provider.ts';

interface World {
  readonly store: Store;
  readonly provider: TestProvider;
  readonly app: ServiceApp;
  readonly features: Awaited<ReturnType<typeof testFeatures>>['features'];
  readonly clock: FakeClock;
}

const PASSWORD = 'correct horse battery';
const HOUR_MS = 3_600_000;
const SESSION_HOURS = 8;

/** A service whose users sign in at a real provider. */
function useWorld(kind: DatabaseKind): () => World {
  let world: World | null = null;
  const ends: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    const store = await openMigratedStore(kind);
    ends.unshift(() => store.close());
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const provider = await startTestProvider(() => `${publicUrl}/oidc/callback`);
    ends.unshift(() => provider.close());
    const { app, features, clock, close } = await startWith(store, port, configOf(provider.issuer));
    ends.unshift(close);
    world = { store, provider, app, features, clock };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  useEmptyTables(() => {
    if (world === null) throw new Error('the world is for tests');
    return world.store;
  });
  beforeEach(async () => {
    world?.provider.people.clear();
    await world?.store.query(`insert into accounts (id, name) values ('main', 'Main')`);
  });
  return () => {
    if (world === null) throw new Error('the world is for tests');
    return world;
  };
}

/** @param publicPort that of PUBLIC_URL; with the first replica's clock, that of the first for another */
async function startWith(
  store: Store,
  port: number,
  oidc: OidcConfig,
  { publicPort = port, clock = new FakeClock(), proxies = NO_PROXIES } = {},
) {
  const delivery = { ...NO_OUTGOING, proxies };
  const config = { leaseMs: 15_000, retentionDays: 30, staticIpv6s: [], oidc, delivery };
  const publicUrl = `http://127.0.0.1:${publicPort}`;
  const { features, close } = await testFeatures(store, clock, {
    config: { ...config, publicUrl },
  });
  const app = await startServiceApp(
    apiRoutes(features, new AbortController().signal),
    {
      store,
      clock,
      authenticator: features.apiKeys,
      locationKeys: features.locationKeys,
      auditLog: features.auditLog,
      sessions: features.sessions.cache,
      serviceAddress: features.serviceAddress,
    },
    { port, host: '127.0.0.1' },
  );
  return {
    app,
    features,
    clock,
    async close() {
      await app.close();
      await close();
    },
  };
}

function configOf(issuer: string): OidcConfig {
  return {
    issuer,
    ...CLIENT,
    groupsClaim: 'groups',
    scopes: 'openid email groups',
    groupRoles: [
      { group: 'ops', role: 'admin' },
      { group: 'dev', role: 'write' },
    ],
    accountId: null,
    sessionMaxMs: SESSION_HOURS * HOUR_MS,
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe.each(databases)('on %s', (kind) => {
  describe('signing in at an OpenID Connect provider', () => {
    const worldOf = useWorld(kind);
    const browserOf = (): Browser => openBrowser(worldOf().app.port);

    /** Follows the redirect to the provider and signs in there. Returns the URL of the callback. */
    const signInAtProvider = async (
      browser: Browser,
      login: string,
      next = '',
    ): Promise<string> => {
      const begun = await browser.ask(`/oidc/sign-in?next=${encodeURIComponent(next)}`);
      expect(begun.status, begun.text).toBe(303);
      const jar = new Map<string, string>();
      let url = new URL(String(begun.headers.location));
      let body: URLSearchParams | null = null;
      for (let steps = 0; steps < 10 && !url.pathname.startsWith('/oidc/callback'); steps += 1) {
        const response: Response = await fetch(url, {
          method: body === null ? 'GET' : 'POST',
          body,
          redirect: 'manual',
          headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
        });
        for (const each of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
          jar.set(name, value);
        }
        const text = await response.text();
        const location: string | null = response.headers.get('location');
        const action = /<form[^>]*action="([^"]+)"/.exec(text)?.[1];
        body =
          location === null ? new URLSearchParams({ prompt: 'login', login, password: 'x' }) : null;
        const target = location ?? action;
        if (target === undefined || target === null) throw new Error(`${response.status} ${text}`);
        url = new URL(target, url);
      }
      return `${url.pathname}${url.search}`;
    };
    const signIn = async (login: string, next = '', browser = browserOf()) => {
      const reply = await browser.ask(await signInAtProvider(browser, login, next));
      return { browser, reply };
    };
    const shownOn = ({ text }: Reply): string =>
      text.replaceAll(/<style>.*<\/style>|<[^>]*>/gs, ' ').replaceAll(/\s+/g, ' ');
    const rolesOf = async (browser: Browser): Promise<unknown> =>
      (await browser.ask('/v1/session')).json.accounts.map(({ role }: { role: string }) => role);

    /** Another admin of the account. */
    const addAdmin = async (): Promise<void> => {
      const { store } = worldOf();
      await store.query(
        `insert into users (id, email, created_at) values ('other', 'other@example.com', now())`,
      );
      await store.query(
        `insert into memberships (account_id, user_id, role, created_at)
         values ('main', 'other', 'admin', now())`,
      );
    };

    it('makes a user with the highest role of the groups, and leads to the page asked for', async () => {
      const { provider } = worldOf();
      const fields = { email: 'Ann@Example.com', email_verified: true };
      provider.people.set('ann', { ...fields, groups: ['dev', 'ops', 'other'] });
      const { browser, reply } = await signIn('ann', '/docs/checks');
      expect([reply.status, reply.headers.location]).toEqual([303, '/docs/checks']);
      expect((await browser.ask('/v1/session')).json).toMatchObject({
        user: { email: 'ann@example.com' },
        accounts: [{ id: 'main', role: 'admin' }],
      });
      await addAdmin();
      provider.people.set('ann', { ...fields, groups: ['dev'] });
      const again = await signIn('ann');
      expect(again.reply.headers.location).toBe('/');
      expect(await rolesOf(again.browser)).toEqual(['write']);
      expect(await worldOf().store.query('select id from users')).toHaveLength(2);
    });

    it('refuses to take the role of the last admin, who stays what they are', async () => {
      const { provider, features } = worldOf();
      const email = 'gil@example.com';
      const token = (await features.setup.newLink()) ?? '';
      const browser = browserOf();
      await browser.submit(`/setup/${token}`, { email, password: PASSWORD });
      for (const groups of [['dev'], []]) {
        provider.people.set('gil', { email, email_verified: true, groups });
        expect((await signIn('gil')).reply.status).toBe(403);
      }
      // No user was taken over, either.
      expect(await rolesOf(browser)).toEqual(['admin']);
      const byPassword = await browserOf().submit('/sign-in', { email, password: PASSWORD });
      expect(byPassword.status).toBe(303);

      provider.people.set('gil', { email, email_verified: true, groups: ['ops'] });
      const asAdmin = (await signIn('gil')).browser;
      for (const groups of [['dev'], []]) {
        provider.people.set('gil', { email, email_verified: true, groups });
        const { reply } = await signIn('gil');
        expect(reply.status).toBe(403);
        expect(shownOn(reply)).toContain('You are the last admin of the account');
        expect(await rolesOf(asAdmin)).toEqual(['admin']);
      }
      await addAdmin();
      expect((await signIn('gil')).reply.status).toBe(403);
      expect(await rolesOf(asAdmin)).toEqual([]);
    });

    it('ends the open invitations of the user, whose role is that of the groups', async () => {
      const { provider, features, store } = worldOf();
      const email = 'hal@example.com';
      await features.invitations.create('main', { email, role: 'admin' });
      await features.invitations.create('main', { email: 'ida@example.com', role: 'read' });
      provider.people.set('hal', { email, groups: ['dev'] });
      expect((await signIn('hal')).reply.status).toBe(303);
      expect(await store.query('select email from one_time_links')).toEqual([
        { email: 'ida@example.com' },
      ]);
      await addAdmin();
      provider.people.set('hal', { email, groups: ['ops'] });
      await signIn('hal');
      await features.invitations.create('main', { email: 'jo@example.com', role: 'admin' });
      provider.people.set('hal', { email, groups: ['dev'] });
      await signIn('hal');
      expect(await store.query('select email from one_time_links')).toEqual([
        { email: 'ida@example.com' },
      ]);
    });

    it('is offered beside the password', async () => {
      const page = await browserOf().ask('/sign-in?next=/docs');
      expect(page.text).toContain('href="/oidc/sign-in?next=%2Fdocs"');
    });

    it('refuses a user without a group that has a role, and removes the role of one who left them', async () => {
      const { provider } = worldOf();
      provider.people.set('bob', { email: 'bob@example.com', groups: ['guests'] });
      const { reply } = await signIn('bob');
      expect(reply.status).toBe(403);
      expect(shownOn(reply)).toContain('None of your groups at the identity provider has a role');
      expect(await worldOf().store.query('select id from users')).toEqual([]);
      provider.people.set('bob', { email: 'bob@example.com', groups: ['dev'] });
      const { browser } = await signIn('bob');
      expect(await rolesOf(browser)).toEqual(['write']);
      provider.people.set('bob', { email: 'bob@example.com', groups: [] });
      expect((await signIn('bob')).reply.status).toBe(403);
      expect(await rolesOf(browser)).toEqual([]);
    });

    it('takes over the user with the same email only if the provider verified it, without the password', async () => {
      const { provider, features } = worldOf();
      const email = 'cy@example.com';
      const token = (await features.setup.newLink()) ?? '';
      const browser = browserOf();
      await browser.submit(`/setup/${token}`, { email, password: PASSWORD });
      provider.people.set('cy', { email, groups: ['dev'] });
      const unsure = await signIn('cy');
      expect(unsure.reply.status).toBe(403);
      provider.people.set('cy', { email, email_verified: false, groups: ['dev'] });
      expect((await signIn('cy')).reply.status).toBe(403);
      expect((await browser.ask('/v1/session')).status).toBe(200);
      await addAdmin();
      provider.people.set('cy', { email, email_verified: true, groups: ['dev'] });
      const sure = await signIn('cy');
      expect(sure.reply.status).toBe(303);
      expect((await browser.ask('/v1/session')).status).toBe(401);
      const old = await browserOf().submit('/sign-in', { email, password: PASSWORD });
      expect(old.status).toBe(401);
      expect(await rolesOf(sure.browser)).toEqual(['write']);
    });

    it('ends the open link for a new password of a user that it takes over or creates', async () => {
      const { provider, features, store } = worldOf();
      const email = 'ned@example.com';
      const fields = { email, email_verified: true, groups: ['dev'] };
      const setup = (await features.setup.newLink()) ?? '';
      await browserOf().submit(`/setup/${setup}`, { email, password: PASSWORD });
      await addAdmin();
      const linkOf = async () => (await features.passwordLinks.create(email))?.token ?? '';
      const use = async (token: string): Promise<number> => {
        const given = { password: 'of whoever has the link' };
        return (await browserOf().submit(`/password/${token}`, given)).status;
      };
      const before = await linkOf();
      // Nothing is taken over by this sign-in, so it ends nothing.
      provider.people.set('ned', { ...fields, email_verified: false });
      expect((await signIn('ned')).reply.status).toBe(403);
      expect((await browserOf().ask(`/password/${before}`)).status).toBe(200);
      provider.people.set('ned', fields);
      expect((await signIn('ned')).reply.status).toBe(303);
      expect(await use(before)).toBe(404);

      const ofDeleted = await linkOf();
      await store.query('delete from users where email = $1', [email]);
      expect((await signIn('ned')).reply.status).toBe(303);
      expect(await use(ofDeleted)).toBe(404);
      // The operator can make another link for the new owner of the user.
      expect(await use(await linkOf())).toBe(303);
    });

    it('signs a user out after OIDC_SESSION_MAX_HOURS, also one who joins another account meanwhile', async () => {
      const { provider, features, clock, store } = worldOf();
      const email = 'ola@example.com';
      provider.people.set('ola', { email, groups: ['dev'] });
      const { browser, reply } = await signIn('ola');
      expect(String(reply.headers['set-cookie'])).toContain(`Max-Age=${SESSION_HOURS * 3_600};`);
      clock.spend(HOUR_MS);
      await store.query(`insert into accounts (id, name) values ('second', 'Second')`);
      const { token } = await features.invitations.create('second', { email, role: 'admin' });
      const joined = await browser.submit(`/invitations/${token}`, {});
      expect(joined.status).toBe(303);
      expect(String(joined.headers['set-cookie'])).toContain(
        `Max-Age=${(SESSION_HOURS - 1) * 3_600};`,
      );
      // Requests keep the session from ending because it is not used.
      clock.spend((SESSION_HOURS - 1) * HOUR_MS - 1);
      expect(await rolesOf(browser)).toEqual(['write', 'admin']);
      clock.spend(6_000);
      expect((await browser.ask('/v1/session')).status).toBe(401);
    });

    it('does not call an email verified because another document verifies another email', async () => {
      const { provider, features } = worldOf();
      const email = 'kim@example.com';
      const token = (await features.setup.newLink()) ?? '';
      await browserOf().submit(`/setup/${token}`, { email, password: PASSWORD });
      const userInfo = { email: 'mallory@example.com', email_verified: true, groups: ['ops'] };
      provider.people.set('mallory', { ...userInfo, idToken: { email } });
      expect((await signIn('mallory')).reply.status).toBe(403);
      provider.people.set('mallory', { ...userInfo, idToken: { email, email_verified: true } });
      expect((await signIn('mallory')).reply.status).toBe(303);
    });

    it('takes a user from the earlier holder of the email at the provider', async () => {
      const { provider } = worldOf();
      const email = 'lee@example.com';
      const emailOf = async ({ browser }: { browser: Browser }): Promise<unknown> =>
        (await browser.ask('/v1/session')).json.user.email;
      provider.people.set('lee', { email, groups: ['dev'] });
      expect(await emailOf(await signIn('lee'))).toBe(email);
      provider.people.set('lee-2', { email, email_verified: true, groups: ['dev'] });
      expect(await emailOf(await signIn('lee-2'))).toBe(email);
      provider.people.set('lee', { email: 'lee.old@example.com', groups: ['dev'] });
      expect(await emailOf(await signIn('lee'))).toBe('lee.old@example.com');
      expect(await emailOf(await signIn('lee-2'))).toBe(email);
    });

    it('accepts an answer once, and only in the browser that began', async () => {
      const { provider } = worldOf();
      provider.people.set('dee', { email: 'dee@example.com', groups: ['dev'] });
      const browser = browserOf();
      const callback = await signInAtProvider(browser, 'dee');
      const stolen = await browserOf().ask(callback);
      expect(stolen.status).toBe(400);
      expect(shownOn(stolen)).toContain('This sign-in was begun in another browser');
      const other = browserOf();
      await other.ask('/oidc/sign-in');
      expect((await other.ask(callback)).status).toBe(400);
      const pending = browser.cookie;
      expect((await browser.ask(callback)).status).toBe(303);
      const replayed = browserOf();
      replayed.cookie = pending;
      expect((await replayed.ask(callback)).status).toBe(400);
    });

    it('begins at one replica and ends at another, once, which asks the provider through a proxy', async () => {
      const { store, provider, app, clock } = worldOf();
      provider.people.set('pat', { email: 'pat@example.com', groups: ['dev'] });
      const config = configOf(provider.issuer);
      const proxy = await httpProxy();
      const replica = await startWith(store, await freePort(), config, {
        publicPort: app.port,
        clock,
        proxies: readProxies({ HTTP_PROXY: proxy.url() }),
      });
      try {
        const browser = browserOf();
        const callback = await signInAtProvider(browser, 'pat');
        const elsewhere = openBrowser(replica.app.port);
        elsewhere.cookie = browser.cookie;
        const { status, headers } = await elsewhere.ask(callback);
        expect([status, headers.location]).toEqual([303, '/']);
        // The browser still has the cookie of the sign-in.
        expect((await browser.ask(callback)).status).toBe(400);
        const targets = proxy.requests.map(({ method, target }) => `${method} ${target}`);
        expect(targets).toContain(`POST ${provider.issuer}/token`);
        expect(targets).toContain(`GET ${provider.issuer}/me`);
        // Every replica knows the session.
        browser.cookie = elsewhere.cookie;
        expect(await rolesOf(browser)).toEqual(['write']);
      } finally {
        await replica.close();
      }
    });

    it('never leads to another site', async () => {
      const { provider } = worldOf();
      provider.people.set('eve', { email: 'eve@example.com', groups: ['dev'] });
      for (const next of ['https://evil.example', '//evil.example', '/\\evil.example']) {
        expect((await signIn('eve', next)).reply.headers.location).toBe('/');
      }
    });

    it('says on a page that the provider refused', async () => {
      const browser = browserOf();
      const begun = await browser.ask('/oidc/sign-in');
      const state = new URL(String(begun.headers.location)).searchParams.get('state');
      const refused = await browser.ask(
        `/oidc/callback?error=access_denied&state=${state}&iss=${encodeURIComponent(worldOf().provider.issuer)}`,
      );
      expect(refused.status).toBe(400);
      expect(shownOn(refused)).toContain('The sign-in at the identity provider failed: try again');
    });

    it('says on a page that the provider does not answer, and passwords still work', async () => {
      const port = await freePort();
      const { app, features, close } = await startWith(
        worldOf().store,
        port,
        configOf(`http://127.0.0.1:${await freePort()}`),
      );
      try {
        const away = await openBrowser(app.port).ask('/oidc/sign-in');
        expect(away.status).toBe(503);
        expect(shownOn(away)).toContain('The identity provider does not answer: try again later');
        const token = (await features.setup.newLink()) ?? '';
        const fields = { email: 'fay@example.com', password: PASSWORD };
        const made = await openBrowser(app.port).submit(`/setup/${token}`, fields);
        expect(made.status).toBe(303);
      } finally {
        await close();
      }
    });
  });
});
