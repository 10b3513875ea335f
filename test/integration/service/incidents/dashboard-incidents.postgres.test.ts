import { describe, expect, it } from 'vitest';
import { MAX_INCIDENT_UPDATES } from '../../../../src/model/incident/dashboard-incident.ts';
import { databases } from '../../../support/database/databases.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const PATH = '/v1/incidents';
const NOBODY = '00000000-0000-4000-8000-000000000000';
const FIRST = { status: 'INVESTIGATING', description: 'Looking into it' };

/**
 * Incidents of dashboards through the API: src/service/README.md, "Status pages and incidents",
 * 4.9, src/service/README.md, "Status pages and incidents".
 */
describe.each(databases)('on %s', (kind) => {
  describe('incidents of dashboards', () => {
    const service = useAccounts(useRunningService(kind));

    it('have every field and every default', async () => {
      const { mine, clock } = service();
      clock.spend(999);
      const created = await mine.post(PATH, { name: HOSTILE, impact: 'MAJOR' });
      expect(created.status).toBe(201);
      const now = new Date(clock.wallMs()).toISOString();
      expect(created.json).toEqual({
        id: expect.stringMatching(/^[0-9a-f]{8}-/),
        name: HOSTILE,
        impact: 'MAJOR',
        dashboardId: null,
        startedAt: now.slice(0, 19).replace('T', ' '),
        stoppedAt: null,
        incidentUpdates: [],
        created_at: now,
        updated_at: now,
      });
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it('are read with the first update, or with all updates', async () => {
      const { mine } = service();
      const incidentUpdates = [
        FIRST,
        { status: 'IDENTIFIED', description: HOSTILE },
        { status: 'RESOLVED', description: 'Gone' },
      ];
      const created = await mine.post(PATH, {
        name: 'Slow',
        impact: 'MAINTENANCE',
        dashboardId: 42,
        startedAt: '2026-01-31 13:00:05',
        stoppedAt: '2026-02-01',
        incidentUpdates,
      });
      const { id } = created.json;
      expect(created.json).toMatchObject({
        dashboardId: 42,
        startedAt: '2026-01-31 13:00:05',
        stoppedAt: '2026-02-01 00:00:00',
      });
      expect(created.json.incidentUpdates).toEqual(
        incidentUpdates.map((update) => ({
          ...update,
          id: expect.any(String),
          incidentId: id,
          created_at: created.json.created_at,
          updated_at: null,
        })),
      );
      const first = { ...created.json, incidentUpdates: created.json.incidentUpdates.slice(0, 1) };
      const read = async (query: string): Promise<unknown> =>
        (await mine.get(`${PATH}/${id}${query}`)).json;
      expect(await read('')).toEqual(first);
      expect(await read('?includeAllIncidentUpdates=false')).toEqual(first);
      expect(await read('?includeAllIncidentUpdates=true')).toEqual(created.json);
      expect((await mine.get(PATH)).json).toEqual([first]);
      expect((await mine.get(`${PATH}/${id}?includeAllIncidentUpdates=x`)).status).toBe(400);
    });

    it.each([
      ['2026-01-31', '2026-01-31 00:00:00'],
      ['2026-01-31T13:00:05.999Z', '2026-01-31 13:00:05'],
      ['2026-01-31T23:30:00-02:00', '2026-02-01 01:30:00'],
      ['1970-01-01 00:00:00', '1970-01-01 00:00:00'],
      ['9999-12-31 23:59:59', '9999-12-31 23:59:59'],
    ])('start at %s, which is %s', async (startedAt, shown) => {
      const { mine } = service();
      const created = await mine.post(PATH, { name: 'Slow', impact: 'MINOR', startedAt });
      expect(created.json.startedAt).toBe(shown);
      expect((await mine.get(`${PATH}/${created.json.id}`)).json.startedAt).toBe(shown);
    });

    it.each([
      [{ name: '' }, 'body.name'],
      [{ impact: 'CRITICAL' }, 'body.impact must be one of MAINTENANCE, MAJOR, MINOR'],
      [{ impact: undefined }, 'body.impact'],
      [{ dashboardId: 'x' }, 'body.dashboardId'],
      [{ dashboardId: 0 }, 'body.dashboardId'],
      [{ dashboardId: 1.5 }, 'body.dashboardId'],
      [{ startedAt: null }, 'body.startedAt'],
      [{ startedAt: '' }, 'body.startedAt'],
      [{ startedAt: '2026-02-30 00:00:00' }, 'body.startedAt must be a day'],
      [{ startedAt: '2026-01-01 24:00:00' }, 'body.startedAt must be a day'],
      [{ startedAt: '1969-12-31' }, 'body.startedAt must be a day'],
      [{ startedAt: '9999-12-31T23:59:59-01:00' }, 'body.startedAt must be a day'],
      [{ startedAt: 'yesterday' }, 'body.startedAt must be a day'],
      [{ startedAt: '2026-01-02', stoppedAt: '2026-01-01' }, 'body.stoppedAt must not be before'],
      [{ stoppedAt: '2000-01-01' }, 'body.stoppedAt must not be before'],
      [{ incidentUpdates: [{ ...FIRST, notifySubscribers: true }] }, 'notifySubscribers'],
      [
        { incidentUpdates: Array.from({ length: MAX_INCIDENT_UPDATES + 1 }, () => FIRST) },
        'body.incidentUpdates',
      ],
      [{ severity: 'MINOR' }, 'body.severity'],
    ])('refuse %j', async (fields, path) => {
      const { mine } = service();
      const refused = await mine.post(PATH, { name: 'Slow', impact: 'MINOR', ...fields });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
      expect((await mine.get(PATH)).json).toEqual([]);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine, clock } = service();
      const { json: before } = await mine.post(PATH, {
        name: 'Slow',
        impact: 'MINOR',
        startedAt: '2026-01-01',
        incidentUpdates: [FIRST],
      });
      const path = `${PATH}/${before.id}`;
      clock.spend(1000);
      const changed = await mine[method](path, {
        stoppedAt: '2026-01-01 00:00:00',
        dashboardId: 1,
      });
      expect(changed.json).toEqual({
        ...before,
        stoppedAt: '2026-01-01 00:00:00',
        dashboardId: 1,
        updated_at: new Date(clock.wallMs()).toISOString(),
      });
      const again = await mine[method](path, changed.json);
      expect(again.json).toEqual({ ...changed.json, updated_at: again.json.updated_at });
      const late = await mine[method](path, { startedAt: '2026-01-02' });
      expect(problemsIn(late)[0]).toContain('body.stoppedAt must not be before startedAt');
      expect((await mine[method](path, { id: NOBODY })).status).toBe(400);
      expect((await mine.get(path)).json).toEqual(again.json);
      const open = await mine[method](path, { stoppedAt: null });
      expect(open.json.stoppedAt).toBeNull();
    });

    it('have updates, which can be added, changed and deleted', async () => {
      const { mine, clock } = service();
      const { json: incident } = await mine.post(PATH, { name: 'Slow', impact: 'MINOR' });
      const path = `${PATH}/${incident.id}`;
      clock.spend(1000);
      const added = await mine.post(`${path}/incident-updates`, FIRST);
      expect(added.status).toBe(201);
      const now = new Date(clock.wallMs()).toISOString();
      expect(added.json).toEqual({
        id: expect.any(String),
        incidentId: incident.id,
        ...FIRST,
        created_at: now,
        updated_at: null,
      });
      const update = `${path}/incident-updates/${added.json.id}`;
      clock.spend(1000);
      const later = new Date(clock.wallMs()).toISOString();
      const changed = await mine.put(update, { ...added.json, status: 'RESOLVED' });
      expect(changed.json).toEqual({ ...added.json, status: 'RESOLVED', updated_at: later });
      clock.spend(1000);
      const last = new Date(clock.wallMs()).toISOString();
      expect((await mine.patch(update, { description: HOSTILE })).json).toEqual({
        ...changed.json,
        description: HOSTILE,
        updated_at: last,
      });
      expect((await mine.patch(update, { status: 'OPEN' })).status).toBe(400);
      expect((await mine.get(path)).json).toMatchObject({
        updated_at: last,
        incidentUpdates: [{ id: added.json.id, status: 'RESOLVED', description: HOSTILE }],
      });
      expect((await mine.delete(update)).status).toBe(204);
      expect((await mine.delete(update)).status).toBe(404);
      expect((await mine.get(path)).json.incidentUpdates).toEqual([]);
    });

    it('refuse more updates than the limit', async () => {
      const { mine } = service();
      const { json: incident } = await mine.post(PATH, {
        name: 'Slow',
        impact: 'MINOR',
        incidentUpdates: Array.from({ length: MAX_INCIDENT_UPDATES }, () => FIRST),
      });
      const refused = await mine.post(`${PATH}/${incident.id}/incident-updates`, FIRST);
      expect(refused.status).toBe(409);
      expect(refused.json.attributes).toEqual({ limit: MAX_INCIDENT_UPDATES });
    });

    it('are deleted, and not found by another account', async () => {
      const { mine, theirs, clientWith } = service();
      const { json: incident } = await mine.post(PATH, {
        name: 'Slow',
        impact: 'MINOR',
        incidentUpdates: [FIRST],
      });
      const path = `${PATH}/${incident.id}`;
      const update = `${path}/incident-updates/${incident.incidentUpdates[0].id}`;
      const runner = await clientWith('run');
      for (const [client, status] of [
        [theirs, 404],
        [runner, 403],
      ] as const) {
        expect((await client.put(path, { name: 'x' })).status).toBe(status);
        expect((await client.patch(path, { name: 'x' })).status).toBe(status);
        expect((await client.delete(path)).status).toBe(status);
        expect((await client.post(`${path}/incident-updates`, FIRST)).status).toBe(status);
        expect((await client.put(update, FIRST)).status).toBe(status);
        expect((await client.delete(update)).status).toBe(status);
      }
      expect((await runner.post(PATH, { name: 'x', impact: 'MINOR' })).status).toBe(403);
      expect((await runner.get(path)).json).toEqual(incident);
      expect((await theirs.get(path)).status).toBe(404);
      expect((await theirs.get(PATH)).json).toEqual([]);
      expect((await mine.delete(path)).status).toBe(204);
      expect((await mine.get(path)).status).toBe(404);
      expect((await mine.delete(path)).status).toBe(404);
    });

    it('are listed oldest first, in pages', async () => {
      const { mine } = service();
      for (const name of ['a', 'b', 'c']) await mine.post(PATH, { name, impact: 'MINOR' });
      const names = async (query: string): Promise<unknown> =>
        (await mine.get(`${PATH}${query}`)).json.map(({ name }: { name: string }) => name);
      expect(await names('')).toEqual(['a', 'b', 'c']);
      expect(await names('?limit=2&page=2')).toEqual(['c']);
    });
  });
});
