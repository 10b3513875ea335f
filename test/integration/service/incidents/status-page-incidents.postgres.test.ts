import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_INCIDENT_UPDATES } from '../../../../src/model/incident/dashboard-incident.ts';
import { databases } from '../../../support/database/databases.ts';
import {
  type Client,
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PAGES = '/v1/status-pages';
const SERVICES = `${PAGES}/services`;
const PATH = `${PAGES}/incidents`;
const NOBODY = '00000000-0000-4000-8000-000000000000';
const FIRST = { status: 'INVESTIGATING', description: 'Looking into it' };

let pages = 0;

const ALL = '?includeAllIncidentUpdates=true';

/**
 * Incidents of status pages through the API: src/service/README.md, "Status pages and incidents",
 * 4.8, 4.9.
 */
describe.each(databases)('on %s', (kind) => {
  describe('incidents of status pages', () => {
    const service = useAccounts(useRunningService(kind));
    let shop = '';
    let mail = '';

    beforeEach(async () => {
      const { mine } = service();
      shop = (await mine.post(SERVICES, { name: 'Shop' })).json.id;
      mail = (await mine.post(SERVICES, { name: 'Mail' })).json.id;
    });

    const incident = (fields: object = {}): object => ({
      name: 'Slow',
      severity: 'MAJOR',
      services: [shop],
      incidentUpdates: [FIRST],
      ...fields,
    });

    async function open(client: Client, fields: object = {}): Promise<string> {
      return `${PATH}/${(await client.post(PATH, incident(fields))).json.id}`;
    }

    it('are listed by their state, the newest first on request, drafts among the open ones', async () => {
      const { mine } = service();
      const resolved = { ...FIRST, status: 'RESOLVED' };
      for (const [name, fields] of [
        ['one', {}],
        ['two', { incidentUpdates: [FIRST, resolved] }],
        ['three', { isDraft: true }],
        ['four', { incidentUpdates: [resolved] }],
      ] as const) {
        await open(mine, { name, ...fields });
      }
      const names = async (query: string): Promise<readonly string[]> =>
        (await mine.get(`${PATH}?${query}`)).json.map(({ name }: { name: string }) => name);
      expect(await names('')).toEqual(['one', 'two', 'three', 'four']);
      expect(await names('sort=-created_at')).toEqual(['four', 'three', 'two', 'one']);
      expect(await names('state=open')).toEqual(['one', 'three']);
      expect(await names('state=resolved&sort=-created_at')).toEqual(['four', 'two']);
      expect(await names('state=open&sort=-created_at&limit=1&page=2')).toEqual(['one']);
      const counted = await mine.get(`${PATH}?state=open&limit=1`);
      expect(counted.headers['x-total-count']).toBe('2');
      expect((await mine.get(`${PATH}?state=closed`)).status).toBe(400);
    });

    it('have every field and every default', async () => {
      const { mine, clock } = service();
      const created = await mine.post(PATH, incident({ name: HOSTILE, services: [mail, shop] }));
      expect(created.status).toBe(201);
      const now = new Date(clock.wallMs()).toISOString();
      expect(created.json).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{8}-/),
        name: HOSTILE,
        severity: 'MAJOR',
        services: [mail, shop],
        isDraft: false,
        postMortem: null,
        lastUpdateStatus: 'INVESTIGATING',
        incidentUpdates: [
          {
            id: expect.any(String),
            incidentId: created.json.id,
            ...FIRST,
            publicIncidentUpdateDate: now,
            notifySubscribers: false,
            created_at: now,
            updated_at: null,
          },
        ],
        created_at: now,
        updated_at: now,
      });
      expect((await mine.get(`${PATH}/${created.json.id}${ALL}`)).json).toEqual(created.json);
    });

    it('are created with several updates, in their order, with public dates of their own', async () => {
      const { mine } = service();
      const incidentUpdates = [
        { ...FIRST, description: HOSTILE, publicIncidentUpdateDate: '2025-12-31' },
        { ...FIRST, status: 'IDENTIFIED', publicIncidentUpdateDate: '2025-12-31T12:30:00.5+02:00' },
        { ...FIRST, status: 'MONITORING', publicIncidentUpdateDate: '9999-12-31T23:59:59.999Z' },
        { ...FIRST, status: 'RESOLVED', publicIncidentUpdateDate: null, notifySubscribers: true },
      ];
      const path = await open(mine, { incidentUpdates });
      const { json: found } = await mine.get(`${path}${ALL}`);
      expect(found.lastUpdateStatus).toBe('RESOLVED');
      expect(found.incidentUpdates).toMatchObject([
        { description: HOSTILE, publicIncidentUpdateDate: '2025-12-31T00:00:00.000Z' },
        { status: 'IDENTIFIED', publicIncidentUpdateDate: '2025-12-31T10:30:00.500Z' },
        { status: 'MONITORING', publicIncidentUpdateDate: '9999-12-31T23:59:59.999Z' },
        { publicIncidentUpdateDate: found.created_at, notifySubscribers: true },
      ]);
      const first = await mine.get(path);
      expect(first.json).toEqual({ ...found, incidentUpdates: [found.incidentUpdates[0]] });
      expect((await mine.get(`${path}?includeAllIncidentUpdates=false`)).json).toEqual(first.json);
      expect((await mine.get(`${path}?includeAllIncidentUpdates=1`)).status).toBe(400);
      expect((await mine.get(PATH)).json).toEqual([first.json]);
    });

    it.each([
      [{ name: '' }, 'body.name'],
      [{ name: undefined }, 'body.name'],
      [{ name: 'a\u0000' }, 'body.name'],
      [{ severity: 'MAINTENANCE' }, 'body.severity must be one of CRITICAL, MAJOR, MEDIUM, MINOR'],
      [{ severity: undefined }, 'body.severity'],
      [{ services: ['x'] }, 'body.services[0]'],
      [{ services: [NOBODY] }, 'body.services[0] must be the id of a service'],
      [{ services: [NOBODY, NOBODY] }, 'body.services must name each service once'],
      [{ incidentUpdates: undefined }, 'body.incidentUpdates'],
      [{ incidentUpdates: [] }, 'body.incidentUpdates'],
      [{ incidentUpdates: [{ ...FIRST, status: 'OPEN' }] }, 'body.incidentUpdates[0].status'],
      [{ incidentUpdates: [{ ...FIRST, description: '' }] }, 'body.incidentUpdates[0].description'],
      [
        { incidentUpdates: [{ ...FIRST, publicIncidentUpdateDate: '2026-02-30' }] },
        'body.incidentUpdates[0].publicIncidentUpdateDate must be a day',
      ],
      [
        { incidentUpdates: [{ ...FIRST, publicIncidentUpdateDate: '0000-01-01' }] },
        'body.incidentUpdates[0].publicIncidentUpdateDate must be a day',
      ],
      [{ lastUpdateStatus: 'RESOLVED' }, 'body.lastUpdateStatus'],
      [{ impact: 'MINOR' }, 'body.impact'],
      [{ isDraft: null }, 'body.isDraft'],
      [{ postMortem: '' }, 'body.postMortem'],
      [{ postMortem: 'ü'.repeat(32 * 1024 + 1) }, 'body.postMortem must have at most 64 KiB'],
    ])('refuse %j', async (fields, path) => {
      const { mine } = service();
      const refused = await mine.post(PATH, incident(fields));
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
      expect((await mine.get(PATH)).json).toEqual([]);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine, clock } = service();
      const path = await open(mine);
      const { json: before } = await mine.get(`${path}${ALL}`);
      clock.spend(1000);
      const changed = await mine[method](path, { severity: 'MINOR', services: [mail, shop] });
      expect(changed.status).toBe(200);
      expect(changed.json).toEqual({
        ...before,
        severity: 'MINOR',
        services: [mail, shop],
        updated_at: new Date(clock.wallMs()).toISOString(),
      });
      const again = await mine[method](path, changed.json);
      expect(again.json).toEqual({ ...changed.json, updated_at: again.json.updated_at });
      expect((await mine[method](path, { name: '' })).status).toBe(400);
      expect((await mine[method](path, { id: NOBODY })).status).toBe(400);
      expect((await mine[method](path, { services: [NOBODY] })).status).toBe(400);
      expect((await mine.get(`${path}${ALL}`)).json).toEqual(again.json);
    });

    it('have the status of their latest update when updates are added, changed or deleted', async () => {
      const { mine, clock } = service();
      const path = await open(mine);
      const status = async (): Promise<unknown> =>
        (await mine.get(`${path}${ALL}`)).json.lastUpdateStatus;
      clock.spend(1000);
      const added = await mine.post(`${path}/incident-updates`, {
        status: 'RESOLVED',
        description: 'Gone',
        publicIncidentUpdateDate: '2020-01-01',
        notifySubscribers: true,
      });
      expect(added.status).toBe(201);
      const now = new Date(clock.wallMs()).toISOString();
      expect(added.json).toEqual({
        id: expect.any(String),
        incidentId: path.slice(PATH.length + 1),
        status: 'RESOLVED',
        description: 'Gone',
        publicIncidentUpdateDate: '2020-01-01T00:00:00.000Z',
        notifySubscribers: true,
        created_at: now,
        updated_at: null,
      });
      expect((await mine.get(`${path}${ALL}`)).json).toMatchObject({
        lastUpdateStatus: 'RESOLVED',
        updated_at: now,
        incidentUpdates: [FIRST, added.json],
      });
      const second = `${path}/incident-updates/${added.json.id}`;
      clock.spend(1000);
      const changed = await mine.put(second, { status: 'MONITORING' });
      expect(changed.json).toEqual({
        ...added.json,
        status: 'MONITORING',
        updated_at: new Date(clock.wallMs()).toISOString(),
      });
      expect((await mine.patch(second, changed.json)).json).toEqual(changed.json);
      expect(await status()).toBe('MONITORING');
      const own = await mine.patch(second, { publicIncidentUpdateDate: null });
      expect(own.json.publicIncidentUpdateDate).toBe(added.json.created_at);
      expect((await mine.patch(second, { status: 'OPEN' })).status).toBe(400);
      expect((await mine.patch(second, { id: NOBODY })).status).toBe(400);
      expect((await mine.delete(second)).status).toBe(204);
      expect((await mine.delete(second)).status).toBe(404);
      expect((await mine.patch(second, { status: 'RESOLVED' })).status).toBe(404);
      expect(await status()).toBe('INVESTIGATING');
    });

    it('keep at least one update', async () => {
      const { mine } = service();
      const path = await open(mine);
      const { json: before } = await mine.get(`${path}${ALL}`);
      const [first] = before.incidentUpdates;
      const refused = await mine.delete(`${path}/incident-updates/${first.id}`);
      expect(refused.status).toBe(409);
      expect((await mine.get(`${path}${ALL}`)).json).toEqual(before);
    });

    it('refuse more updates than the limit', async () => {
      const { mine } = service();
      const incidentUpdates = Array.from({ length: MAX_INCIDENT_UPDATES - 1 }, (_, index) => ({
        ...FIRST,
        description: `${index}`,
      }));
      const path = await open(mine, { incidentUpdates });
      const add = () => mine.post(`${path}/incident-updates`, FIRST);
      const replies = await Promise.all([add(), add(), add()]);
      expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
      const { json: found } = await mine.get(`${path}${ALL}`);
      expect(found.incidentUpdates).toHaveLength(MAX_INCIDENT_UPDATES);
      const told = found.incidentUpdates.slice(0, -1).map(({ description = '' }) => description);
      expect(told).toEqual(incidentUpdates.map(({ description }) => description));
    });

    it('lose no change of several at the same time', async () => {
      const { mine } = service();
      const path = await open(mine);
      await Promise.all([
        mine.patch(path, { name: 'Slower' }),
        mine.patch(path, { severity: 'CRITICAL' }),
        mine.patch(path, { services: [mail] }),
        mine.post(`${path}/incident-updates`, { ...FIRST, status: 'IDENTIFIED' }),
      ]);
      const { json: found } = await mine.get(`${path}${ALL}`);
      expect(found).toMatchObject({
        name: 'Slower',
        severity: 'CRITICAL',
        services: [mail],
        lastUpdateStatus: 'IDENTIFIED',
      });
      expect(found.incidentUpdates).toHaveLength(2);
    });

    it('prevent the deletion of their services while they are open', async () => {
      const { mine } = service();
      const path = await open(mine, { services: [mail, shop] });
      const refused = await mine.delete(`${SERVICES}/${shop}`);
      expect(refused.status).toBe(409);
      expect(refused.json.attributes.incidents).toEqual([path.slice(PATH.length + 1)]);
      await mine.post(`${path}/incident-updates`, { status: 'RESOLVED', description: 'Gone' });
      expect((await mine.delete(`${SERVICES}/${shop}`)).status).toBe(204);
      expect((await mine.get(`${path}${ALL}`)).json.services).toEqual([mail]);
    });

    it('never name a service that is deleted while they are opened', async () => {
      const { mine } = service();
      for (let round = 0; round < 5; round += 1) {
        const { json: one } = await mine.post(SERVICES, { name: 'One' });
        const [opened, deleted] = await Promise.all([
          mine.post(PATH, incident({ services: [one.id] })),
          mine.delete(`${SERVICES}/${one.id}`),
        ]);
        const isThere = (await mine.get(`${SERVICES}/${one.id}`)).status === 200;
        expect([opened.status, deleted.status]).toEqual(isThere ? [201, 409] : [400, 204]);
      }
    });

    it('are deleted with their updates', async () => {
      const { mine, store } = service();
      const path = await open(mine);
      const deleted = await mine.delete(path);
      expect([deleted.status, deleted.text]).toEqual([204, '']);
      expect((await mine.get(`${path}${ALL}`)).status).toBe(404);
      expect((await mine.delete(path)).status).toBe(404);
      expect((await mine.put(path, { name: 'x' })).status).toBe(404);
      expect((await mine.post(`${path}/incident-updates`, FIRST)).status).toBe(404);
      const left = await store.query(
        'select 1 from status_page_incident_updates where account_id = $1',
        [mine.accountId],
      );
      expect(left).toEqual([]);
    });

    it('of another account are not found, and cannot name its services', async () => {
      const { mine, theirs } = service();
      const path = await open(mine);
      const { json: before } = await mine.get(`${path}${ALL}`);
      const update = `${path}/incident-updates/${before.incidentUpdates[0].id}`;
      for (const method of ['get', 'put', 'patch', 'delete'] as const) {
        const body = method.startsWith('p') ? { name: 'theirs' } : undefined;
        expect((await theirs[method](path, body)).status).toBe(404);
      }
      expect((await theirs.post(`${path}/incident-updates`, FIRST)).status).toBe(404);
      expect((await theirs.put(update, FIRST)).status).toBe(404);
      expect((await theirs.delete(update)).status).toBe(404);
      expect((await theirs.get(PATH)).json).toEqual([]);
      const taken = await theirs.post(PATH, incident());
      expect(problemsIn(taken)[0]).toContain('body.services[0]');
      // Nor is an update found under another incident.
      const other = await open(mine);
      const moved = update.replace(path, other);
      expect((await mine.put(moved, { status: 'RESOLVED' })).status).toBe(404);
      expect((await mine.delete(moved)).status).toBe(404);
      expect((await mine.get(`${path}${ALL}`)).json).toEqual(before);
    });

    it('are listed oldest first, in pages', async () => {
      const { mine } = service();
      for (const name of ['a', 'b', 'c']) await open(mine, { name });
      const names = async (query: string): Promise<unknown> =>
        (await mine.get(`${PATH}${query}`)).json.map(({ name }: { name: string }) => name);
      expect(await names('')).toEqual(['a', 'b', 'c']);
      expect(await names('?limit=2&page=2')).toEqual(['c']);
    });

    it('are changed only by writers', async () => {
      const { mine, clientWith } = service();
      const path = await open(mine);
      const [first] = (await mine.get(`${path}${ALL}`)).json.incidentUpdates;
      const runner = await clientWith('run');
      expect((await runner.get(`${path}${ALL}`)).status).toBe(200);
      expect((await runner.post(PATH, incident())).status).toBe(403);
      for (const each of [path, `${path}/incident-updates/${first.id}`]) {
        expect((await runner.put(each, {})).status).toBe(403);
        expect((await runner.patch(each, {})).status).toBe(403);
        expect((await runner.delete(each)).status).toBe(403);
      }
      expect((await runner.post(`${path}/incident-updates`, FIRST)).status).toBe(403);
    });

    it('have a post-mortem of up to 64 KiB, alone and in lists, until it is removed', async () => {
      const { mine } = service();
      const postMortem = `# Why\n\n${'ü'.repeat(32 * 1024 - 4)}`;
      const path = await open(mine, { postMortem });
      expect((await mine.get(path)).json.postMortem).toBe(postMortem);
      for (let made = 1; made < 100; made += 1) await open(mine, { postMortem });
      const { json: listed } = await mine.get(`${PATH}?limit=100`);
      expect(listed.map(({ postMortem = '' }) => postMortem)).toEqual(
        Array.from({ length: 100 }, () => postMortem),
      );
      expect((await mine.patch(path, { name: 'Slower' })).json.postMortem).toBe(postMortem);
      expect((await mine.patch(path, { postMortem: null })).json.postMortem).toBeNull();
    });

    it('are hidden from readers as drafts, and have the time at which they are published', async () => {
      const { mine, clock } = service();
      pages += 1;
      const { json: page } = await mine.post(PAGES, {
        name: 'Status',
        url: `drafts-${pages}`,
        cards: [{ name: 'A', services: [shop] }],
      });
      const summary = async () => (await mine.get(`${PAGES}/${page.id}/summary`)).json;
      const own = '2025-12-31T00:00:00.000Z';
      const path = await open(mine, {
        isDraft: true,
        severity: 'CRITICAL',
        postMortem: '# Why',
        incidentUpdates: [FIRST, { ...FIRST, publicIncidentUpdateDate: own }],
      });
      const { json: draft } = await mine.get(`${path}${ALL}`);
      expect(draft.isDraft).toBe(true);
      expect((await mine.get(PATH)).json[0].isDraft).toBe(true);
      expect(await summary()).toMatchObject({ state: 'OPERATIONAL', incidents: [] });
      clock.spend(60_000);
      await mine.post(`${path}/incident-updates`, { status: 'IDENTIFIED', description: 'Found' });
      expect(await summary()).toMatchObject({ state: 'OPERATIONAL', incidents: [] });
      clock.spend(60_000);
      const now = new Date(clock.wallMs()).toISOString();
      const published = await mine.patch(path, { isDraft: false });
      expect(published.json).toMatchObject({
        isDraft: false,
        created_at: draft.created_at,
        incidentUpdates: [
          { publicIncidentUpdateDate: now },
          { publicIncidentUpdateDate: own },
          { publicIncidentUpdateDate: now, status: 'IDENTIFIED' },
        ],
      });
      const seen = await summary();
      expect(seen).toMatchObject({
        state: 'MAJOR_OUTAGE',
        cards: [{ services: [{ state: 'MAJOR_OUTAGE' }] }],
        // Readers see it once the incident is resolved.
        incidents: [{ name: 'Slow', postMortem: null }],
      });
    });

    it('keep their times when a published one is written again', async () => {
      const { mine, clock } = service();
      const path = await open(mine);
      clock.spend(1000);
      const { json: before } = await mine.get(`${path}${ALL}`);
      const { json: after } = await mine.put(path, { ...before, isDraft: false });
      expect(after.incidentUpdates).toEqual(before.incidentUpdates);
    });

    it.each(['put', 'patch'] as const)(
      'are no drafts again by %s once published',
      async (method) => {
        const { mine } = service();
        const path = await open(mine);
        const { json: before } = await mine.get(`${path}${ALL}`);
        const refused = await mine[method](path, { isDraft: true, name: 'Hidden' });
        expect(refused.status).toBe(409);
        expect(refused.json.message).toContain('cannot become a draft again');
        expect((await mine.get(`${path}${ALL}`)).json).toEqual(before);
      },
    );

    it('prevent the deletion of their services as open drafts, too', async () => {
      const { mine } = service();
      const path = await open(mine, { isDraft: true });
      expect((await mine.delete(`${SERVICES}/${shop}`)).status).toBe(409);
      await mine.delete(path);
      expect((await mine.delete(`${SERVICES}/${shop}`)).status).toBe(204);
    });

    it('determine the states of the services of a page', async () => {
      const { mine } = service();
      pages += 1;
      const { json: page } = await mine.post(PAGES, {
        name: 'Status',
        url: `summary-${pages}`,
        cards: [
          { name: 'A', services: [shop, mail] },
          { name: 'B', services: [shop] },
        ],
      });
      const { json: elsewhere } = await mine.post(SERVICES, { name: 'Elsewhere' });
      const summary = async () => (await mine.get(`${PAGES}/${page.id}/summary`)).json;
      const named = (id: string, name: string, state: string): object => ({ id, name, state });
      expect(await summary()).toEqual({
        id: page.id,
        name: 'Status',
        url: page.url,
        state: 'OPERATIONAL',
        cards: [
          {
            id: page.cards[0].id,
            name: 'A',
            services: [named(shop, 'Shop', 'OPERATIONAL'), named(mail, 'Mail', 'OPERATIONAL')],
          },
          { id: page.cards[1].id, name: 'B', services: [named(shop, 'Shop', 'OPERATIONAL')] },
        ],
        incidents: [],
      });
      const minor = await open(mine, { name: 'minor', severity: 'MINOR', services: [shop, mail] });
      const major = await open(mine, { name: 'major', severity: 'MAJOR', services: [shop] });
      await open(mine, { name: 'other', severity: 'CRITICAL', services: [elsewhere.id] });
      const during = await summary();
      expect(during.state).toBe('PARTIAL_OUTAGE');
      expect(during.cards).toMatchObject([
        { services: [{ state: 'PARTIAL_OUTAGE' }, { state: 'DEGRADED' }] },
        { services: [{ state: 'PARTIAL_OUTAGE' }] },
      ]);
      const names = during.incidents.map(({ name }: { name: string }) => name);
      expect(names).toEqual(['major', 'minor']);
      await mine.patch(major, { severity: 'CRITICAL' });
      expect((await summary()).state).toBe('MAJOR_OUTAGE');
      await mine.post(`${major}/incident-updates`, { ...FIRST, status: 'RESOLVED' });
      expect((await summary()).state).toBe('DEGRADED');
      await mine.delete(minor);
      expect(await summary()).toMatchObject({ state: 'OPERATIONAL', incidents: [] });
    });
  });
});
