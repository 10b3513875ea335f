import { describe, expect, it } from 'vitest';
import { unlimited } from '../../../../src/service/accounts/allowance.ts';
import { apiRoutes } from '../../../../src/service/api-routes.ts';
import { createHeartbeatFeatures } from '../../../../src/service/heartbeats/create-feature.ts';
import { ServiceAddress } from '../../../../src/service/http/access/service-address.ts';
import { createAgentClocks } from '../../../../src/service/results/intake/agent-clocks.ts';
import { createResultIntake } from '../../../../src/service/results/intake/intake.ts';
import { createResultPartitions } from '../../../../src/service/results/partitions.sql.ts';
import { databases, silentLog, useMigratedStore } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { useAgentFixture } from '../../../support/service/agent-fixture.ts';
import { HOURLY, NO_ALERTS, PATH } from '../../../support/service/heartbeats-fixture.ts';
import { resultOfRun } from '../../../support/service/results-fixture.ts';
import { startServiceApp } from '../../../support/service/service-app.ts';
import { testScrubbing } from '../../../support/service/service-features.ts';
import {
  HOSTILE,
  problemsIn,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const BACKUP = { name: 'Backup', heartbeat: HOURLY };
const TCP = { locations: ['eu-west-1'], request: { hostname: 'example.com', port: 22 } };

/** Heartbeat checks through the API, at their own routes and at those of all checks. */
describe.each(databases)('on %s', (kind) => {
  describe('heartbeat checks', () => {
    const running = useRunningService(kind);
    const service = useAccounts(running);

    it('have every default and a ping URL', async () => {
      const { mine, clock } = service();
      const created = await mine.post(PATH, BACKUP);
      expect(created.status).toBe(201);
      const { pingToken } = created.json.heartbeat;
      expect(created.json).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        checkType: 'HEARTBEAT',
        name: 'Backup',
        activated: true,
        muted: false,
        tags: [],
        alertSettings: expect.objectContaining({ escalationType: 'RUN_BASED' }),
        useGlobalAlertSettings: true,
        groupId: null,
        alertChannelSubscriptions: [],
        description: null,
        logicalId: null,
        alertChannels: { email: [], webhook: [], slack: [], sms: [] },
        created_at: new Date(clock.wallMs()).toISOString().slice(0, 10),
        updated_at: null,
        lastPingAt: null,
        heartbeat: {
          ...HOURLY,
          pingToken: expect.stringMatching(/^[0-9a-f]{40}$/),
          pingUrl: `http://127.0.0.1:${running().app.port}/heartbeat/${pingToken}`,
        },
      });
      const { id } = created.json;
      expect((await mine.get(`${PATH}/${id}`)).json).toEqual(created.json);
      expect((await mine.get(`/v1/checks/${id}`)).json).toEqual(created.json);
      expect((await mine.get(`/v1/check-statuses/${id}`)).json).toBeNull();
    });

    it('show when the last ping arrived, which does not outdate an ETag for writing', async () => {
      const { mine, clock } = service();
      const { id, heartbeat } = (await mine.post(PATH, BACKUP)).json;
      const before = await mine.get(`${PATH}/${id}`);
      await running().app.ask(`/heartbeat/${heartbeat.pingToken}`, { key: null });
      const after = await mine.get(`${PATH}/${id}`);
      expect(after.json).toEqual({
        ...before.json,
        lastPingAt: new Date(clock.wallMs()).toISOString(),
      });
      expect(after.headers.etag).not.toBe(before.headers.etag);
      expect((await mine.get(`/v1/checks/${id}`)).json).toEqual(after.json);
      const known = { 'if-match': String(before.headers.etag) };
      const changed = await mine.ask('PUT', `${PATH}/${id}`, after.json, known);
      expect(changed.status, changed.text).toBe(200);
      expect(changed.json.lastPingAt).toBe(after.json.lastPingAt);
    });

    it('have a ping URL below PUBLIC_URL, whatever the Host header', async () => {
      const { mine } = service();
      const { store, clock, features } = running();
      const publicUrl = 'https://vedette.example.org/in';
      const app = await startServiceApp(
        apiRoutes(
          { ...features, serviceAddress: new ServiceAddress(publicUrl) },
          new AbortController().signal,
        ),
        { store, clock, authenticator: features.apiKeys, locationKeys: features.locationKeys },
      );
      const { key } = await features.apiKeys.create(mine.accountId, { name: 'k', role: 'write' });
      const headers = { host: 'evil.example.net' };
      const made = await app.ask(PATH, { key, method: 'POST', body: BACKUP, headers });
      expect(made.status, made.text).toBe(201);
      const { id, heartbeat } = made.json;
      expect(heartbeat.pingUrl).toBe(`${publicUrl}/heartbeat/${heartbeat.pingToken}`);
      for (const path of [`${PATH}/${id}`, `/v1/checks/${id}`]) {
        const read = await app.ask(path, { key, headers });
        expect(read.json.heartbeat).toEqual(heartbeat);
      }
      await app.close();
    });

    it.each([
      ['HTTP/1.0', ''],
      ['HTTP/1.1\r\nHost:', ''],
      ['HTTP/1.1\r\nHost: evil.example.net/?a=', ''],
      ['HTTP/1.1\r\nHost: here.test:81\r\nX-Forwarded-Host: evil.test', 'http://here.test:81'],
    ])('have a ping URL at the address by which %j reached the service', async (head, origin) => {
      const { mine } = service();
      const { features, app } = running();
      const { id, heartbeat } = (await mine.post(PATH, BACKUP)).json;
      const { key } = await features.apiKeys.create(mine.accountId, { name: 'k', role: 'write' });
      const reply = await app.raw(
        `GET ${PATH}/${id} ${head}\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
      );
      expect(reply).toContain(`"pingUrl":"${origin}/heartbeat/${heartbeat.pingToken}"`);
    });

    it('return every field as it was given', async () => {
      const { mine } = service();
      const { json: group } = await mine.post('/v1/check-groups', { name: 'Jobs' });
      const { json: jobs } = await mine.post('/v1/status-pages/services', { name: 'Jobs' });
      const fields = {
        name: HOSTILE,
        activated: false,
        muted: true,
        tags: [HOSTILE],
        alertSettings: { escalationType: 'TIME_BASED' },
        useGlobalAlertSettings: false,
        groupId: group.id,
        triggerIncident: {
          serviceId: jobs.id,
          severity: 'MAJOR',
          name: 'Down',
          description: '',
          notifySubscribers: true,
        },
        description: HOSTILE,
        heartbeat: { period: 365, periodUnit: 'DAYS', grace: 0, graceUnit: 'SECONDS' },
      };
      const created = await mine.post(PATH, fields);
      expect(created.json).toMatchObject(fields);
      expect((await mine.get(`${PATH}/${created.json.id}`)).json).toEqual(created.json);
    });

    it.each([
      [{ name: '' }, 'body.name'],
      [{ name: undefined }, 'body.name'],
      [{ heartbeat: undefined }, 'body.heartbeat'],
      [{ heartbeat: { ...HOURLY, period: 0 } }, 'body.heartbeat.period'],
      [{ heartbeat: { ...HOURLY, period: 366, periodUnit: 'DAYS' } }, 'body.heartbeat.period'],
      [{ heartbeat: { ...HOURLY, graceUnit: 'WEEKS' } }, 'body.heartbeat.graceUnit'],
      [{ heartbeat: { ...HOURLY, pingToken: 'f'.repeat(40) } }, 'body.heartbeat.pingToken'],
      [{ groupId: 2 ** 40 }, 'body.groupId'],
      [
        { triggerIncident: { serviceId: 's', severity: 'MAJOR', name: 'Down' } },
        'body.triggerIncident.serviceId',
      ],
      [{ alertChannelSubscriptions: [{ alertChannelId: 2 ** 40 }] }, 'body.alertChannelSubscr'],
      [{ checkType: 'URL' }, 'body.checkType'],
      [{ frequency: 5 }, 'body.frequency'],
      [{ locations: ['eu-west-1'] }, 'body.locations'],
      [{ request: {} }, 'body.request'],
      [{ id: 'mine' }, 'body.id'],
    ])('refuse %j', async (fields, path) => {
      const { mine } = service();
      const refused = await mine.post(PATH, { ...BACKUP, ...fields });
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join('\n')).toContain(path);
      expect((await mine.get(PATH)).json).toEqual([]);
    });

    it.each(['put', 'patch'] as const)('%s changes the given fields alone', async (method) => {
      const { mine, clock } = service();
      const { json: before } = await mine.post(PATH, { ...BACKUP, tags: ['a'] });
      clock.spend(1000);
      const daily = { ...HOURLY, periodUnit: 'DAYS' };
      const path = `${PATH}/${before.id}`;
      const changed = await mine[method](path, { muted: true, heartbeat: daily });
      expect(changed.json).toEqual({
        ...before,
        muted: true,
        heartbeat: { ...before.heartbeat, ...daily },
        updated_at: new Date(clock.wallMs()).toISOString(),
      });
      // Each write moves updated_at on, also within a millisecond.
      const repeated = await mine[method](path, changed.json);
      const later = expect.not.stringMatching(changed.json.updated_at);
      expect(repeated.json).toEqual({ ...changed.json, updated_at: later });
      expect((await mine[method](path, { id: 'other' })).status).toBe(400);
      expect((await mine[method](path, { heartbeat: { period: 5 } })).status).toBe(400);
      expect((await mine[method](path, { frequency: 5 })).status).toBe(400);
      expect((await mine.get(path)).json).toEqual(repeated.json);
    });

    it('are created by PUT under a given id, but not over another check', async () => {
      const { mine } = service();
      expect(problemsIn(await mine.put(`${PATH}/backup`, { name: 'Backup' }))).toEqual([
        'body.heartbeat is missing: no check has the id in the path, and a new one needs this field',
      ]);
      const made = await mine.put(`${PATH}/backup`, { heartbeat: HOURLY });
      expect(made.json).toMatchObject({ id: 'backup', name: 'backup', checkType: 'HEARTBEAT' });
      await mine.put('/v1/checks/tcp/ssh', TCP);
      const refused = await mine.put(`${PATH}/ssh`, { heartbeat: HOURLY });
      expect(refused.status).toBe(409);
      expect(refused.json.attributes).toEqual({ checkType: 'TCP' });
      expect((await mine.put('/v1/checks/tcp/backup', TCP)).status).toBe(409);
    });

    it('are listed with all checks, by their type and by themselves', async () => {
      const { mine, clock } = service();
      await mine.put('/v1/checks/tcp/ssh', TCP);
      clock.spend(1000);
      await mine.put(`${PATH}/backup`, { heartbeat: HOURLY, tags: ['night'] });
      const idsIn = async (path: string): Promise<string[]> =>
        (await mine.get(path)).json.map(({ id }: { id: string }) => id);
      expect(await idsIn('/v1/checks')).toEqual(['ssh', 'backup']);
      expect(await idsIn('/v1/checks?type=HEARTBEAT')).toEqual(['backup']);
      expect(await idsIn('/v1/checks?type=TCP')).toEqual(['ssh']);
      expect(await idsIn(PATH)).toEqual(['backup']);
      expect(await idsIn(`${PATH}?tag=day`)).toEqual([]);
      expect(await idsIn('/v1/checks/tcp')).toEqual(['ssh']);
    });

    it('refuse changes on the routes of other checks, and runs', async () => {
      const { mine } = service();
      await mine.put(`${PATH}/backup`, { heartbeat: HOURLY });
      for (const method of ['put', 'patch'] as const) {
        const refused = await mine[method]('/v1/checks/backup', { muted: true });
        expect(refused.status).toBe(409);
        expect(refused.json.message).toContain(`${PATH}/backup`);
      }
      const made = await mine.post('/v1/checks', { ...BACKUP, checkType: 'HEARTBEAT' });
      expect(problemsIn(made).join()).toContain(`POST ${PATH}`);
      expect((await mine.put('/v1/checks/heartbeats', {})).status).toBe(400);
      const run = await mine.post('/v1/checks/backup/run', {});
      expect(run.status).toBe(409);
      expect(run.json.message).toContain('pingUrl');
    });

    it('get a new token, and refuse the old one', async () => {
      const { mine } = service();
      const { app } = running();
      const { json: before } = await mine.put(`${PATH}/backup`, { heartbeat: HOURLY });
      const ping = (token: string) => app.ask(`/heartbeat/${token}`, { key: null });
      expect((await ping(before.heartbeat.pingToken)).status).toBe(200);
      const renewed = await mine.post(`${PATH}/backup/ping-token`);
      expect(renewed.status).toBe(200);
      const { pingToken } = renewed.json.heartbeat;
      expect(pingToken).not.toBe(before.heartbeat.pingToken);
      expect((await ping(before.heartbeat.pingToken)).status).toBe(404);
      expect((await ping(pingToken)).status).toBe(200);
      expect((await mine.get(`${PATH}/backup`)).json).toEqual(renewed.json);
    });

    it.each([PATH, '/v1/checks'])('are gone when they are deleted at %s', async (path) => {
      const { mine } = service();
      const { json } = await mine.put(`${PATH}/backup`, { heartbeat: HOURLY });
      expect((await mine.delete(`${path}/backup`)).status).toBe(204);
      expect((await mine.get(`${PATH}/backup`)).status).toBe(404);
      const { app } = running();
      const pinged = await app.ask(`/heartbeat/${json.heartbeat.pingToken}`, { key: null });
      expect(pinged.status).toBe(404);
    });

    it('are not found by another account, nor changed by keys without write permission', async () => {
      const { mine, theirs, clientWith } = service();
      await mine.put(`${PATH}/backup`, { heartbeat: HOURLY });
      await mine.put('/v1/checks/tcp/ssh', TCP);
      const reader = await clientWith('read');
      for (const [client, status] of [
        [theirs, 404],
        [reader, 403],
      ] as const) {
        expect((await client.patch(`${PATH}/backup`, { muted: true })).status).toBe(status);
        expect((await client.delete(`${PATH}/backup`)).status).toBe(status);
        expect((await client.post(`${PATH}/backup/ping-token`)).status).toBe(status);
      }
      expect((await theirs.get(`${PATH}/backup`)).status).toBe(404);
      expect((await theirs.get(`${PATH}/backup/events`)).status).toBe(404);
      expect((await reader.get(`${PATH}/backup`)).status).toBe(200);
      expect((await reader.post(PATH, BACKUP)).status).toBe(403);
      expect((await mine.get(`${PATH}/ssh`)).status).toBe(404);
      expect((await mine.get(`${PATH}/ssh/events`)).status).toBe(404);
      expect((await mine.patch(`${PATH}/ssh`, { muted: true })).status).toBe(404);
      expect((await mine.delete(`${PATH}/ssh`)).status).toBe(404);
    });
  });

  describe('heartbeat checks and agents', () => {
    const store = useMigratedStore(kind);
    const fixture = useAgentFixture(store);

    it('are independent, also where the group of a heartbeat has locations', async () => {
      const { accountId, clock, cellar, groups, checkRuns, assigner, agent, addChecks } = fixture();
      const parts = { store: store(), clock, log: silentLog(), retentionDays: 30 };
      const rest = {
        rollUpRetentionDays: 400,
        allowance: unlimited,
        alerts: NO_ALERTS,
        ids: () => 'event',
      };
      const { heartbeats } = createHeartbeatFeatures({ ...parts, ...rest });
      const group = await groups.create(accountId, { name: 'g', privateLocations: ['cellar'] });
      await addChecks('check', 1, { groupId: group.id });
      const input = { heartbeat: HOURLY, groupId: group.id };
      await heartbeats.put({ accountId, id: 'backup' }, input, { autoAssignAlerts: false });
      const a = agent('agent-a');
      const polled = a.poll();
      // Held until its checks are given to it.
      await eventually(() => clock.pendingTimers === 1);
      await assigner.pass();
      await polled;
      await a.look();
      expect(a.ids).toEqual(['check-0']);
      const partitions = createResultPartitions(parts);
      const intake = createResultIntake({
        storage: { watch: (storing) => storing },
        ...parts,
        partitions,
        checkRuns,
        agentClocks: createAgentClocks(parts),
        scrubbing: testScrubbing(clock),
      });
      const slot = clock.wallMs() - 60_000;
      const result = resultOfRun({ checkId: 'backup', slot, runLocation: 'cellar' });
      const answer = await intake.take(cellar.caller, {
        agentId: 'agent-a',
        epoch: 1,
        results: [result],
        missed: [],
      });
      expect(answer.accepted).toEqual([]);
      expect(answer.rejected).toMatchObject([{ code: 'unknown_check' }]);
    });
  });
});
