import { describe, expect, it } from 'vitest';
import { databases } from '../../../support/database/databases.ts';
import { startAgent } from '../../../support/service/live-agent.ts';
import {
  type TestService,
  useAccounts,
  useRunningService,
} from '../../../support/service/service-fixture.ts';

const REQUEST = { hostname: 'a.test', port: 80 };
const HEARTBEAT = { period: 1, periodUnit: 'DAYS', grace: 1, graceUnit: 'HOURS' };
const withoutAgents = (slug: string, path: string) => ({
  code: 'LOCATION_WITHOUT_AGENTS',
  message: `No agent of the private location ${slug} is connected, so nothing runs there. Start an agent with a key of this location.`,
  path,
});

async function location({ mine }: TestService, slug: string): Promise<string> {
  const made = await mine.post('/v1/private-locations', { slug, name: slug });
  expect(made.status).toBe(201);
  return made.json.id;
}

describe.each(databases)('on %s', (kind) => {
  const service = useAccounts(useRunningService(kind));

  it('warns of locations in which nothing runs, while nothing does', async () => {
    const { mine } = service();
    const office = await location(service(), 'office');
    await location(service(), 'cellar');
    const body = {
      name: 'Shop',
      locations: ['eu-west-1', 'us-east-1'],
      privateLocations: ['office', 'cellar'],
      request: REQUEST,
    };
    const made = await mine.post('/v1/checks/tcp', body);
    expect(made.status).toBe(201);
    const publicWarning = {
      code: 'PUBLIC_LOCATION_NOT_SERVED',
      message:
        'No agent serves public locations, so nothing runs in eu-west-1, us-east-1. Name private locations instead.',
      path: 'locations',
    };
    const cellar = withoutAgents('cellar', 'privateLocations[1]');
    expect(made.json.warnings).toEqual([
      publicWarning,
      withoutAgents('office', 'privateLocations[0]'),
      cellar,
    ]);
    const path = `/v1/checks/${made.json.id}`;
    const agent = await startAgent(service(), office);
    expect((await mine.get(path)).json.warnings).toEqual([publicWarning, cellar]);
    const changed = await mine.patch(path, { locations: [], privateLocations: ['office'] });
    expect(changed.json).not.toHaveProperty('warnings');
    expect((await mine.get(path)).json).not.toHaveProperty('warnings');
    await agent.release();
    const put = await mine.put(path, { muted: true });
    expect(put.json.warnings).toEqual([withoutAgents('office', 'privateLocations[0]')]);
    expect((await mine.get('/v1/checks')).json[0]).not.toHaveProperty('warnings');
  });

  it('warns of a group that is not activated, and of the locations of the group', async () => {
    const { mine } = service();
    await location(service(), 'office');
    const cellar = await location(service(), 'cellar');
    const group = await mine.post('/v1/check-groups', {
      name: 'Shops',
      activated: false,
      locations: ['eu-west-1'],
      privateLocations: ['cellar'],
    });
    expect(group).toMatchObject({
      status: 201,
      json: {
        warnings: [
          { code: 'PUBLIC_LOCATION_NOT_SERVED', path: 'locations' },
          withoutAgents('cellar', 'privateLocations[0]'),
        ],
      },
    });
    const groupId = group.json.id;
    const groupPath = `/v1/check-groups/${groupId}`;
    const made = await mine.post('/v1/checks/tcp', {
      name: 'Shop',
      groupId,
      privateLocations: ['office'],
      request: REQUEST,
    });
    const stopped = {
      code: 'GROUP_NOT_ACTIVATED',
      message: `The group ${groupId} is not activated, so its checks do not run. Activate the group.`,
      path: 'groupId',
    };
    expect(made.json.warnings).toEqual([stopped, withoutAgents('cellar', 'groupId')]);
    const job = { name: 'Job', groupId, heartbeat: HEARTBEAT };
    const heartbeat = await mine.put('/v1/checks/heartbeats/job', job);
    expect(heartbeat.json.warnings).toEqual([stopped]);

    await startAgent(service(), cellar);
    const activated = await mine.patch(groupPath, { activated: true, locations: null });
    expect(activated.status).toBe(200);
    expect(activated.json).not.toHaveProperty('warnings');
    expect((await mine.get(groupPath)).json).not.toHaveProperty('warnings');
    expect((await mine.get(`/v1/checks/${made.json.id}`)).json).not.toHaveProperty('warnings');
    expect((await mine.get('/v1/checks/job')).json).not.toHaveProperty('warnings');
  });

  it('ignores warnings that are sent back', async () => {
    const { mine } = service();
    const warnings = [{ code: 'MADE_UP', message: 'x' }];
    const body = { name: 'Shop', locations: ['eu-west-1'], request: REQUEST, warnings };
    for (const [path, of] of [
      ['/v1/checks/tcp', body],
      ['/v1/checks', { ...body, checkType: 'TCP' }],
      ['/v1/checks/heartbeats', { name: 'Job', heartbeat: HEARTBEAT, warnings }],
      ['/v1/check-groups', { name: 'Shops', warnings }],
    ] as const) {
      const made = await mine.post(path, of);
      expect(made.status).toBe(201);
      expect(made.text).not.toContain('MADE_UP');
      const one = `${path}/${made.json.id}`;
      for (const send of [mine.put, mine.patch]) {
        const changed = await send(one, { ...made.json, warnings });
        expect(changed.status).toBe(200);
        expect(changed.text).not.toContain('MADE_UP');
        expect(changed.json.warnings).toEqual(made.json.warnings);
      }
    }
  });

  it('has ETags that do not depend on warnings', async () => {
    const { mine } = service();
    const office = await location(service(), 'office');
    const body = { name: 'Shop', privateLocations: ['office'] };
    for (const [path, of] of [
      ['/v1/checks/tcp', { ...body, request: REQUEST }],
      ['/v1/check-groups', body],
    ] as const) {
      const made = await mine.post(path, of);
      expect(made.json.warnings).toHaveLength(1);
      const one = `${path}/${made.json.id}`;
      const agent = await startAgent(service(), office);
      const read = await mine.get(one);
      expect(read.json).not.toHaveProperty('warnings');
      const { etag } = made.headers;
      expect(read.headers.etag).toBe(etag);
      const changed = await mine.ask('PATCH', one, { name: 'New' }, { 'if-match': String(etag) });
      expect(changed.status).toBe(200);
      expect(changed.headers.etag).not.toBe(etag);
      await agent.release();
      expect((await mine.get(one)).headers.etag).toBe(changed.headers.etag);
    }
  });

  it('names at most 20 locations without agents, and counts the rest', async () => {
    const { mine } = service();
    const slugs = Array.from({ length: 23 }, (_, n) => `place-${n}`);
    for (const slug of slugs) await location(service(), slug);
    const made = await mine.post('/v1/check-groups', { name: 'All', privateLocations: slugs });
    expect(made.json.warnings).toHaveLength(21);
    expect(made.json.warnings[20]).toEqual({
      code: 'LOCATION_WITHOUT_AGENTS',
      message: '3 more of the private locations have no agent.',
    });
  });

  it('shows in the entitlements which locations are available', async () => {
    const { mine, theirs } = service();
    const office = await location(service(), 'office');
    await location(service(), 'cellar');
    const all = async (client: typeof mine) => {
      const { json } = await client.get(`/v1/accounts/${client.accountId}/entitlements`);
      return json.locations.all as readonly { id: string; available: boolean }[];
    };
    const isAvailable = async (id: string) =>
      (await all(mine)).find((each) => each.id === id)?.available;
    expect(await isAvailable('office')).toBe(false);
    const agent = await startAgent(service(), office);
    expect(await isAvailable('office')).toBe(true);
    expect(await isAvailable('cellar')).toBe(false);
    expect(await isAvailable('eu-west-1')).toBe(false);
    expect((await all(theirs)).map(({ id }) => id)).not.toContain('office');
    await agent.release();
    expect(await isAvailable('office')).toBe(false);
  });
});
