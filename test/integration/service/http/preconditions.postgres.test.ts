import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { askService, type Reply } from '../../../support/service/service-app.ts';
import {
  startReplica,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PLACES = ['eu-west-1'];
const PAGE = { name: 'Shop', url: 'shop-status' };
const WINDOW = {
  name: 'Night',
  startsAt: '2026-01-01T00:00:00Z',
  endsAt: '2026-01-01T01:00:00Z',
  repeatUnit: 'DAY',
  pauseAllChecks: true,
};
const DASHBOARD_INCIDENT = {
  name: 'Down',
  impact: 'MAJOR',
  dashboardId: 1,
  startedAt: '2026-01-01 00:00:00',
  incidentUpdates: [{ status: 'INVESTIGATING', description: 'Looking.' }],
};

/** Every kind of resource that can be created and changed: its path, a body and a change. */
const RESOURCES: readonly (readonly [path: string, body: () => object, change: object])[] = [
  [
    '/v1/checks/url',
    () => ({ name: 'a', request: { url: 'https://shop.test/' }, locations: PLACES }),
    { name: 'b' },
  ],
  [
    '/v1/checks/heartbeats',
    () => ({
      name: 'a',
      heartbeat: { period: 1, periodUnit: 'HOURS', grace: 1, graceUnit: 'HOURS' },
    }),
    { name: 'b' },
  ],
  [
    '/v1/alert-channels',
    () => ({ type: 'EMAIL', config: { address: 'ops@shop.test' } }),
    { config: { address: 'on-call@shop.test' } },
  ],
  ['/v1/check-groups', () => ({ name: 'a' }), { name: 'b' }],
  ['/v1/maintenance-windows', () => WINDOW, { name: 'Day' }],
  ['/v1/private-locations', () => ({ slug: `s-${randomUUID()}`, name: 'a' }), { name: 'b' }],
  ['/v1/variables', () => ({ key: `K_${randomUUID().slice(0, 8)}`, value: '1' }), { value: '2' }],
  ['/v1/snippets', () => ({ name: randomUUID(), script: '1' }), { script: '2' }],
  ['/v1/status-pages', () => ({ ...PAGE, url: `p-${randomUUID()}` }), { name: 'Store' }],
  ['/v1/status-pages/services', () => ({ name: 'Shop' }), { name: 'Store' }],
  ['/v1/incidents', () => DASHBOARD_INCIDENT, { name: 'Slow' }],
];

const PAGE_INCIDENT = {
  name: 'Down',
  severity: 'MAJOR',
  incidentUpdates: [{ status: 'INVESTIGATING', description: 'Looking.' }],
};

const etagIn = ({ headers }: Reply): string => String(headers.etag);

describe.each(databases)('on %s', (kind) => {
  describe('preconditions', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    it.each(RESOURCES)('protect a resource of %s from lost updates', async (path, body, change) => {
      const { mine } = service();
      const created = await mine.post(path, body());
      expect(created.status, created.text).toBe(201);
      const at = String(created.headers.location);
      const read = await mine.get(at);
      expect(read.json).toEqual(created.json);
      const first = etagIn(read);
      expect(first).toMatch(/^"[\w-]{22}(\.[\w-]{11})?"$/);
      expect(etagIn(created)).toBe(first);

      const known = await mine.ask('GET', at, undefined, { 'if-none-match': first });
      expect(known).toMatchObject({ status: 304, text: '' });
      expect(etagIn(known)).toBe(first);

      // The tag as in compressed answers.
      const weak = `W/${first}`;
      const knownWeak = await mine.ask('GET', at, undefined, { 'if-none-match': weak });
      expect([knownWeak.status, etagIn(knownWeak)]).toEqual([304, weak]);

      const changed = await mine.ask('PATCH', at, change, { 'if-match': `"other", ${weak}` });
      expect(changed.status, changed.text).toBe(200);
      const second = etagIn(changed);
      expect(second).not.toBe(first);
      expect(etagIn(await mine.get(at))).toBe(second);
      expect((await mine.ask('GET', at, undefined, { 'if-none-match': first })).status).toBe(200);

      const late = await mine.ask('PATCH', at, change, { 'if-match': first });
      expect(late).toMatchObject({ status: 412, json: { attributes: { etag: second } } });
      expect(etagIn(late)).toBe(second);
      const lateDeletion = await mine.ask('DELETE', at, undefined, { 'if-match': first });
      expect(lateDeletion.status).toBe(412);
      expect(etagIn(await mine.get(at))).toBe(second);
      const deletion = await mine.ask('DELETE', at, undefined, { 'if-match': second });
      expect(deletion.status, deletion.text).toBe(204);
      expect(deletion.headers.etag).toBeUndefined();
    });

    it('let one of two concurrent updates of the same version through', async () => {
      const { mine } = service();
      const body = { name: 'a', request: { url: 'https://shop.test/' }, locations: PLACES };
      const created = await mine.post('/v1/checks/url', body);
      const at = String(created.headers.location);
      const names = ['b', 'c', 'd', 'e'];
      const replies = await Promise.all(
        names.map((name) => mine.ask('PATCH', at, { name }, { 'if-match': etagIn(created) })),
      );
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
      const winner = replies.find(({ status }) => status === 200);
      expect((await mine.get(at)).json.name).toBe(winner?.json.name);
    });

    it('let one of two concurrent updates of the same version at two replicas through', async () => {
      const { mine } = service();
      const replica = await startReplica(running());
      const { key } = (await mine.post('/v1/api-keys', { name: 'two', role: 'admin' })).json;
      const ports = [running().app.port, replica.app.port];
      for (const [path, body, change] of RESOURCES) {
        const created = await mine.post(path, body());
        const at = String(created.headers.location);
        const headers = { 'if-match': etagIn(created) };
        const replies = await Promise.all(
          [...ports, ...ports].map((port) =>
            askService(port, at, { key, method: 'PATCH', headers, body: change }),
          ),
        );
        const statuses = replies.map(({ status }) => status).sort();
        expect(statuses, path).toEqual([200, 412, 412, 412]);
        const winner = replies.find(({ status }) => status === 200);
        expect(etagIn(await mine.get(at)), path).toBe(winner && etagIn(winner));
      }
    });

    it('see a change that responses hide, even within the same millisecond', async () => {
      const { mine } = service();
      const key = 'HIDDEN';
      await mine.post('/v1/variables', { key, value: 'one', secret: true });
      const at = `/v1/variables/${key}`;
      const first = await mine.patch(at, { value: 'two' });
      const second = await mine.patch(at, { value: 'three' });
      expect(etagIn(second)).not.toBe(etagIn(first));
    });

    it('let a check be created only if its id is free, or changed only if it exists', async () => {
      const { mine } = service();
      const at = '/v1/checks/url/only-once';
      const body = { name: 'a', request: { url: 'https://shop.test/' }, locations: PLACES };
      const absent = await mine.ask('PUT', at, body, { 'if-match': '*' });
      expect(absent).toMatchObject({ status: 412, json: { attributes: { etag: null } } });
      const created = await mine.ask('PUT', at, body, { 'if-none-match': '*' });
      expect(created.status, created.text).toBe(200);
      expect((await mine.ask('PUT', at, body, { 'if-none-match': '*' })).status).toBe(412);
      expect((await mine.ask('PUT', at, body, { 'if-match': '*' })).status).toBe(200);
    });

    it.each(['/v1/incidents', '/v1/status-pages/incidents'])(
      'protect the updates of an incident of %s, by their own ETags and by that of the incident',
      async (path) => {
        const { mine } = service();
        const services = [(await mine.post('/v1/status-pages/services', { name: 'Shop' })).json.id];
        const body = path === '/v1/incidents' ? DASHBOARD_INCIDENT : { ...PAGE_INCIDENT, services };
        const incident = `${path}/${(await mine.post(path, body)).json.id}`;
        const updates = `${incident}/incident-updates`;
        const all = `${incident}?includeAllIncidentUpdates=true`;
        const send = (method: string, at: string, update: object | undefined, etag: string) =>
          mine.ask(method, at, update, { 'if-match': etag });
        const update = { status: 'IDENTIFIED', description: 'Found.' };

        const empty = etagIn(await mine.get(all));
        const added = await send('POST', updates, update, empty);
        expect(added.status, added.text).toBe(201);
        const twice = await send('POST', updates, update, empty);
        expect(twice.status).toBe(412);
        expect((await mine.get(all)).json.incidentUpdates).toHaveLength(2);

        const at = `${updates}/${added.json.id}`;
        const seen = etagIn(await mine.get(all));
        const changed = await send('PATCH', at, { description: 'It is the disk.' }, etagIn(added));
        expect(changed.status, changed.text).toBe(200);
        const late = await send('PATCH', at, { description: 'It is the cable.' }, etagIn(added));
        expect(late).toMatchObject({
          status: 412,
          json: { attributes: { etag: etagIn(changed) } },
        });
        expect((await send('PUT', at, update, seen)).status).toBe(412);
        expect((await send('DELETE', at, undefined, etagIn(added))).status).toBe(412);
        expect((await mine.get(all)).json.incidentUpdates[1].description).toBe('It is the disk.');

        const read = etagIn(await mine.get(all));
        expect((await send('PATCH', at, { status: 'MONITORING' }, read)).status).toBe(200);
        const deletion = await send('DELETE', at, undefined, etagIn(await mine.get(all)));
        expect(deletion.status, deletion.text).toBe(204);
      },
    );

    it('protect the role of a user, and the user from removal', async () => {
      const { mine } = service();
      const email = `person-${mine.accountId}@example.com`;
      const invited = await mine.post('/v1/invitations', { email, role: 'read' });
      const token = String(invited.json.url).split('/').at(-1);
      const body = { token, password: 'correct horse battery' };
      await running().app.ask('/v1/invitations/accept', { key: null, method: 'POST', body });
      const [{ id }] = (await mine.get('/v1/users')).json;
      const at = `/v1/users/${id}`;
      const first = etagIn(await mine.get(at));
      const changed = await mine.ask('PATCH', at, { role: 'run' }, { 'if-match': first });
      expect(changed.status, changed.text).toBe(200);
      const second = etagIn(changed);
      expect(etagIn(await mine.get(at))).toBe(second);
      for (const method of ['PUT', 'PATCH']) {
        const late = await mine.ask(method, at, { role: 'admin' }, { 'if-match': first });
        expect(late).toMatchObject({ status: 412, json: { attributes: { etag: second } } });
      }
      expect((await mine.ask('DELETE', at, undefined, { 'if-match': first })).status).toBe(412);
      expect((await mine.get(at)).json.role).toBe('run');
      expect((await mine.ask('DELETE', at, undefined, { 'if-match': second })).status).toBe(204);
    });

    it('allow a change of a user after a sign-in of that user, and show the sign-in to readers', async () => {
      const { mine } = service();
      const email = `active-${mine.accountId}@example.com`;
      const invited = await mine.post('/v1/invitations', { email, role: 'read' });
      const token = String(invited.json.url).split('/').at(-1);
      const send = (path: string, body: object) =>
        running().app.ask(path, { key: null, method: 'POST', body });
      const password = 'correct horse battery';
      await send('/v1/invitations/accept', { token, password });
      const [{ id }] = (await mine.get('/v1/users')).json;
      const at = `/v1/users/${id}`;
      const first = etagIn(await mine.get(at));
      running().clock.spend(1000);
      expect((await send('/v1/session', { email, password })).status).toBe(204);
      const read = await mine.ask('GET', at, undefined, { 'if-none-match': first });
      expect(read.status).toBe(200);
      const changed = await mine.ask('PATCH', at, { role: 'run' }, { 'if-match': first });
      expect(changed).toMatchObject({ status: 200, json: { role: 'run' } });
      const late = await mine.ask('PATCH', at, { role: 'admin' }, { 'if-match': first });
      expect(late.status).toBe(412);
    });

    it('protect the alert settings of the account', async () => {
      const { mine } = service();
      const at = `/v1/accounts/${mine.accountId}/alert-settings`;
      const known = { 'if-match': etagIn(await mine.get(at)) };
      const change = { reminders: { amount: 3, interval: 10 } };
      expect((await mine.ask('PUT', at, change, known)).status).toBe(200);
      expect((await mine.ask('PUT', at, change, known)).status).toBe(412);
    });

    it.each(RESOURCES)('are refused in a POST to %s, which creates', async (path, body) => {
      const { mine } = service();
      const before = (await mine.get(path)).json;
      for (const header of ['If-Match', 'If-None-Match']) {
        const reply = await mine.ask('POST', path, body(), { [header]: '*' });
        expect(reply).toMatchObject({ status: 400, json: { attributes: { header } } });
      }
      expect((await mine.get(path)).json).toEqual(before);
    });

    it('are refused without the quotation marks of an ETag', async () => {
      const { mine } = service();
      const { json } = await mine.post('/v1/snippets', { name: 'quoted', script: '' });
      const at = `/v1/snippets/${json.id}`;
      const etag = etagIn(await mine.get(at));
      for (const given of [etag.slice(1, -1), `${etag} ${etag}`, `${etag},`]) {
        const reply = await mine.ask('PATCH', at, { script: 'x' }, { 'if-match': given });
        expect([given, reply.status]).toEqual([given, 400]);
        expect(reply.json.message).toMatch(/^If-Match must be \* or the ETag/);
      }
      const listed = { 'if-match': `"other", W/${etag}` };
      expect((await mine.ask('PATCH', at, { script: '' }, listed)).status).toBe(200);
      expect((await mine.ask('DELETE', at, undefined, { 'if-match': 'x' })).status).toBe(400);
      expect((await mine.get(at)).json.script).toBe('');
    });

    it('are refused where they would be ignored', async () => {
      const { mine } = service();
      const reply = await mine.ask(
        'POST',
        '/v1/api-keys',
        { name: 'a', role: 'read' },
        {
          'if-match': '*',
        },
      );
      expect(reply).toMatchObject({ status: 400, json: { attributes: { header: 'If-Match' } } });
    });
  });
});
