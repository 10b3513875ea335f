import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiRoutes } from '../../../../../src/service/api-routes.ts';
import { databases } from '../../../../support/database/databases.ts';
import {
  type Reply,
  type ServiceApp,
  startServiceApp,
} from '../../../../support/service/service-app.ts';
import {
  type Client,
  HOSTILE,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';

/** The service without users answers with this at its own hosts, and no status page has it. */
const SERVICE_ITSELF = 'Set up Vedette';

let made = 0;
/** Urls are unique over the service, which all tests share. */
function newUrl(): string {
  made += 1;
  return `site-${made}`;
}

async function newPage(client: Client, fields: object = {}): Promise<{ id: string; url: string }> {
  const created = await client.post('/v1/status-pages', {
    name: 'Acme status',
    url: newUrl(),
    ...fields,
  });
  expect(created.status, created.text).toBe(201);
  return created.json;
}

async function newService(client: Client, name: string): Promise<string> {
  return (await client.post('/v1/status-pages/services', { name })).json.id;
}

describe.each(databases)('status pages that people open, on %s', (kind) => {
  const running = useRunningService(kind);
  const service = useAccounts(running);
  const open = (
    path: string,
    headers: Readonly<Record<string, string>> = {},
    method = 'GET',
  ): Promise<Reply> => running().app.ask(path, { key: null, headers, method });

  it('shows the services of the cards, without a key', async () => {
    const { mine } = service();
    const [shop, search] = [await newService(mine, 'Shop'), await newService(mine, 'Search')];
    const { url } = await newPage(mine, {
      description: 'All about Acme',
      cards: [{ name: 'Websites', services: [shop, search] }],
    });
    const { status, headers, text } = await open(`/status/${url}`);
    expect(status, text).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    for (const shown of ['Acme status', 'All about Acme', 'Websites', 'Shop', 'Search']) {
      expect(text).toContain(shown);
    }
  });

  it('escapes every text of users', async () => {
    const { mine } = service();
    const hostile = await newService(mine, HOSTILE);
    const { url } = await newPage(mine, {
      name: HOSTILE,
      description: HOSTILE,
      cards: [{ name: HOSTILE, services: [hostile] }],
    });
    const { text } = await open(`/status/${url}`);
    expect(text).toContain('&lt;b>');
    expect(text).not.toContain('<b>');
  });

  it('shows a change at once', async () => {
    const { mine } = service();
    const { id, url } = await newPage(mine);
    expect((await open(`/status/${url}`)).text).toContain('Acme status');
    await mine.put(`/v1/status-pages/${id}`, { name: 'Renamed' });
    const { text } = await open(`/status/${url}`);
    expect(text).toContain('Renamed');
    expect(text).not.toContain('Acme status');
    await mine.delete(`/v1/status-pages/${id}`);
    expect((await open(`/status/${url}`)).status).toBe(404);
  });

  it('shows nothing of the page that had the name before', async () => {
    const { mine, theirs } = service();
    const earlier = await newService(mine, 'Earlier service');
    const { id, url } = await newPage(mine, { cards: [{ name: 'All', services: [earlier] }] });
    expect((await open(`/status/${url}`)).text).toContain('Earlier service');
    await mine.put(`/v1/status-pages/${id}`, { url: newUrl() });
    const later = await newService(theirs, 'Later service');
    await newPage(theirs, { url, cards: [{ name: 'All', services: [later] }] });
    for (const path of [`/status/${url}`, `/status/${url}/summary.json`]) {
      const { status, text } = await open(path);
      expect(status).toBe(200);
      expect(text).toContain('Later service');
      expect(text).not.toContain('Earlier service');
    }
  });

  it('may be kept by caches, has a validator, and sets no cookie', async () => {
    const { mine } = service();
    const { url } = await newPage(mine);
    const { headers } = await open(`/status/${url}`);
    expect(headers['cache-control']).toBe('public, max-age=15, stale-while-revalidate=60');
    expect(headers['set-cookie']).toBeUndefined();
    expect(headers.vary).toBe('accept-encoding');
    expect(headers['x-content-type-options']).toBe('nosniff');
    const again = await open(`/status/${url}`, { 'if-none-match': String(headers.etag) });
    expect(again.status).toBe(304);
    expect(again.text).toBe('');
  });

  it('has the same content in every coding', async () => {
    const { mine } = service();
    const { url } = await newPage(mine);
    const { port } = running().app;
    const plain = (await open(`/status/${url}`)).text;
    for (const [coding, decoded] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const { headers, bytes } = await bytesOf(port, `/status/${url}`, coding);
      expect(headers.get('content-encoding')).toBe(coding);
      expect(decoded(bytes).toString()).toBe(plain);
    }
  });

  it('keeps the documents of each address apart, since links contain it', async () => {
    const { mine } = service();
    const { url } = await newPage(mine);
    const forged = await open(`/status/${url}`, { host: 'forged.example' });
    expect(forged.text).toContain(`http://forged.example/status/${url}`);
    expect((await open(`/status/${url}`)).text).not.toContain('forged.example');
  });

  it('shows the name of the product unless the page hides it', async () => {
    const { mine } = service();
    const plain = await newPage(mine);
    const white = await newPage(mine, { whiteLabel: true });
    expect((await open(`/status/${plain.url}`)).text).toContain('Status page by Vedette');
    expect((await open(`/status/${white.url}`)).text).not.toContain('Vedette');
  });

  it('links the logo to redirectTo, and has pictures from its own address only', async () => {
    const { mine } = service();
    const { url } = await newPage(mine, {
      logo: 'https://example.com/logo.png',
      favicon: 'https://example.com/favicon.ico',
      redirectTo: 'https://example.com/home?a=1&b=2',
    });
    const { text } = await open(`/status/${url}`);
    expect(text).toContain('href="https://example.com/home?a=1&amp;b=2"');
    expect(text).toMatch(
      new RegExp(`<img src="/status/${url}/logo\\?v=[\\w-]{22}" [^>]*alt="Acme status"`),
    );
    expect(text).toContain(`<link rel="icon" href="/status/${url}/favicon?v=`);
    expect(text).not.toContain('example.com/logo.png');
    expect(text).not.toContain('example.com/favicon.ico');
  });

  it('has its colours in both themes, and allows that style alone', async () => {
    const { mine } = service();
    const { url } = await newPage(mine, {
      themeColors: {
        light: { bodyBackgroundColor: '#abcdef' },
        dark: { linkFontColor: '#fedcba' },
      },
    });
    const { text, headers } = await open(`/status/${url}`);
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
    expect(style).toMatch(/^:root\{--bg:#abcdef;/);
    expect(style).toMatch(/prefers-color-scheme:dark\)\{:root\{[^}]*--link:#fedcba;/);
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
    );
    expect(text).not.toContain('<script');
  });

  it.each([
    ['LIGHT', false, false],
    ['DARK', true, false],
    ['AUTO', true, true],
  ])('shows the theme %s first', async (defaultTheme, hasDark, followsSystem) => {
    const { mine } = service();
    const { url } = await newPage(mine, { defaultTheme });
    const { text } = await open(`/status/${url}`);
    expect(text.includes('color-scheme:dark')).toBe(hasDark);
    expect(text.includes('prefers-color-scheme:dark')).toBe(followsSystem);
  });

  describe('at a domain of their own', () => {
    async function newOwnPage(): Promise<{ url: string; host: string }> {
      const { mine } = service();
      const host = `status.${newUrl()}.example`;
      const { url } = await newPage(mine, { customDomain: host });
      await running().features.statusSite.readDomains();
      return { url, host };
    }

    it('are served at the root, with links that stay there', async () => {
      const { url, host } = await newOwnPage();
      const { status, text } = await open('/', { host: `${host.toUpperCase()}:8080` });
      expect(status).toBe(200);
      expect(text).toContain('Acme status');
      expect(text).not.toContain(`/status/${url}`);
      // Without the port, which the sender chose: caches would keep it for others.
      expect(text).toContain(`<link rel="canonical" href="http://${host}/"`);
      expect((await open('/?from=mail', { host })).status).toBe(200);
    });

    it('stay at the address of the service, too', async () => {
      const { url } = await newOwnPage();
      expect((await open(`/status/${url}`)).text).toContain(`/status/${url}`);
    });

    it('show nothing of the API, of the service or of other pages there', async () => {
      const { url, host } = await newOwnPage();
      const { url: other } = await newPage(service().mine);
      for (const path of [
        '/v1/checks',
        '/docs',
        '/openapi.json',
        '/healthz',
        '/sign-in',
        '//',
        `/status/${url}`,
        `/status/${other}`,
        `/../${other}`,
        `/%2e%2e/${other}`,
      ]) {
        const { status, text } = await open(path, { host });
        expect(status, path).toBe(404);
        expect(text, path).toContain('There is no page at this address');
      }
      const posted = await open('/v1/checks', { host }, 'POST');
      expect(posted.status).toBe(405);
    });

    it('end with the domain', async () => {
      const { mine } = service();
      const host = `status.${newUrl()}.example`;
      const { id } = await newPage(mine, { customDomain: host });
      await running().features.statusSite.readDomains();
      expect((await open('/', { host })).text).toContain('Acme status');
      await mine.put(`/v1/status-pages/${id}`, { customDomain: null });
      await running().features.statusSite.readDomains();
      expect((await open('/', { host })).text).toContain(SERVICE_ITSELF);
    });

    it('ignore X-Forwarded-Host of a client that is no trusted proxy', async () => {
      const { host } = await newOwnPage();
      expect((await open('/', { 'x-forwarded-host': host })).text).toContain(SERVICE_ITSELF);
    });

    it('follow the last X-Forwarded-Host of a proxy in TRUSTED_PROXIES', async () => {
      const { host } = await newOwnPage();
      const { port } = await behindProxies(['127.0.0.0/8', '::1']);
      const ask = (forwarded: string) =>
        fetch(`http://127.0.0.1:${port}/`, {
          headers: { 'x-forwarded-host': forwarded, 'x-forwarded-proto': 'https' },
          redirect: 'manual',
        });
      for (const forwarded of [host, `${host.toUpperCase()}:443`, `forged.example, ${host}`]) {
        const found = await ask(forwarded);
        const html = await found.text();
        expect(found.status, forwarded).toBe(200);
        expect(html).toContain('Acme status');
        // Links and the address of the page name the host that readers opened.
        expect(html).toContain(`<link rel="canonical" href="https://${host}/"`);
      }
      expect(await (await ask(`${host}, forged.example`)).text()).toContain(SERVICE_ITSELF);
    });

    it('are found with the dot of the root after the host', async () => {
      const { host } = await newOwnPage();
      expect((await open('/', { host: `${host}.` })).text).toContain('Acme status');
    });
  });

  /** A replica with these TRUSTED_PROXIES. */
  async function behindProxies(trustedProxies: readonly string[]): Promise<ServiceApp> {
    const { store, clock, features } = running();
    const replica = await startServiceApp(apiRoutes(features, new AbortController().signal), {
      store,
      clock,
      authenticator: features.apiKeys,
      sessions: features.sessions.cache,
      serviceAddress: features.serviceAddress,
      pathOf: features.statusSite.domains.pathOf,
      config: { rateLimitPerMinute: 1_000_000, trustedProxies },
    });
    onTestFinished(() => replica.close());
    return replica;
  }

  it('refuses a client that looks up too many unknown names, but shows it public pages', async () => {
    const { mine } = service();
    const { url } = await newPage(mine);
    const replica = await behindProxies([]);
    const ask = async (path: string) => (await replica.ask(path, { key: null })).status;
    expect(await ask(`/status/${url}`)).toBe(200);
    for (let miss = 0; miss < 150; miss += 1) {
      expect(await ask(`/status/none-${miss}`)).toBe(404);
      const id = `00000000-0000-4000-8000-${String(miss).padStart(12, '0')}`;
      expect(await ask(`/status/${url}/incidents/${id}`)).toBe(404);
    }
    const refused = await replica.ask('/status/none', { key: null });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect(await ask(`/status/${url}/incidents/${crypto.randomUUID()}`)).toBe(429);
    expect(await ask(`/status/${url}`)).toBe(200);
    running().clock.spend(60_000);
    expect(await ask('/status/none')).toBe(404);
  });

  it('refuses a client with too many invented hosts, but shows it the page at earlier ones', async () => {
    const { mine } = service();
    const { url } = await newPage(mine);
    const replica = await behindProxies([]);
    const { pages } = running().features.statusSite;
    // Each request renders a document from memory, without a query.
    pages.isFollowed = true;
    onTestFinished(() => {
      pages.isFollowed = false;
    });
    const ask = async (host: string) =>
      (await replica.ask(`/status/${url}/summary.json`, { key: null, headers: { host } })).status;
    // Four are free, as the service may have several.
    for (let one = 0; one < 304; one += 1) expect(await ask(`made-up-${one}.example`)).toBe(200);
    expect(await ask('made-up.example')).toBe(429);
    expect(await ask('made-up-303.example')).toBe(200);
    running().clock.spend(60_000);
    expect(await ask('made-up.example')).toBe(200);
  });

  it('is the same page with a slash at the end, and 404 below it', async () => {
    const { mine } = service();
    const { url } = await newPage(mine);
    expect((await open(`/status/${url}/`)).status).toBe(200);
    const below = await open(`/status/${url}/none`);
    expect(below.status).toBe(404);
    expect(below.headers['content-type']).toBe('text/html; charset=utf-8');
  });
});

describe.each(databases)('status pages while the database is away, on %s', (kind) => {
  const running = useRunningService(kind);

  it('answer browsers with an HTML page, and programs with JSON', async () => {
    const { app, store } = running();
    await store.close();
    const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/status/acme', '/status/acme/history', '/status/acme/subscribe']) {
      const page = await app.ask(path, { key: null, headers: html });
      expect(page.status, page.text).toBe(503);
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      expect(page.headers['retry-after']).toBe('5');
      expect(page.headers['cache-control']).toBe('no-store');
      expect(page.text).toContain('This page cannot be shown now');
      expect(page.text).toContain('Try again in 5 seconds.');
      // The page may be private: nothing depends on it.
      expect(page.text).not.toContain('acme');
    }
    const json = await app.ask('/status/acme/summary.json', { key: null });
    expect(json.status).toBe(503);
    expect(json.json.statusCode).toBe(503);
  });
});

/** As they are sent: node:http does not decode them. */
async function bytesOf(
  port: number,
  path: string,
  coding: string,
): Promise<{ headers: Headers; bytes: Buffer }> {
  const headers = { 'accept-encoding': coding };
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const [response] = await once(sent, 'response');
  return { headers: new Headers(response.headers), bytes: await buffer(response) };
}
