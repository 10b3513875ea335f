import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/runtime/clock.ts';
import { dashboardRoutes } from '../../../../src/service/dashboard/routes.ts';
import { KeyCache } from '../../../../src/service/http/access/key-cache.ts';
import { ServiceAddress } from '../../../../src/service/http/access/service-address.ts';
import { type ServiceApp, startServiceApp } from '../../../support/service/service-app.ts';
import { useAccounts, useRunningService } from '../../../support/service/service-fixture.ts';
import { openBrowser } from '../../../support/users/browser.ts';

const TOKEN = randomBytes(32).toString('base64url');

/** Any token counts as signed in. */
function everybodySignedIn() {
  const user = { sessionId: 's', userId: 'u', email: 'ann@example.com', memberships: [] };
  return {
    sessions: new KeyCache({
      holders: { authenticate: async () => user },
      clock: systemClock,
      ttlMs: 1_000,
      maxEntries: 10,
    }),
  };
}

async function fetched({ port }: ServiceApp, path: string, coding: string) {
  const asked = request({ port, path, headers: { 'accept-encoding': coding } });
  asked.end();
  const [response] = await once(asked, 'response');
  return { headers: response.headers, body: await buffer(response) };
}

describe('the dashboard of a service', () => {
  const running = useRunningService('pglite');
  const accounts = useAccounts(running, 'shared');

  it('says how to become the first user while there is none', async () => {
    const { status, text } = await running().app.ask('/', { key: null });
    expect(status).toBe(200);
    expect(text).toContain('This service has no user yet. Open the setup link');
  });

  describe('with a user', () => {
    let cookie = '';
    beforeAll(async () => {
      const { app } = running();
      const { json } = await accounts().mine.post('/v1/invitations', {
        email: 'ann@example.com',
        role: 'read',
      });
      const browser = openBrowser(app.port);
      await browser.submit(new URL(json.url).pathname, { password: 'a long enough sentence' });
      cookie = browser.cookie ?? '';
    });
    const page = () => running().app.ask('/', { key: null, headers: { cookie } });

    it('leads others to the sign-in, which leads back', async () => {
      const { status, headers } = await running().app.ask('/?state=failing', { key: null });
      expect([status, headers.location]).toEqual([303, '/sign-in?next=%2F%3Fstate%3Dfailing']);
      expect(headers['cache-control']).toBe('no-store');
    });

    it('is a page without inline scripts and styles, under a policy that allows none', async () => {
      const { status, headers, text } = await page();
      expect(status).toBe(200);
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';.* frame-ancestors 'none'; base-uri 'none'/,
      );
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('same-origin');
      expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
    });

    it('is revalidated each time, and sent only after a change', async () => {
      const { headers } = await page();
      expect(headers['cache-control']).toBe('no-cache');
      const again = await running().app.ask('/', {
        key: null,
        headers: { cookie, 'if-none-match': headers.etag ?? '' },
      });
      expect(again.status).toBe(304);
    });

    it('loads files that browsers may cache, compressed at build time', async () => {
      const { text } = await page();
      const paths = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
      expect(paths.length).toBeGreaterThanOrEqual(3);
      for (const path of paths) {
        const plain = await fetched(running().app, path ?? '', 'identity');
        const br = await fetched(running().app, path ?? '', 'gzip, br');
        const gzip = await fetched(running().app, path ?? '', 'gzip');
        for (const { headers } of [plain, br, gzip]) {
          expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
          expect(headers.vary).toBe('accept-encoding');
          expect(headers['content-type']).toMatch(/^text\/(javascript|css); charset=utf-8$/);
        }
        expect([br.headers['content-encoding'], gzip.headers['content-encoding']]).toEqual([
          'br',
          'gzip',
        ]);
        expect(brotliDecompressSync(br.body).equals(plain.body)).toBe(true);
        expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
      }
    });

    it.each(['/assets/none.js', '/assets/..%2findex.html', '/assets/', '/no-such-page'])(
      'has nothing at %s',
      async (path) => {
        const { status } = await running().app.ask(path, { key: null, headers: { cookie } });
        expect(status).toBe(404);
      },
    );
  });
});

describe('a service at a path of its host', () => {
  const html =
    '<meta name="base-path" content="" /><link href="./docs/icon.svg"><script src="./assets/a.js"></script>';
  let app: ServiceApp;
  beforeAll(async () => {
    const serviceAddress = new ServiceAddress('https://example.com/monitor/');
    const read = async () => ({ html, assets: new Map(), tag: 'a' });
    const routes = dashboardRoutes({
      serviceAddress,
      setup: { isWithoutUsers: async () => false },
      read,
    });
    app = await startServiceApp([routes], { serviceAddress, ...everybodySignedIn() });
  });
  afterAll(() => app.close());

  it('has that path in front of all addresses of the page', async () => {
    const headers = { cookie: `__Host-vedette_session=${TOKEN}` };
    const { text } = await app.ask('/', { key: null, headers });
    expect(text).toBe(
      '<meta name="base-path" content="/monitor" /><link href="/monitor/docs/icon.svg"><script src="/monitor/assets/a.js"></script>',
    );
  });
});

it('names the command that builds the dashboard where it is not built', async () => {
  const serviceAddress = new ServiceAddress(null);
  const setup = { isWithoutUsers: async () => false };
  const routes = dashboardRoutes({ serviceAddress, setup, read: async () => null });
  const app = await startServiceApp([routes], { serviceAddress, ...everybodySignedIn() });
  const headers = { cookie: `vedette_session=${TOKEN}` };
  const { status, text } = await app.ask('/', { key: null, headers });
  await app.close();
  expect([status, text]).toEqual([
    503,
    'The dashboard is not built: run `npm run build`, then reload this page.\n',
  ]);
});
