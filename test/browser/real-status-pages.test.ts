import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../support/database/postgres.ts';
import {
  type RunningService,
  type ServiceOptions,
  startService,
  until,
} from '../support/service/deployment.ts';
import {
  axeViolations,
  LACKING,
  launchBrowser,
  type OpenPage,
  openPage,
  useBrowser,
} from './support/browser.ts';
import { useServiceProcess } from './support/shared-service.ts';

const PASSWORD = 'open sesame';
const DOMAIN = 'status.acme.example';
const PHONE = { theme: 'light', width: 360 } as const;
/** Chromium logs the status of a document that is an error. */
const LOGGED_STATUS =
  /^Failed to load resource: the server responded with a status of (404|403|429|503)/;
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

interface Acme {
  readonly service: RunningService;
  readonly url: string;
  readonly pageId: string;
  readonly incidentUrl: string;
  post(path: string, body: object): Promise<string>;
}

/** Starts a service with the page. */
async function startAcme(fields: object, options: ServiceOptions = {}): Promise<Acme> {
  return await makeAcme(await startService(options), fields);
}

/** A page of two services, and an incident that was resolved. */
async function makeAcme(service: RunningService, fields: object): Promise<Acme> {
  const post = async (path: string, body: object): Promise<string> => {
    const { status, text, json } = await service.ask(path, { method: 'POST', body });
    expect(status, text).toBe(201);
    return json.id;
  };
  const shop = await post('/v1/status-pages/services', { name: 'Shop' });
  const search = await post('/v1/status-pages/services', { name: 'Search' });
  const cards = [{ name: 'Websites', services: [shop, search] }];
  const page = { name: 'Acme', url: 'acme', cards, ...fields };
  const pageId = await post('/v1/status-pages', page);
  const incidentId = await post('/v1/status-pages/incidents', {
    name: 'Orders fail',
    severity: 'MAJOR',
    services: [shop],
    incidentUpdates: [{ status: 'INVESTIGATING', description: 'We look into it.' }],
    postMortem: '# What happened\n\nThe disk was **full**.',
  });
  await post(`/v1/status-pages/incidents/${incidentId}/incident-updates`, {
    status: 'RESOLVED',
    description: 'All is well again.',
  });
  const url = `${service.url}/status/acme`;
  return { service, url, pageId, incidentUrl: `${url}/incidents/${incidentId}`, post };
}

const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, exact: true });

/** Expects no fault of the open page except the status that its document may have. */
async function expectSound({ page, problems, requests }: OpenPage, origin: string): Promise<void> {
  expect(problems.filter((problem) => !LOGGED_STATUS.test(problem))).toEqual([]);
  const asked = requests.filter((url) => !url.startsWith('data:'));
  expect([...new Set(asked.map((url) => new URL(url).origin))]).toEqual([origin]);
  expect(await page.evaluate(OVERFLOW), `${page.url()} scrolls sideways`).toBe(0);
  expect(await axeViolations(page)).toEqual([]);
}

/** A server of one PNG file; closed when the test ends. */
async function pictureServer(): Promise<string> {
  const background = '#e4572e';
  const file = await sharp({ create: { width: 300, height: 80, channels: 3, background } })
    .png()
    .toBuffer();
  const server = createServer((_, response) => response.end(file));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.skipIf(LACKING !== null)('a private page of a real service', () => {
  const browser = useBrowser();

  it('opens with its password, typed by keyboard, where the reader wanted to go', async () => {
    const { service, url } = await startAcme({ isPrivate: true, password: PASSWORD });
    const open = await openPage(browser(), PHONE);
    const { page, context } = open;
    try {
      const closed = await page.goto(`${url}/history`);
      expect(closed?.status()).toBe(404);
      await heading(page, 'There is no page at this address').waitFor();
      expect(await page.content()).not.toContain('Acme');
      await expectSound(open, service.url);

      const type = async (password: string): Promise<void> => {
        // From the start of the document: the field is what the first Tab reaches.
        await page.keyboard.press('Tab');
        expect(await page.evaluate('document.activeElement.name')).toBe('password');
        await page.keyboard.type(password);
        await page.keyboard.press('Enter');
      };
      await type('a wrong guess');
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.textContent()).toBe('No page at this address opens with this password.');
      expect(await context.cookies()).toEqual([]);
      await expectSound(open, service.url);

      await type(PASSWORD);
      await heading(page, 'History').waitFor();
      expect(page.url()).toBe(`${url}/history`);
      const [cookie, ...others] = await context.cookies();
      expect(others).toEqual([]);
      expect(cookie).toMatchObject({
        name: 'vedette_page',
        path: '/status/acme',
        httpOnly: true,
        sameSite: 'Lax',
      });
      await expectSound(open, service.url);
      await page.getByRole('link', { name: 'Current status' }).click();
      await heading(page, 'All services are operational').waitFor();
      expect(await page.locator('a[href$=".atom"], link[type*="atom"]').count()).toBe(0);
      await expectSound(open, service.url);
    } finally {
      await context.close();
    }
    const stranger = await openPage(browser(), PHONE);
    expect((await stranger.page.goto(url))?.status()).toBe(404);
    await stranger.context.close();
  });

  it('says how long to wait after too many wrong passwords', async () => {
    const { service, url } = await startAcme({ isPrivate: true, password: PASSWORD });
    const guess = (): ReturnType<typeof service.ask> =>
      service.ask('/status/acme/access', {
        key: null,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: 'password=a+wrong+guess',
      });
    // The limit of the user's address and the page (src/service/README.md, "Private pages").
    for (let guesses = 0; guesses < 10; guesses += 1) expect((await guess()).status).toBe(403);
    const open = await openPage(browser(), PHONE);
    const { page, context } = open;
    try {
      await page.goto(url);
      await page.getByLabel('Password of the page').fill(PASSWORD);
      await page.getByRole('button', { name: 'Open the page' }).click();
      const alert = page.getByRole('alert');
      await alert.waitFor();
      expect(await alert.textContent()).toMatch(
        /^Too many wrong passwords were entered\. Try again in 1[45] minutes\.$/,
      );
      expect(await context.cookies()).toEqual([]);
      await expectSound(open, service.url);
    } finally {
      await context.close();
    }
  });
});

describe.skipIf(LACKING !== null)('a page of a real service', () => {
  const browser = useBrowser();
  const service = useServiceProcess();
  /** For tests that change nothing. */
  let shared: Promise<Acme> | null = null;
  const sharedAcme = (): Promise<Acme> => {
    shared ??= makeAcme(service(), {});
    return shared;
  };

  it('leads to its history, its months and an incident', async () => {
    const { service, url, incidentUrl } = await sharedAcme();
    const open = await openPage(browser(), { theme: 'dark', width: 360 });
    const { page, context } = open;
    try {
      await page.goto(url);
      await expectSound(open, service.url);
      await page.getByRole('link', { name: 'History' }).click();
      await heading(page, 'History').waitFor();
      await expectSound(open, service.url);
      await page.getByRole('link', { name: /^Earlier: / }).click();
      await page.waitForURL(/\/history\/\d{4}-\d{2}$/);
      await expectSound(open, service.url);
      await page.goBack();
      await page.getByRole('link', { name: 'Orders fail' }).click();
      await heading(page, 'Orders fail').waitFor();
      expect(page.url()).toBe(incidentUrl);
      const text = await page.locator('main').textContent();
      for (const part of [
        'All is well again.',
        'We look into it.',
        'Affects Shop',
        'Post-mortem',
      ]) {
        expect(text).toContain(part);
      }
      expect(await page.locator('strong', { hasText: 'full' }).count()).toBe(1);
      await expectSound(open, service.url);
      await page.goto(`${url}/incidents/nothing`);
      await heading(page, 'There is no page at this address').waitFor();
      await expectSound(open, service.url);
      expect(await context.cookies()).toEqual([]);
    } finally {
      await context.close();
    }
  });

  it('is read and used without scripts', async () => {
    const { service, url, incidentUrl } = await sharedAcme();
    const view = { ...PHONE, runsScripts: false };
    const { page, context, problems } = await openPage(browser(), view);
    try {
      for (const [address, name] of [
        [url, 'All services are operational'],
        [`${url}/history`, 'History'],
        [incidentUrl, 'Orders fail'],
        [`${url}/subscribe`, 'Subscribe'],
        [`${service.url}/status/nothing`, 'There is no page at this address'],
      ] as const) {
        await page.goto(address);
        expect(await heading(page, name).isVisible(), address).toBe(true);
        expect(await page.locator('script').count(), address).toBe(0);
      }
      expect(problems.filter((problem) => !LOGGED_STATUS.test(problem))).toEqual([]);
    } finally {
      await context.close();
    }
  });

  it('is used by keyboard: past its header, to its links, with a focus that is seen', async () => {
    const { url } = await sharedAcme();
    const { page, context } = await openPage(browser(), PHONE);
    const focused = () =>
      page.evaluate<{ text: string; outline: string; isVisible: boolean }>(
        `(({ textContent: text }, { outlineStyle: outline }, { top, bottom }) =>
          ({ text, outline, isVisible: top >= 0 && bottom <= innerHeight }))(
            document.activeElement,
            getComputedStyle(document.activeElement),
            document.activeElement.getBoundingClientRect(),
          )`,
      );
    try {
      await page.goto(url);
      await page.keyboard.press('Tab');
      expect(await focused()).toMatchObject({ text: 'Skip to the content', isVisible: true });
      await page.keyboard.press('Enter');
      await page.waitForURL(`${url}#main`);
      // The next stop is within the content, not in the header.
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
      await page.goto(url);
      const stops: string[] = [];
      for (let stop = 0; stop < 4; stop += 1) {
        await page.keyboard.press('Tab');
        const { text, outline, isVisible } = await focused();
        expect(isVisible, text).toBe(true);
        expect(outline, text).not.toBe('none');
        stops.push(text);
      }
      expect(stops).toEqual(['Skip to the content', 'Acme', 'History', 'Subscribe']);
      await page.keyboard.press('Enter');
      await heading(page, 'Subscribe').waitFor();
    } finally {
      await context.close();
    }
  });

  it('is printed with its history and incidents on white paper, without what nobody can click', async () => {
    const { url, incidentUrl } = await sharedAcme();
    const { page, context } = await openPage(browser(), { theme: 'dark', width: 1_440 });
    try {
      for (const address of [url, `${url}/history`, incidentUrl]) {
        await page.goto(address);
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        const ink = await page.evaluate('getComputedStyle(document.body).color');
        expect(ink, address).toBe('rgb(0, 0, 0)');
        expect(await page.getByRole('link', { name: 'Subscribe' }).isVisible(), address).toBe(
          false,
        );
        const pdf = await page.pdf({ format: 'A4' });
        expect(pdf.toString('latin1').match(/\/Type \/Page\b/g), address).toHaveLength(1);
        await page.emulateMedia({ media: 'screen' });
      }
    } finally {
      await context.close();
    }
  });

  it('shows its logo and its icon from its own address, under its own policy', async () => {
    const pictures = await pictureServer();
    const fields = { logo: `${pictures}/logo.png`, favicon: `${pictures}/icon.png` };
    const { service, url } = await startAcme(fields, { env: { DELIVERY_DENY: '10.0.0.0/8' } });
    const open = await openPage(browser(), PHONE);
    const { page, context } = open;
    const iconHref = () => page.locator('link[rel=icon]').getAttribute('href');
    try {
      // The service fetches one picture after the other, when the page is there already.
      await until(
        async () => {
          await page.goto(url);
          return (await iconHref()) ?? '';
        },
        (href) => href.startsWith('/status/acme/favicon?v='),
      );
      const response = await page.goto(url);
      expect(response?.headers()['content-security-policy']).toContain("img-src 'self' data:;");
      const shown = await page.evaluate(
        "(({ complete, naturalWidth, alt }) => [complete, naturalWidth, alt])(document.querySelector('.brand img'))",
      );
      expect(shown).toEqual([true, 300, 'Acme']);
      const answer = await context.request.get(`${service.url}${(await iconHref()) ?? ''}`);
      expect([answer.status(), answer.headers()['content-type']]).toEqual([200, 'image/png']);
      expect(await sharp(await answer.body()).metadata()).toMatchObject({ width: 192 });
      await expectSound(open, service.url);
    } finally {
      await context.close();
    }
  });

  it('says its age while the database is away, and what to do if nothing is cached', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.remove());
    const databaseUrl = await postgres.createDatabase();
    const { service, url, pageId } = await startAcme({}, { databaseUrl });
    const open = await openPage(browser(), PHONE);
    const { page, context } = open;
    try {
      await page.goto(url);
      await heading(page, 'All services are operational').waitFor();
      // A change is read at once, and everything else within half a minute.
      const path = `/v1/status-pages/${pageId}`;
      await service.ask(path, { method: 'PATCH', body: { description: 'New words.' } });
      await postgres.stop('immediate');
      await until(
        async () => {
          await page.goto(url);
          return (await page.locator('.now').textContent()) ?? '';
        },
        (text) => text.includes('Newer data is not available at the moment.'),
      );
      expect(await page.locator('.now').textContent()).toMatch(
        /This is the state as of \d+ \w+ \d{4}, \d\d:\d\d UTC\./,
      );
      await expectSound(open, service.url);
      const away = await page.goto(`${service.url}/status/another`);
      expect(away?.status()).toBe(503);
      await heading(page, 'This page cannot be shown now').waitFor();
      await expectSound(open, service.url);
    } finally {
      await context.close();
    }
  });
});

describe.skipIf(LACKING !== null)('a page at a domain of its own', () => {
  it('has all its pages there, opens with its password, and shows nothing else of the service', async () => {
    const { service } = await startAcme({
      customDomain: DOMAIN,
      isPrivate: true,
      password: PASSWORD,
    });
    const browser = await launchBrowser({ [DOMAIN]: `127.0.0.1:${service.port}` });
    onTestFinished(() => browser.close());
    const origin = `http://${DOMAIN}`;
    const open = await openPage(browser, PHONE);
    const { page, context } = open;
    try {
      await until(
        async () => {
          await page.goto(origin);
          return page.getByLabel('Password of the page').count();
        },
        (fields) => fields === 1,
      );
      // The session of the service is not known there.
      expect(await page.getByRole('link', { name: 'sign in' }).count()).toBe(0);
      await page.getByLabel('Password of the page').fill(PASSWORD);
      await page.keyboard.press('Enter');
      await heading(page, 'All services are operational').waitFor();
      expect(page.url()).toBe(`${origin}/`);
      expect(await context.cookies()).toMatchObject([{ domain: DOMAIN, path: '/' }]);
      expect(await page.locator('link[rel=canonical]').getAttribute('href')).toBe(`${origin}/`);
      await expectSound(open, origin);
      await page.getByRole('link', { name: 'History' }).click();
      expect(page.url()).toBe(`${origin}/history`);
      await page.getByRole('link', { name: 'Orders fail' }).click();
      await heading(page, 'Orders fail').waitFor();
      await page.getByRole('link', { name: 'Subscribe' }).click();
      await heading(page, 'Subscribe').waitFor();
      await expectSound(open, origin);
      for (const path of ['/docs', '/sign-in', '/status/acme', '/v1/status-pages']) {
        const answer = await page.goto(`${origin}${path}`);
        expect(answer?.status(), path).toBe(404);
        await heading(page, 'There is no page at this address').waitFor();
      }
    } finally {
      await context.close();
    }
  });
});
