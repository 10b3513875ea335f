import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Role } from '../../../../../src/model/enums.ts';
import { apiRoutes } from '../../../../../src/service/api-routes.ts';
import { databases } from '../../../../support/database/databases.ts';
import { collectRoutes, type Route } from '../../../../support/hostile/route-table.ts';
import {
  type Ask,
  type Reply,
  type ServiceApp,
  startServiceApp,
} from '../../../../support/service/service-app.ts';
import {
  type Client,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';
import { type Browser, openBrowser } from '../../../../support/users/browser.ts';

const PASSWORD = 'correct horse battery';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const HOUR_MS = 3_600_000;

let made = 0;
/** Names of the same length, so that answers that contain one can be compared byte by byte. */
function newUrl(): string {
  made += 1;
  return `private-${String(made).padStart(4, '0')}`;
}

/** Without what differs between requests, and with the same name for each page. */
function comparable({ status, headers, text }: Reply, url: string): object {
  const { date, 'x-request-id': id, ...all } = headers;
  // Counts of the sender's requests.
  const others = Object.fromEntries(
    Object.entries(all).filter(([name]) => !name.startsWith('x-ratelimit-')),
  );
  return JSON.parse(JSON.stringify({ status, others, text }).replaceAll(url, 'URL'));
}

describe.each(databases)('private status pages, on %s', (kind) => {
  const running = useRunningService(kind);
  const service = useAccounts(running);
  /** The requests of the site, without the routes of the service. */
  let routes: readonly Route[] = [];

  /** Another replica, which counts look-ups of unknown pages from the beginning. */
  async function newReplica(): Promise<ServiceApp> {
    const { store, clock, features } = running();
    const { plugin, routes: all } = collectRoutes();
    const stopping = new AbortController().signal;
    const replica = await startServiceApp([plugin, ...apiRoutes(features, stopping)], {
      store,
      clock,
      authenticator: features.apiKeys,
      sessions: features.sessions.cache,
      serviceAddress: features.serviceAddress,
      config: { rateLimitPerMinute: 1_000_000, trustedProxies: [] },
    });
    onTestFinished(() => replica.close());
    routes = all.filter(({ url }) => url.startsWith('/status/'));
    return replica;
  }

  const ask = (path: string, given: Ask = {}): Promise<Reply> =>
    running().app.ask(path, { key: null, ...given });

  async function newPage(
    client: Client,
    fields: object = {},
  ): Promise<{ id: string; url: string }> {
    const created = await client.post('/v1/status-pages', {
      name: 'Hidden status',
      url: newUrl(),
      isPrivate: true,
      ...fields,
    });
    expect(created.status, created.text).toBe(201);
    return created.json;
  }

  const enter = (url: string, password: string, next = '', headers = {}): Promise<Reply> =>
    ask(`/status/${url}/access`, {
      method: 'POST',
      headers: { ...FORM, ...headers },
      body: new URLSearchParams({ password, next }).toString(),
    });

  /** The cookie of a reader who knows the password. */
  async function passOf(url: string, password = PASSWORD): Promise<string> {
    const entered = await enter(url, password);
    expect(entered.status, entered.text).toBe(303);
    return String(entered.headers['set-cookie']).split(';')[0] ?? '';
  }

  /** Counts wrong passwords for the page from many addresses, one of them just now. */
  async function fillLimitOf(url: string): Promise<void> {
    const ofAll = createHash('sha256')
      .update(JSON.stringify(['', `status page ${url}`]))
      .digest();
    const filled = await running().store.query(
      'update sign_in_failures set failures = 1000 where subject = $1::bytea returning 1',
      [ofAll],
    );
    expect(filled).toHaveLength(1);
  }

  const statusWith = async (url: string, cookie: string): Promise<number> =>
    (await ask(`/status/${url}`, { headers: { cookie } })).status;

  /** A user of the account, signed in. */
  async function newMember(account: Client, role: Role = 'read'): Promise<Browser> {
    made += 1;
    const email = `reader-${made}@example.com`;
    const { json } = await account.post('/v1/invitations', { email, role });
    const token = String(json.url).split('/').at(-1) ?? '';
    const browser = openBrowser(running().app.port);
    const body = { token, password: PASSWORD };
    await browser.ask('/v1/invitations/accept', { method: 'POST', body });
    return browser;
  }

  it('are shown to signed-in members of the account, and to no others', async () => {
    const { mine, theirs } = service();
    const { url } = await newPage(mine);
    const [member, stranger] = [await newMember(mine), await newMember(theirs, 'admin')];
    const shown = await member.ask(`/status/${url}`);
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('Hidden status');
    // Feed readers have no cookie: a link to the feed would lead to a 404.
    for (const name of ['feed.atom', 'feed.rss', 'summary.json']) {
      expect(shown.text).not.toContain(name);
    }
    expect((await stranger.ask(`/status/${url}`)).status).toBe(404);
    expect((await ask(`/status/${url}`)).status).toBe(404);
    await member.submit('/sign-out', {});
    expect((await member.ask(`/status/${url}`)).status).toBe(404);
  });

  it('are kept by no cache, also where a client asks whether they changed', async () => {
    const { mine } = service();
    const { url } = await newPage(mine);
    const member = await newMember(mine);
    for (const path of [`/status/${url}`, `/status/${url}/history`]) {
      const { headers } = await member.ask(path);
      expect(headers['cache-control']).toBe('private, no-store');
      const known = { headers: { 'if-none-match': String(headers.etag) } };
      expect((await member.ask(path, known)).status).toBe(304);
      expect((await ask(path, known)).status).toBe(404);
      expect((await ask(path, { headers: { 'if-none-match': '*' } })).status).toBe(404);
    }
    expect((await ask(`/status/${url}`)).headers['cache-control']).toBe('private, no-store');
  });

  it('open with their password, on the path of the page alone', async () => {
    const { mine } = service();
    const { id, url } = await newPage(mine, { password: PASSWORD });
    const entered = await enter(url, PASSWORD, '/history?a=1');
    expect([entered.status, entered.headers.location]).toEqual([303, `/status/${url}/history?a=1`]);
    const [cookie = '', ...attributes] = String(entered.headers['set-cookie']).split('; ');
    expect(attributes).toEqual([
      `Path=/status/${url}`,
      'Max-Age=31536000',
      'HttpOnly',
      'SameSite=Lax',
    ]);
    const shown = await ask(`/status/${url}`, { headers: { cookie } });
    expect([shown.status, shown.headers['set-cookie']]).toEqual([200, undefined]);
    const { url: other } = await newPage(mine, { password: PASSWORD });
    expect(await statusWith(other, cookie)).toBe(404);
    // A page with a new name in its address is still the same page.
    const renamed = newUrl();
    await mine.patch(`/v1/status-pages/${id}`, { url: renamed });
    expect(await statusWith(renamed, cookie)).toBe(200);
  });

  it.each([
    '//evil.test',
    '/\\evil.test',
    'https://evil.test',
    '/a\tb',
    '/access',
    `/${'a'.repeat(600)}`,
  ])('lead from the form to their own addresses only: %j', async (next) => {
    const { url } = await newPage(service().mine, { password: PASSWORD });
    expect((await enter(url, PASSWORD, next)).headers.location).toBe(`/status/${url}`);
  });

  it('open for a week, or until the password changes, by the same one, too', async () => {
    const { mine, clock } = service();
    const { id, url } = await newPage(mine, { password: PASSWORD });
    const first = await passOf(url);
    clock.spend(7 * 24 * HOUR_MS - 1_000);
    expect(await statusWith(url, first)).toBe(200);
    clock.spend(1_000);
    expect(await statusWith(url, first)).toBe(404);
    for (const password of [PASSWORD, 'another long password']) {
      const before = await passOf(url);
      await mine.patch(`/v1/status-pages/${id}`, { password });
      expect(await statusWith(url, before)).toBe(404);
      expect(await statusWith(url, await passOf(url, password))).toBe(200);
    }
    const last = await passOf(url, 'another long password');
    await mine.patch(`/v1/status-pages/${id}`, { name: 'Renamed' });
    expect(await statusWith(url, last)).toBe(200);
    await mine.patch(`/v1/status-pages/${id}`, { password: null });
    expect(await statusWith(url, last)).toBe(404);
    expect((await enter(url, 'another long password')).status).toBe(403);
  });

  it('do not open with a pass that was changed', async () => {
    const { mine } = service();
    const { url } = await newPage(mine, { password: PASSWORD });
    const { url: none } = await newPage(mine);
    const cookie = await passOf(url);
    const [name, end = '', mac = ''] = cookie.split(/[=.]/);
    for (const value of [
      '',
      '.',
      `${end}.`,
      `.${mac}`,
      `${Number(end) + 1}.${mac}`,
      `${end}.${mac}A`,
      mac,
    ]) {
      expect(await statusWith(url, `${name}=${value}`), value).toBe(404);
      expect(await statusWith(none, `${name}=${value}`), value).toBe(404);
    }
    expect(await statusWith(url, `a=b; ${name}=x; ${cookie}`)).toBe(200);
  });

  it('have a password of 8 to 256 characters, which no response and no entry shows', async () => {
    const { mine, store } = service();
    const refused = await mine.post('/v1/status-pages', {
      name: 'a',
      url: newUrl(),
      password: 'seven77',
    });
    expect(problemsIn(refused)[0]).toContain('body.password must have at least 8 characters');
    const { id } = await newPage(mine, { password: PASSWORD });
    const path = `/v1/status-pages/${id}`;
    const { json: read } = await mine.get(path);
    expect(read).toMatchObject({ hasPassword: true });
    expect(read).not.toHaveProperty('password');
    // A client may send back what it read.
    expect((await mine.put(path, read)).json).toEqual(read);
    expect((await mine.patch(path, { password: 'short' })).status).toBe(400);
    const changed = await mine.patch(path, { password: 'another long password' });
    expect(changed.json).toEqual(read);
    expect((await mine.patch(path, { password: null })).json.hasPassword).toBe(false);
    const all = JSON.stringify([
      (await mine.get('/v1/status-pages')).json,
      (await mine.get('/v1/audit-log')).json,
      await store.query('select * from status_pages'),
      await store.query('select * from audit_log'),
    ]);
    expect(all).not.toContain(PASSWORD);
    expect(all).not.toContain('another long password');
  });

  it('are throttled by address and name, whether or not there is a page', async () => {
    const { url } = await newPage(service().mine, { password: PASSWORD });
    const none = newUrl();
    for (const name of [url, none]) {
      for (let tried = 0; tried < 10; tried += 1) {
        expect((await enter(name, 'wrong password')).status).toBe(403);
      }
    }
    const [known, unknown] = [await enter(url, PASSWORD), await enter(none, PASSWORD)];
    expect(known.status).toBe(429);
    expect(known.text).toContain('Too many wrong passwords were entered. Try again in 15 minutes.');
    expect(comparable(known, url)).toEqual(comparable(unknown, none));
  });

  it('stay open to readers who knew the password when others have entered too many wrong ones', async () => {
    const { mine, clock } = service();
    const { id, url } = await newPage(mine, { password: PASSWORD });
    const cookie = await passOf(url);
    const other = await passOf((await newPage(mine, { password: PASSWORD })).url);
    clock.spend(8 * 24 * HOUR_MS);
    expect(await statusWith(url, cookie)).toBe(404);
    const wrongOnes = () => fillLimitOf(url);
    expect((await enter(url, 'wrong password')).status).toBe(403);
    await wrongOnes();
    expect((await enter(url, PASSWORD)).status).toBe(429);
    // The cookie of another page, and one that was changed.
    for (const value of [other, cookie.replace('=', '=1')]) {
      expect((await enter(url, PASSWORD, '', { cookie: value })).status).toBe(429);
    }
    for (let tried = 0; tried < 10; tried += 1) {
      expect((await enter(url, 'wrong password', '', { cookie })).status).toBe(403);
    }
    expect((await enter(url, PASSWORD, '', { cookie })).status).toBe(429);
    clock.spend(HOUR_MS);
    expect((await enter(url, 'wrong password')).status).toBe(403);
    await wrongOnes();
    const entered = await enter(url, PASSWORD, '', { cookie });
    expect(entered.status).toBe(303);
    expect(String(entered.headers['set-cookie'])).toContain(`Max-Age=${365 * 86_400};`);
    await mine.patch(`/v1/status-pages/${id}`, { password: 'another long password' });
    expect((await enter(url, 'another long password', '', { cookie })).status).toBe(429);
  });

  it('know the browser of a reader for a year', async () => {
    const { mine, clock } = service();
    const { url } = await newPage(mine, { password: PASSWORD });
    const cookie = await passOf(url);
    const whileOthersFail = async (): Promise<number> => {
      expect((await enter(url, 'wrong password')).status).toBe(403);
      await fillLimitOf(url);
      return (await enter(url, PASSWORD, '', { cookie })).status;
    };
    clock.spend(365 * 24 * HOUR_MS - 1_000);
    expect(await whileOthersFail()).toBe(303);
    clock.spend(HOUR_MS);
    expect(await whileOthersFail()).toBe(429);
  });

  it('do not take a form that the page of another site sent', async () => {
    const { url } = await newPage(service().mine, { password: PASSWORD });
    const forged = await enter(url, PASSWORD, '', { origin: 'https://evil.test' });
    expect([forged.status, forged.headers['set-cookie']]).toEqual([403, undefined]);
  });

  it('are public again when they are no longer private, whatever password they have', async () => {
    const { mine } = service();
    const { id, url } = await newPage(mine, { password: PASSWORD });
    expect((await ask(`/status/${url}`)).status).toBe(404);
    await mine.patch(`/v1/status-pages/${id}`, { isPrivate: false });
    expect((await ask(`/status/${url}`)).status).toBe(200);
    expect((await enter(url, 'wrong password')).status).toBe(303);
    await mine.patch(`/v1/status-pages/${id}`, { isPrivate: true });
    expect((await ask(`/status/${url}`)).status).toBe(404);
  });

  it('open at a domain of their own, with a cookie for that domain', async () => {
    const host = `${newUrl()}.example`;
    const { url } = await newPage(service().mine, { customDomain: host, password: PASSWORD });
    await running().features.statusSite.readDomains();
    const closed = await ask('/', { headers: { host } });
    expect(closed.status).toBe(404);
    expect(closed.text).toContain('action="/access"');
    // The name in the address of the service is not shown.
    expect(closed.text).not.toContain(url);
    const entered = await ask('/access', {
      method: 'POST',
      headers: { ...FORM, host, origin: `http://${host}` },
      body: new URLSearchParams({ password: PASSWORD, next: '' }).toString(),
    });
    expect([entered.status, entered.headers.location]).toEqual([303, '/']);
    const [cookie = '', path] = String(entered.headers['set-cookie']).split('; ');
    expect(path).toBe('Path=/');
    expect((await ask('/', { headers: { host, cookie } })).status).toBe(200);
  });

  it('offer the form and the way to sign in, which lead back', async () => {
    const { url } = await newPage(service().mine);
    const { text, headers } = await ask(`/status/${url}/history?a=1`);
    expect(text).toContain(`action="/status/${url}/access"`);
    expect(text).toContain('name="next" value="/history?a=1"');
    const next = encodeURIComponent(`/status/${url}/history?a=1`);
    expect(text).toContain(`href="/sign-in?next=${next}"`);
    expect(headers['referrer-policy']).toBe('same-origin');
    const hostile = await ask('/status/%22%3E%3Cb%3E/%3Cb%3E?%22%3E%3Cb%3E');
    expect(hostile.text).not.toContain('<b>');
  });

  it('answer on every route as where there is no page, in status, headers and body', async () => {
    const { mine } = service();
    const { url, id } = await newPage(mine, {
      password: PASSWORD,
      logo: 'https://example.com/logo.png',
      favicon: 'https://example.com/favicon.ico',
    });
    const member = await newMember(mine);
    expect((await member.ask(`/status/${url}`)).status).toBe(200);
    const none = newUrl();
    const strangers: readonly Readonly<Record<string, string>>[] = [
      {},
      { cookie: 'vedette_page=1.x' },
      { cookie: `vedette_session=${'a'.repeat(43)}` },
      { authorization: 'Bearer vk_00000000000000000000000000000000' },
      { 'if-none-match': '*' },
    ];
    const compared: string[] = [];
    for (const stranger of strangers) {
      const replica = await newReplica();
      for (const { method, url: pattern } of routes) {
        const at = (name: string): string =>
          pattern
            .replace(':url', name)
            .replace('*', 'anything')
            .replaceAll(/:[A-Za-z]+/g, id);
        const isForm = method === 'POST';
        const given: Ask = {
          key: null,
          method,
          headers: { ...stranger, ...(isForm ? FORM : {}) },
          ...(isForm ? { body: 'password=wrong&email=a%40b.test' } : {}),
        };
        const closed = await replica.ask(at(url), given);
        const missing = await replica.ask(at(none), given);
        const route = `${method} ${pattern}`;
        expect(comparable(closed, url), route).toEqual(comparable(missing, none));
        expect([403, 404], route).toContain(closed.status);
        expect(closed.text).not.toContain('Hidden status');
        compared.push(route);
      }
    }
    expect(compared).toEqual(
      expect.arrayContaining([
        'GET /status/:url',
        'HEAD /status/:url/history',
        'GET /status/:url/incidents/:incidentId',
        'POST /status/:url/access',
        'GET /status/:url/feed.atom',
        'GET /status/:url/summary.json',
        'GET /status/:url/subscribe',
        'POST /status/:url/subscriptions/:token/unsubscribe',
      ]),
    );
  });

  it('read the database as often as where there is no page', async () => {
    const { mine, store } = service();
    const { url } = await newPage(mine, { password: PASSWORD });
    const cookie = await passOf(url);
    expect(await statusWith(url, cookie)).toBe(200);
    const none = newUrl();
    const replica = await newReplica();
    let statements = 0;
    const { query, transaction } = store;
    store.query = (...given) => {
      statements += 1;
      return query.apply(store, given) as never;
    };
    store.transaction = (...given) => {
      statements += 1;
      return transaction.apply(store, given) as never;
    };
    try {
      const countOf = async (name: string, headers = {}): Promise<number> => {
        statements = 0;
        const reply = await replica.ask(`/status/${name}`, { key: null, headers });
        expect(reply.status).toBe(404);
        return statements;
      };
      for (const headers of [
        {},
        {},
        { cookie: 'vedette_page=1.x' },
        { cookie: 'vedette_page=1.x' },
      ]) {
        expect(await countOf(url, headers)).toBe(await countOf(none, headers));
      }
    } finally {
      Object.assign(store, { query, transaction });
    }
  });
});
