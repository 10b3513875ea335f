import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHECK_FEATURE_NAMES } from '../../../../src/model/check/check-features.ts';
import type { Role } from '../../../../src/model/enums.ts';
import { pollRoutes } from '../../../../src/service/agents/poll.routes.ts';
import { locationAgentsRoutes } from '../../../../src/service/agents/routes.ts';
import { createApiKeys } from '../../../../src/service/api-keys/api-keys.ts';
import { createLocationKeys } from '../../../../src/service/private-locations/location-keys.ts';
import { pollResponseSchema } from '../../../../src/wire/v1/poll.ts';
import { useMigratedStore } from '../../../support/database/databases.ts';
import { eventually } from '../../../support/eventually.ts';
import { useAgentFixture } from '../../../support/service/agent-fixture.ts';
import {
  type Ask,
  type Reply,
  type ServiceApp,
  startServiceApp,
} from '../../../support/service/service-app.ts';

const store = useMigratedStore('pglite');
const HEADERS = { 'x-agent-protocol': '1' };

describe('agents over HTTP', () => {
  const fixtureOf = useAgentFixture(store);
  let app: ServiceApp;
  let locationKey: string;

  beforeEach(async () => {
    const { clock, agents, accountId, cellar } = fixtureOf();
    const parts = { store: store(), clock, ids: randomUUID };
    const locationKeys = createLocationKeys(parts);
    locationKey = (await locationKeys.create(accountId, cellar.id)).key;
    const stopping = new AbortController();
    app = {
      ...(await startServiceApp(
        [pollRoutes({ agents, stopping: stopping.signal }), locationAgentsRoutes({ agents })],
        { authenticator: createApiKeys(parts), locationKeys },
      )),
      stopping,
    };
  });
  afterEach(() => app.close());

  const post = (path: string, body: unknown, ask: Ask = {}): Promise<Reply> =>
    app.ask(path, { key: locationKey, method: 'POST', headers: HEADERS, body, ...ask });

  const keyWith = async (role: Role): Promise<string> => {
    const { clock, accountId } = fixtureOf();
    const keys = createApiKeys({ store: store(), clock, ids: randomUUID });
    return (await keys.create(accountId, { name: role, role })).key;
  };

  it('poll with the key of their location, and with no other', async () => {
    const fixture = fixtureOf();
    const message = fixture.agent('agent-a').request();
    fixture.startAssigner();
    const answer = await post('/agent/v1/poll', message);
    expect(answer.status).toBe(200);
    expect(pollResponseSchema.parse(answer.json)).toMatchObject({ full: true, epoch: 1 });
    expect((await post('/agent/v1/poll', message, { key: await keyWith('admin') })).status).toBe(
      401,
    );
    expect((await post('/agent/v1/poll', message, { headers: {} })).status).toBe(426);
    expect((await post('/agent/v1/poll', { ...message, agentId: '../a' })).status).toBe(400);
    expect((await post('/agent/v1/poll', { ...message, page: 'x' })).json.attributes).toMatchObject(
      { problems: [{ path: 'body.page' }] },
    );
  });

  it('are answered with the reason', async () => {
    const fixture = fixtureOf();
    fixture.startAssigner();
    const [old, restarted] = ['first', 'second'].map((instanceId) =>
      fixture.agent('agent-a', { instanceId }).request(),
    );
    await post('/agent/v1/poll', old);
    await post('/agent/v1/poll', restarted);
    const told = await post('/agent/v1/poll', { ...old, epoch: 1 });
    expect(told.status).toBe(409);
    expect(told.json.attributes).toEqual({ reason: 'replaced' });
  });

  it('send and get gzip for long bodies', async () => {
    const fixture = fixtureOf();
    await fixture.addChecks('check', 50);
    fixture.startAssigner();
    const sent = request({
      host: '127.0.0.1',
      port: app.port,
      path: '/agent/v1/poll',
      method: 'POST',
      agent: false,
      headers: {
        ...HEADERS,
        authorization: `Bearer ${locationKey}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'accept-encoding': 'gzip, deflate',
      },
    });
    sent.end(gzipSync(JSON.stringify(fixture.agent('agent-a').request())));
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const packed = Buffer.concat(chunks);
    expect(response.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
      'content-length': String(packed.length),
    });
    const json = JSON.parse(String(await promisify(gunzip)(packed)));
    expect(pollResponseSchema.parse(json).upsert).toHaveLength(50);
    expect(packed.length).toBeLessThan(JSON.stringify(json).length / 3);
  });

  it('end a held poll by hanging up', async () => {
    const fixture = fixtureOf();
    const a = fixture.agent('agent-a');
    await a.look();
    await fixture.assigner.pass();
    await a.look();
    const sent = request({
      host: '127.0.0.1',
      port: app.port,
      path: '/agent/v1/poll',
      method: 'POST',
      agent: false,
      headers: {
        ...HEADERS,
        authorization: `Bearer ${locationKey}`,
        'content-type': 'application/json',
      },
    });
    const cut = once(sent, 'error');
    sent.end(JSON.stringify(a.request()));
    await eventually(() => fixture.clock.pendingTimers > 0);
    sent.destroy(new Error('gone'));
    await cut;
    // The test's own time limit ends the wait for it.
    await eventually(() => fixture.clock.pendingTimers === 0);
  });

  it('are answered at once when the service stops', async () => {
    const fixture = fixtureOf();
    const a = fixture.agent('agent-a');
    await a.look();
    await fixture.assigner.pass();
    await a.look();
    const answer = post('/agent/v1/poll', a.request());
    await eventually(() => fixture.clock.pendingTimers > 0);
    app.stopping.abort();
    const { status, json } = await answer;
    expect(status).toBe(200);
    expect(json).toMatchObject({ full: false, upsert: [], remove: [], revision: a.revision });
  });

  it('return their lease, and are listed for all who may read', async () => {
    const fixture = fixtureOf();
    const a = fixture.agent('agent-a');
    await fixture.addChecks('check', 3);
    await a.look();
    await fixture.assigner.pass();
    const path = `/v1/private-locations/${fixture.cellar.id}/agents`;
    const key = await keyWith('read');
    // Those of older releases report neither their clock nor their health.
    const unknown = { clockAheadMs: null, health: null };
    expect((await app.ask(path, { key })).json).toMatchObject([unknown]);
    const health = {
      maxLatenessMs: 12,
      missedSlots: 3,
      spoolRecords: 4,
      spoolBytes: 900,
      spoolOldestMs: null,
    };
    await a.ask({ clockAheadMs: -1500, health });
    const [listed] = (await app.ask(path, { key })).json;
    expect(listed).toEqual({
      id: 'agent-a',
      version: '1.2.3',
      live: true,
      checks: 3,
      running: 1,
      queued: 2,
      concurrency: 100,
      countedConcurrency: 100,
      clockAheadMs: -1500,
      health,
      capabilities: {
        types: ['URL', 'API', 'TCP', 'DNS', 'ICMP'],
        ipv6: true,
        icmp: true,
        capture: false,
        trials: false,
        features: [...CHECK_FEATURE_NAMES],
      },
      refused: [],
      leaseUntil: expect.stringMatching(/^\d{4}-.*Z$/),
      firstSeen: expect.stringMatching(/^\d{4}-.*Z$/),
      lastSeen: expect.stringMatching(/^\d{4}-.*Z$/),
      endedAt: null,
      lease_until: expect.stringMatching(/^\d{4}-.*Z$/),
      first_seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
      ended_at: null,
    });
    const release = { agentId: 'agent-a', epoch: a.epoch, done: [] };
    expect((await post('/agent/v1/release', release)).json).toEqual({ released: true });
    expect((await post('/agent/v1/release', release)).json).toEqual({ released: false });
    expect((await app.ask(path, { key })).json).toMatchObject([
      { id: 'agent-a', live: false, leaseUntil: null },
    ]);
    expect((await app.ask(`${path}?limit=1&page=2`, { key })).json).toEqual([]);
    expect((await app.ask(path, { key: locationKey, headers: HEADERS })).status).toBe(401);
    const missing = `/v1/private-locations/${randomUUID()}/agents`;
    expect((await app.ask(missing, { key })).status).toBe(404);
  });
});
