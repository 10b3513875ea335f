import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import {
  type Client,
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/status-pages';
const SERVICES = `${PATH}/services`;
const NOBODY = '00000000-0000-4000-8000-000000000000';
const DAY_MS = 86_400_000;
const COLORS = [
  'bodyBackgroundColor',
  'headerBackgroundColor',
  'headerFontColor',
  'titleFontColor',
  'bodyFontColor',
  'bodyFontColorMuted',
  'navigationFontColor',
  'linkFontColor',
  'cardBackgroundColor',
  'borderColor',
  'primaryButtonBackgroundColor',
  'primaryButtonFontColor',
];

let made = 0;
/** Urls are unique over the service, which all tests share. */
function newUrl(): string {
  made += 1;
  return `page-${made}`;
}

async function newService(client: Client, name = 'Shop'): Promise<string> {
  return (await client.post(SERVICES, { name })).json.id;
}

async function servicesOf(client: Client, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) ids.push(await newService(client, `s${index}`));
  return ids;
}

const ALL_COLORS = (color: string): object =>
  Object.fromEntries(COLORS.map((name) => [name, color]));

/**
 * Status pages, their cards and services through the API: src/service/README.md, "Status pages and
 * incidents", 4.7.
 */
describe.each(databases)('on %s', (kind) => {
  describe('status pages', () => {
    const service = useAccounts(useRunningService(kind));

    it('have every field of the specification and every default', async () => {
      const { mine } = service();
      const url = newUrl();
      const created = await mine.post(PATH, { name: 'Shop', url });
      expect(created.status).toBe(201);
      const theme = Object.fromEntries(
        COLORS.map((name) => [name, expect.stringMatching(/^#[0-9a-f]{6}$/)]),
      );
      expect(created.json).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{8}-/),
        name: 'Shop',
        url,
        description: null,
        customDomain: null,
        themeColors: { light: theme, dark: theme },
        logo: null,
        redirectTo: null,
        favicon: null,
        defaultTheme: 'AUTO',
        cards: [],
        whiteLabel: false,
        isPrivate: false,
        logicalId: null,
        hasPassword: false,
      });
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
      expect((await mine.get(PATH)).json).toEqual([created.json]);
    });

    it('return every field as it was given', async () => {
      const { mine, clock } = service();
      const [one = '', two = ''] = await servicesOf(mine, 2);
      const url = newUrl();
      const fields = {
        name: HOSTILE,
        url,
        description: HOSTILE.padEnd(500, 'x'),
        customDomain: `${url}.example.com`,
        themeColors: { light: ALL_COLORS('#Abc'), dark: ALL_COLORS('#11223344') },
        logo: 'https://example.com/logo.svg?a=1#b',
        redirectTo: 'http://example.com',
        favicon: 'HTTPS://example.com/favicon.ico',
        defaultTheme: 'DARK',
        whiteLabel: true,
        isPrivate: true,
        logicalId: 'main',
      };
      const cards = [
        { name: HOSTILE, services: [two, one] },
        { name: 'Empty', services: [] },
        { name: 'Again', services: [two] },
      ];
      const created = await mine.post(PATH, { ...fields, cards });
      const today = new Date(clock.wallMs()).toISOString().slice(0, 10);
      const days = { created_at: today, updated_at: today };
      const shown = (id: string, name: string): object => ({
        id,
        name,
        accountId: mine.accountId,
        ...days,
      });
      const card = { id: expect.any(String), ...days };
      expect(created.json).toEqual({
        ...fields,
        hasPassword: false,
        id: expect.any(String),
        cards: [
          { ...card, name: HOSTILE, services: [shown(two, 's1'), shown(one, 's0')] },
          { ...card, name: 'Empty', services: [] },
          { ...card, name: 'Again', services: [shown(two, 's1')] },
        ],
      });
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it.each([
      [{ name: '' }, 'body.name'],
      [{ name: undefined }, 'body.name'],
      [{ name: 'a\u0000' }, 'body.name'],
      [{ url: undefined }, 'body.url'],
      [{ url: '' }, 'body.url'],
      [{ url: 'Shop' }, 'body.url'],
      [{ url: '-shop' }, 'body.url'],
      [{ url: 'shop-' }, 'body.url'],
      [{ url: 'sh.op' }, 'body.url'],
      [{ url: 'a'.repeat(64) }, 'body.url'],
      [{ description: 'x'.repeat(501) }, 'body.description'],
      [{ customDomain: '' }, 'body.customDomain'],
      [{ customDomain: 'localhost' }, 'body.customDomain'],
      [{ customDomain: 'https://a.test' }, 'body.customDomain'],
      [{ customDomain: 'a.test/x' }, 'body.customDomain'],
      [{ customDomain: 'a.test:443' }, 'body.customDomain'],
      [{ customDomain: 'a.test.' }, 'body.customDomain'],
      [{ customDomain: '192.0.2.1' }, 'body.customDomain'],
      [{ customDomain: `${'a'.repeat(64)}.test` }, 'body.customDomain'],
      [{ customDomain: `${'a.'.repeat(126)}test` }, 'body.customDomain'],
      [{ themeColors: { light: { borderColor: 'red' } } }, 'body.themeColors.light.borderColor'],
      [{ themeColors: { dark: { borderColor: '#12345' } } }, 'body.themeColors.dark.borderColor'],
      [{ themeColors: { dark: { borderColor: '#ggg' } } }, 'body.themeColors.dark.borderColor'],
      [{ themeColors: { light: { borderColour: '#fff' } } }, 'borderColour'],
      [{ themeColors: { dim: {} } }, 'body.themeColors.dim'],
      [{ logo: 'logo.svg' }, 'body.logo'],
      [{ favicon: 'ftp://a.test/' }, 'body.favicon'],
      [{ redirectTo: 'javascript:alert(1)' }, 'body.redirectTo'],
      [{ redirectTo: 'https://' }, 'body.redirectTo'],
      [{ defaultTheme: 'auto' }, 'body.defaultTheme'],
      [{ isPrivate: null }, 'body.isPrivate'],
      [{ id: NOBODY }, 'body.id'],
      [{ cards: [{ services: [] }] }, 'body.cards[0].name'],
      [{ cards: [{ name: 'A', id: NOBODY }] }, 'body.cards[0].id'],
      [{ cards: [{ name: 'A', services: ['x'] }] }, 'body.cards[0].services[0]'],
      [
        { cards: [{ name: 'B' }, { name: 'A', services: [NOBODY] }] },
        'body.cards[1].services[0] must be the id of a service',
      ],
      [
        { cards: [{ name: 'A', services: [NOBODY, NOBODY] }] },
        'body.cards[0].services must name each service once',
      ],
      [{ cards: Array.from({ length: 101 }, () => ({ name: 'A' })) }, 'body.cards'],
    ])('refuse %j', async (fields, path) => {
      const { mine } = service();
      const refused = await mine.post(PATH, { name: 'Shop', url: newUrl(), ...fields });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
      expect((await mine.get(PATH)).json).toEqual([]);
    });

    it('refuse more services than the limit', async () => {
      const { mine, store } = service();
      // By SQL, since a thousand requests would take long.
      const rows = await store.query<{ id: string }>(
        `insert into status_page_services (account_id, id, name, created_at)
         select $1, gen_random_uuid()::text, 'S', now() from generate_series(1, 101) returning id`,
        [mine.accountId],
      );
      const ids = rows.map(({ id }) => id);
      const cards = Array.from({ length: 10 }, () => ({ name: 'A', services: ids.slice(1) }));
      const whole = await mine.post(PATH, { name: 'Shop', url: newUrl(), cards });
      expect(whole.status).toBe(201);
      expect(whole.json.cards[9].services).toHaveLength(100);
      const more = [...cards, { name: 'B', services: ids.slice(100) }];
      const tooMany = await mine.put(`${PATH}/${whole.json.id}`, { cards: more });
      expect(problemsIn(tooMany)).toEqual(['body.cards must have at most 1000 services in all']);
      const onOne = await mine.post(PATH, {
        name: 'Shop',
        url: newUrl(),
        cards: [{ name: 'A', services: ids }],
      });
      expect(problemsIn(onOne)[0]).toContain('body.cards[0].services must be at most 100 items');
    });

    it('have a url and a domain that no page of any account has', async () => {
      const { mine, theirs } = service();
      const url = newUrl();
      const customDomain = `${url}.example.com`;
      const first = await theirs.post(PATH, { name: 'Theirs', url, customDomain });
      const taken = await mine.post(PATH, { name: 'Mine', url });
      expect(taken.status).toBe(409);
      expect(taken.json).toMatchObject({ error: 'Conflict', attributes: { url } });
      expect(taken.json.message).toContain(url);
      const upper = customDomain.toUpperCase();
      const domain = await mine.post(PATH, { name: 'Mine', url: newUrl(), customDomain: upper });
      expect(domain.status).toBe(409);
      expect(domain.json.attributes).toHaveProperty('customDomain');
      const own = await mine.post(PATH, { name: 'Mine', url: newUrl() });
      const path = `${PATH}/${own.json.id}`;
      expect((await mine.patch(path, { url })).status).toBe(409);
      expect((await mine.patch(path, { customDomain })).status).toBe(409);
      expect((await mine.get(path)).json).toEqual(own.json);
      // A page may keep its own url, and a released one is free again.
      expect((await mine.patch(path, { url: own.json.url })).status).toBe(200);
      await theirs.delete(`${PATH}/${first.json.id}`);
      const freed = await mine.patch(path, { url, customDomain: upper });
      expect(freed.json).toMatchObject({ url, customDomain });
    });

    it('with the same url at the same time are created once', async () => {
      const { mine, theirs } = service();
      const url = newUrl();
      const replies = await Promise.all(
        [mine, theirs, mine, theirs].map((client) => client.post(PATH, { name: 'A', url })),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine } = service();
      const [id = ''] = await servicesOf(mine, 1);
      const { json: before } = await mine.post(PATH, {
        name: 'Shop',
        url: newUrl(),
        logo: 'https://a.test/',
        themeColors: { light: { borderColor: '#123' } },
        cards: [{ name: 'A', services: [id] }],
      });
      const path = `${PATH}/${before.id}`;
      const changed = await mine[method](path, { description: 'About', logo: null });
      expect(changed.status).toBe(200);
      expect(changed.json).toEqual({ ...before, description: 'About', logo: null });
      // A response may be sent back.
      expect((await mine[method](path, changed.json)).json).toEqual(changed.json);
      // A given field is replaced as a whole.
      const colors = await mine[method](path, { themeColors: { dark: { borderColor: '#456' } } });
      expect(colors.json.themeColors.light.borderColor).not.toBe('#123');
      expect(colors.json.themeColors.dark.borderColor).toBe('#456');
      expect((await mine[method](path, { id: NOBODY })).status).toBe(400);
      expect((await mine[method](path, { name: '' })).status).toBe(400);
      expect((await mine[method](path, { name: null })).status).toBe(400);
      expect((await mine.get(path)).json).toEqual(colors.json);
    });

    it('keep the ids of their cards when they change', async () => {
      const { mine, clock } = service();
      const [one = '', two = ''] = await servicesOf(mine, 2);
      const { json: before } = await mine.post(PATH, {
        name: 'Shop',
        url: newUrl(),
        cards: [
          { name: 'A', services: [one] },
          { name: 'B', services: [one, two] },
          { name: 'C', services: [] },
          { name: 'C', services: [two] },
        ],
      });
      const path = `${PATH}/${before.id}`;
      const [a, b, c, secondC] = before.cards.map(({ id }: { id: string }) => id);
      clock.spend(2 * DAY_MS);
      const { json: after } = await mine.put(path, {
        cards: [
          { name: 'New', services: [two] },
          // By name, the first before the second.
          { name: 'C', services: [] },
          { name: 'C', services: [two, one] },
          // By id, with a name that another card had before.
          { id: b, name: 'A', services: [one, two] },
        ],
      });
      const ids = after.cards.map(({ id }: { id: string }) => id);
      expect(ids).toEqual([expect.any(String), c, secondC, b]);
      expect(before.cards.map(({ id }: { id: string }) => id)).not.toContain(ids[0]);
      expect(ids).not.toContain(a);
      expect(after.cards.map(({ name }: { name: string }) => name)).toEqual(['New', 'C', 'C', 'A']);
      const then = before.cards[0].created_at;
      const now = new Date(clock.wallMs()).toISOString().slice(0, 10);
      expect(
        after.cards.map((card: { created_at: string; updated_at: string }) => [
          card.created_at,
          card.updated_at,
        ]),
      ).toEqual([
        [now, now],
        [then, then],
        [then, now],
        [then, now],
      ]);
      expect((await mine.get(path)).json).toEqual(after);
      // Another page's card, one that is gone, and the same twice.
      const other = await mine.post(PATH, { name: 'O', url: newUrl(), cards: [{ name: 'A' }] });
      for (const id of [a, other.json.cards[0].id, NOBODY]) {
        const refused = await mine.put(path, { cards: [{ id, name: 'A' }] });
        expect(problemsIn(refused)[0]).toContain('body.cards[0].id must be the id of a card');
      }
      const twice = await mine.put(path, { cards: [b, b].map((id) => ({ id, name: 'A' })) });
      expect(problemsIn(twice)[0]).toContain('body.cards[1].id');
      expect((await mine.get(path)).json).toEqual(after);
      expect((await mine.put(path, { cards: [] })).json.cards).toEqual([]);
    });

    it('end as one of several changes at the same time', async () => {
      const { mine } = service();
      const ids = await servicesOf(mine, 3);
      const { json: page } = await mine.post(PATH, { name: 'Shop', url: newUrl() });
      const path = `${PATH}/${page.id}`;
      const replies = await Promise.all(
        ids.flatMap((id, index) => [
          mine.put(path, { cards: [{ name: `card ${index}`, services: [id] }] }),
          mine.put(path, {
            [['whiteLabel', 'isPrivate', 'description'][index] ?? '']: index < 2 || 'x',
          }),
        ]),
      );
      expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
      const { json: after } = await mine.get(path);
      expect(after).toMatchObject({ whiteLabel: true, isPrivate: true, description: 'x' });
      expect(after.cards).toHaveLength(1);
      const index = Number(after.cards[0].name.at(-1));
      expect(after.cards[0].services[0].id).toBe(ids[index]);
    });

    it('of another account are not found, and cannot name its services', async () => {
      const { mine, theirs } = service();
      const id = await newService(mine);
      const { json: page } = await mine.post(PATH, {
        name: 'Shop',
        url: newUrl(),
        cards: [{ name: 'A', services: [id] }],
      });
      const path = `${PATH}/${page.id}`;
      for (const method of ['get', 'put', 'patch', 'delete'] as const) {
        const body = method.startsWith('p') ? { name: 'theirs' } : undefined;
        expect((await theirs[method](path, body)).status).toBe(404);
        expect((await theirs[method](`${SERVICES}/${id}`, body)).status).toBe(404);
      }
      expect((await theirs.get(`${path}/summary`)).status).toBe(404);
      expect((await theirs.get(PATH)).json).toEqual([]);
      expect((await theirs.get(SERVICES)).json).toEqual([]);
      const cards = [{ name: 'A', services: [id] }];
      const taken = await theirs.post(PATH, { name: 'Theirs', url: newUrl(), cards });
      expect(problemsIn(taken)[0]).toContain('body.cards[0].services[0]');
      expect((await mine.get(path)).json).toEqual(page);
    });

    it('are listed oldest first, in pages', async () => {
      const { mine } = service();
      for (const name of ['a', 'b', 'c']) await mine.post(PATH, { name, url: newUrl() });
      const names = async (query: string): Promise<unknown> =>
        (await mine.get(`${PATH}${query}`)).json.map(({ name }: { name: string }) => name);
      expect(await names('')).toEqual(['a', 'b', 'c']);
      expect(await names('?limit=2')).toEqual(['a', 'b']);
      expect(await names('?limit=2&page=2')).toEqual(['c']);
      expect((await mine.get(`${PATH}?limit=101`)).status).toBe(400);
    });

    it('are read in slices, so that long ones are never all in memory', async () => {
      const { mine, store, features } = service();
      const { accountId } = mine;
      await store.query(
        `insert into status_page_services (account_id, id, name, created_at)
         select $1, 'service-' || n, 'S' || n, now() from generate_series(1, 1000) n`,
        [accountId],
      );
      const pages: string[] = [];
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        const cards = [{ name: 'Card', services: [] }];
        const { json } = await mine.post(PATH, { name, url: newUrl(), cards });
        pages.push(json.name);
        await store.query(
          `insert into status_page_card_services (account_id, card_id, service_id, position)
           select $1, $2, id, row_number() over (order by n) from status_page_services
           where account_id = $1`,
          [accountId, json.cards[0].id],
        );
      }
      const slices: string[][] = [];
      for await (const slice of features.statusPages.list(accountId, { limit: 100, page: 1 })) {
        expect(slice.map(({ cards }) => cards[0]?.services.length)).toEqual(slice.map(() => 1000));
        slices.push(slice.map(({ fields }) => fields.name));
      }
      expect(slices.flat()).toEqual(pages);
      expect(slices.map(({ length }) => length)).toEqual([4, 1]);
      const { json } = await mine.get(PATH);
      expect(json.map(({ name }: { name: string }) => name)).toEqual(pages);
    });

    it('are changed only by writers, and read by all roles', async () => {
      const { mine, clientWith } = service();
      const id = await newService(mine);
      const { json: page } = await mine.post(PATH, { name: 'Shop', url: newUrl() });
      const runner = await clientWith('run');
      for (const path of [`${PATH}/${page.id}`, `${SERVICES}/${id}`]) {
        expect((await runner.get(path)).status).toBe(200);
        expect((await runner.put(path, { name: 'b' })).status).toBe(403);
        expect((await runner.patch(path, { name: 'b' })).status).toBe(403);
        expect((await runner.delete(path)).status).toBe(403);
      }
      expect((await runner.get(`${PATH}/${page.id}/summary`)).status).toBe(200);
      expect((await runner.post(PATH, { name: 'a', url: newUrl() })).status).toBe(403);
      expect((await runner.post(SERVICES, { name: 'a' })).status).toBe(403);
    });

    it('are deleted with their cards; the services stay', async () => {
      const { mine, store } = service();
      const id = await newService(mine);
      const { json: page } = await mine.post(PATH, {
        name: 'Shop',
        url: newUrl(),
        cards: [{ name: 'A', services: [id] }],
      });
      expect((await mine.delete(`${PATH}/${page.id}`)).status).toBe(204);
      expect((await mine.get(`${PATH}/${page.id}`)).status).toBe(404);
      expect((await mine.delete(`${PATH}/${page.id}`)).status).toBe(404);
      expect((await mine.get(`${SERVICES}/${id}`)).status).toBe(200);
      const cards = await store.query('select 1 from status_page_cards where account_id = $1', [
        mine.accountId,
      ]);
      expect(cards).toEqual([]);
    });

    it('are deleted with their account, as is everything on them', async () => {
      const { mine, store } = service();
      const services = await servicesOf(mine, 1);
      await mine.post(PATH, { name: 'S', url: newUrl(), cards: [{ name: 'A', services }] });
      const incidentUpdates = [{ status: 'INVESTIGATING', description: 'x' }];
      const incident = { name: 'I', severity: 'MINOR', services, incidentUpdates };
      await mine.post(`${PATH}/incidents`, incident);
      await mine.post('/v1/incidents', { name: 'I', impact: 'MINOR', incidentUpdates });
      await store.query('delete from accounts where id = $1', [mine.accountId]);
      const tables = [
        'status_pages',
        'status_page_services',
        'status_page_cards',
        'status_page_card_services',
        'status_page_incidents',
        'status_page_incident_services',
        'status_page_incident_updates',
        'incidents',
        'incident_updates',
      ];
      for (const table of tables) {
        const left = await store.query(`select 1 from ${table} where account_id = $1`, [
          mine.accountId,
        ]);
        expect(left, table).toEqual([]);
      }
    });
  });

  describe('services of status pages', () => {
    const service = useAccounts(useRunningService(kind));

    it('are created, read, listed and changed', async () => {
      const { mine, clock } = service();
      const created = await mine.post(SERVICES, { name: HOSTILE });
      const today = new Date(clock.wallMs()).toISOString().slice(0, 10);
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        id: expect.any(String),
        logicalId: null,
        name: HOSTILE,
        checkIds: [],
        checkTags: [],
        heartbeatIds: [],
        failureRule: 'ANY',
        failureLocations: null,
        showUptime: true,
        accountId: mine.accountId,
        created_at: today,
        updated_at: today,
      });
      const path = `${SERVICES}/${created.json.id}`;
      expect((await mine.get(path)).json).toEqual(created.json);
      clock.spend(DAY_MS);
      const tomorrow = new Date(clock.wallMs()).toISOString().slice(0, 10);
      const changed = await mine.put(path, { ...created.json, name: 'Shop' });
      expect(changed.json).toEqual({ ...created.json, name: 'Shop', updated_at: tomorrow });
      expect((await mine.patch(path, {})).json).toEqual(changed.json);
      expect((await mine.patch(path, { id: NOBODY })).status).toBe(400);
      await newService(mine, 'second');
      const names = async (query: string): Promise<unknown> =>
        (await mine.get(`${SERVICES}${query}`)).json.map(({ name }: { name: string }) => name);
      expect(await names('')).toEqual(['Shop', 'second']);
      expect(await names('?limit=1&page=2')).toEqual(['second']);
    });

    it.each([
      [{ name: '' }, 'body.name'],
      [{}, 'body.name'],
      [{ name: 'a', id: NOBODY }, 'body.id'],
      [{ name: 'x'.repeat(256) }, 'body.name'],
      [{ name: 'a', checkIds: ['x', 'x'] }, 'body.checkIds'],
      [{ name: 'a', checkIds: ['/'] }, 'body.checkIds[0]'],
      [{ name: 'a', checkIds: Array.from({ length: 101 }, (_, n) => `c${n}`) }, 'body.checkIds'],
      [{ name: 'a', checkTags: [''] }, 'body.checkTags[0]'],
      [{ name: 'a', checkTags: Array.from({ length: 21 }, (_, n) => `t${n}`) }, 'body.checkTags'],
      [{ name: 'a', heartbeatIds: ['none'] }, 'body.heartbeatIds[0]'],
      [{ name: 'a', failureRule: 'SOME' }, 'body.failureRule'],
      [{ name: 'a', failureRule: 'LOCATIONS' }, 'body.failureLocations'],
      [{ name: 'a', failureLocations: 0 }, 'body.failureLocations'],
      [{ name: 'a', failureLocations: 101 }, 'body.failureLocations'],
      [{ name: 'a', showUptime: 'yes' }, 'body.showUptime'],
    ])('refuse %j', async (fields, path) => {
      const { mine } = service();
      const refused = await mine.post(SERVICES, fields);
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
    });

    it('are removed from their cards when they are deleted', async () => {
      const { mine } = service();
      const [one = '', two = '', three = ''] = await servicesOf(mine, 3);
      const { json: page } = await mine.post(PATH, {
        name: 'Shop',
        url: newUrl(),
        cards: [{ name: 'A', services: [one, two, three] }],
      });
      expect((await mine.delete(`${SERVICES}/${two}`)).status).toBe(204);
      expect((await mine.delete(`${SERVICES}/${two}`)).status).toBe(404);
      const { json: after } = await mine.get(`${PATH}/${page.id}`);
      const left = after.cards[0].services.map(({ id }: { id: string }) => id);
      expect(left).toEqual([one, three]);
    });

    it('are on no card where they are deleted while a page adds them', async () => {
      const { mine } = service();
      const { json: page } = await mine.post(PATH, { name: 'Shop', url: newUrl() });
      for (let round = 0; round < 5; round += 1) {
        const id = await newService(mine);
        const [shown, deleted] = await Promise.all([
          mine.put(`${PATH}/${page.id}`, { cards: [{ name: 'A', services: [id] }] }),
          mine.delete(`${SERVICES}/${id}`),
        ]);
        expect(deleted.status).toBe(204);
        expect([200, 400]).toContain(shown.status);
        const { json: after } = await mine.get(`${PATH}/${page.id}`);
        expect(after.cards.flatMap(({ services }: { services: unknown[] }) => services)).toEqual(
          [],
        );
      }
    });

    it.each(['x', '1', `${NOBODY}0`])('and pages have a UUID for an id, not %s', async (id) => {
      const { mine } = service();
      for (const path of [PATH, SERVICES, `${PATH}/incidents`, '/v1/incidents']) {
        const refused = await mine.get(`${path}/${id}`);
        expect(refused.status).toBe(400);
        expect(problemsIn(refused)[0]).toContain('path.');
        expect((await mine.get(`${path}/${NOBODY}`)).status).toBe(404);
      }
    });
  });
});
