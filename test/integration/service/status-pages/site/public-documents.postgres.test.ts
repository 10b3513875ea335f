import { describe, expect, it } from 'vitest';
import { pageSummarySchema } from '../../../../../src/service/status-pages/feeds/summary.ts';
import { databases } from '../../../../support/database/databases.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import {
  type Client,
  HOSTILE,
  useAccounts,
  useRunningService,
} from '../../../../support/service/service-fixture.ts';
import { childrenOf, textOf, xmlTree } from '../../../../support/xml-tree.ts';

let made = 0;
/** Bytes in place of a picture. */
const BYTES = 'a picture';
const pictureSource = {
  fetch: async (_: string, url: string) => ({
    ok: true as const,
    picture: {
      type: 'image/png' as const,
      width: 4,
      height: 2,
      bytes: Buffer.from(`${BYTES} of ${url}`),
    },
  }),
  close: async () => {},
};

async function newService(client: Client, name: string): Promise<string> {
  return (await client.post('/v1/status-pages/services', { name })).json.id;
}

describe.each(databases)('what programs read of status pages, on %s', (kind) => {
  const running = useRunningService(kind, { pictureSource });
  const service = useAccounts(running);
  const open = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
    running().app.ask(path, { key: null, headers });

  async function newPage(fields: object = {}) {
    const { mine } = service();
    made += 1;
    const serviceId = await newService(mine, HOSTILE);
    const created = await mine.post('/v1/status-pages', {
      name: HOSTILE,
      url: `documents-${made}`,
      cards: [{ name: HOSTILE, services: [serviceId] }],
      ...fields,
    });
    expect(created.status, created.text).toBe(201);
    const { id, url } = created.json;
    return { id, serviceId, path: `/status/${url}` };
  }

  const DOCUMENTS = [
    ['feed.atom', 'application/atom+xml; charset=utf-8'],
    ['feed.rss', 'application/rss+xml; charset=utf-8'],
    ['summary.json', 'application/json; charset=utf-8'],
    ['badges/state.svg', 'image/svg+xml; charset=utf-8'],
    ['badges/uptime.svg', 'image/svg+xml; charset=utf-8'],
    ['badges/response-time.svg', 'image/svg+xml; charset=utf-8'],
  ] as const;

  it.each(DOCUMENTS)('%s is for pages of every site, cached like the page', async (name, type) => {
    const { path } = await newPage();
    const { status, headers } = await open(`${path}/${name}`, { origin: 'https://other.test' });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': type,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'cache-control': 'public, max-age=15, stale-while-revalidate=60',
      etag: expect.any(String),
    });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    const again = await open(`${path}/${name}`, { 'if-none-match': headers.etag ?? '' });
    expect(again.status).toBe(304);
  });

  it.each([...DOCUMENTS.map(([name]) => name), 'logo', 'favicon'])(
    '%s of a private page is the same 404 as that of no page',
    async (name) => {
      const { path, serviceId } = await newPage({
        isPrivate: true,
        logo: 'https://a.test/',
        favicon: 'https://a.test/',
      });
      for (const asked of [name, `badges/${serviceId}/state.svg`]) {
        const none = await open(`/status/nobody/${asked}`);
        const found = await open(`${path}/${asked}`);
        // The form for a password names the address that was asked for.
        const text = found.text.replaceAll(path.replace('/status/', ''), 'nobody');
        expect([found.status, text]).toEqual([404, none.text]);
        expect(found.headers).not.toHaveProperty('access-control-allow-origin');
      }
    },
  );

  it('the feeds follow an incident from its first update to its end', async () => {
    const { mine } = service();
    const { path, serviceId } = await newPage();
    const created = await mine.post('/v1/status-pages/incidents', {
      name: HOSTILE,
      severity: 'MAJOR',
      services: [serviceId],
      incidentUpdates: [{ status: 'INVESTIGATING', description: HOSTILE }],
    });
    const { id } = created.json;
    const entryOf = async () => {
      const [entry, ...others] = childrenOf(
        xmlTree((await open(`${path}/feed.atom`)).text),
        'entry',
      );
      if (entry === undefined || others.length > 0) throw new Error('the feed has not one entry');
      return entry;
    };
    const first = await entryOf();
    expect(textOf(first, 'id')).toBe(`urn:uuid:${id}`);
    expect(textOf(first, 'content')).toContain('Investigating');
    await mine.post(`/v1/status-pages/incidents/${id}/incident-updates`, {
      status: 'RESOLVED',
      description: 'All is well.',
    });
    const last = await entryOf();
    expect(textOf(last, 'id')).toBe(textOf(first, 'id'));
    expect(textOf(last, 'content')).toContain('Resolved');
    expect(textOf(last, 'content')).toContain('All is well.');
    const [channel] = childrenOf(xmlTree((await open(`${path}/feed.rss`)).text), 'channel');
    expect(channel === undefined ? [] : childrenOf(channel, 'item')).toHaveLength(1);
    const summary = pageSummarySchema.parse((await open(`${path}/summary.json`)).json);
    expect(summary.incidents).toEqual([]);
  });

  it('the summary has the state of the page in its documented form', async () => {
    const { mine } = service();
    const { path, serviceId } = await newPage();
    await mine.post('/v1/status-pages/incidents', {
      name: 'Shop down',
      severity: 'CRITICAL',
      services: [serviceId],
      incidentUpdates: [{ status: 'INVESTIGATING', description: 'We look into it.' }],
    });
    const summary = pageSummarySchema.parse((await open(`${path}/summary.json`)).json);
    expect(summary).toMatchObject({
      condition: 'MAJOR_OUTAGE',
      cards: [{ services: [{ id: serviceId, name: HOSTILE, condition: 'MAJOR_OUTAGE' }] }],
      incidents: [{ name: 'Shop down', latestUpdate: { description: 'We look into it.' } }],
    });
  });

  it('the feeds of a page with a domain of its own name that domain', async () => {
    const customDomain = `documents-${made}.example.com`;
    await newPage({ customDomain });
    await running().features.statusSite.readDomains();
    const { status, text } = await open('/feed.atom', { host: customDomain });
    expect(status, text).toBe(200);
    expect(text).toContain(`href="http://${customDomain}/feed.atom"`);
    expect((await open('/badges/state.svg', { host: customDomain })).status).toBe(200);
  });

  it('badges are of the page or of one of its services, with a label of the reader', async () => {
    const { path, serviceId } = await newPage();
    const titleOf = async (at: string) =>
      textOf(xmlTree((await open(`${path}/${at}`)).text), 'title');
    expect(await titleOf('badges/state.svg')).toBe('status: operational');
    expect(await titleOf(`badges/${serviceId}/uptime.svg?days=7`)).toContain('uptime: no data');
    expect(await titleOf('badges/state.svg?label=%3Cb%3EShop')).toBe('<b>Shop: operational');
    expect(await titleOf('badges/state.svg?label=&days=x&label=')).toBe('status: operational');
    const other = await newService(service().mine, 'Other');
    expect((await open(`${path}/badges/${other}/state.svg`)).status).toBe(404);
    expect((await open(`${path}/badges/other.svg`)).status).toBe(404);
  });

  it('the page shows its pictures by URLs with their hashes, which caches keep for ever', async () => {
    const { mine } = service();
    const { id, path } = await newPage({ logo: 'https://a.test/1', favicon: 'https://a.test/2' });
    const html = (await open(path)).text;
    const [, logo = ''] = /<img src="([^"]+)"/.exec(html) ?? [];
    const [, icon = ''] = /<link rel="icon" href="([^"]+)"/.exec(html) ?? [];
    for (const [url, number] of [
      [logo, 1],
      [icon, 2],
    ] as const) {
      expect(url).toMatch(/\?v=[\w-]{22}$/);
      const { status, headers, text } = await open(url);
      expect([status, text]).toEqual([200, `${BYTES} of https://a.test/${number}`]);
      expect(headers).toMatchObject({
        'content-type': 'image/png',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
      });
      expect((await open(url, { 'if-none-match': headers.etag ?? '' })).status).toBe(304);
      const bare = await open(url.replace(/\?.*/, ''));
      expect(bare.headers['cache-control']).toBe('public, max-age=300');
    }
    // Another picture has another URL.
    await mine.patch(`/v1/status-pages/${id}`, { logo: 'https://a.test/3' });
    const changed = (await open(path)).text;
    expect(changed).not.toContain(logo);
    expect((await open(logo)).text).toContain('https://a.test/3');
    expect((await open(logo)).headers['cache-control']).toBe('public, max-age=300');
    await mine.patch(`/v1/status-pages/${id}`, { logo: null });
    expect((await open(path)).text).not.toContain('<img');
    expect((await open(logo)).status).toBe(404);
  });
});
