import type { Identity } from '../../../../support/servers/certificates.ts';
import { FAILED } from '../../../../support/service/alerts-fixture.ts';
import { resultOfRun } from '../../../../support/service/results-fixture.ts';
import type { Scenario } from './cases.ts';
import type { CaseFixture } from './fixture.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A resource that is created, changed and deleted at one path. */
interface Resource {
  readonly path: string;
  readonly body: Fields;
  /** null if it cannot be changed. */
  readonly change: Fields | null;
  /** The field that identifies one in the path; `id` by default. */
  readonly id?: string;
  /** The path of the list, if different. */
  readonly list?: string;
  /** Required resources. */
  readonly before?: (fixture: CaseFixture) => Promise<Fields>;
}

/** Fields that change with the time, and warnings about work that is repeated after a change. */
const VARYING = [
  'updated_at',
  'created_at',
  'updatedAt',
  'createdAt',
  'lastUsedAt',
  'last_used_at',
  'warnings',
];

/**
 * Whichever call of the store fails, the change is applied completely or not at all, and a client
 * that repeats it has applied it once in the end.
 */
function crudScenario(resource: Resource): Scenario {
  const { path, change, id: idField = 'id', before = async () => ({}) } = resource;
  return {
    name: `${path} is made, changed and removed`,
    async prepare(fixture) {
      const body = { ...resource.body, ...(await before(fixture)) };
      const list = async (): Promise<readonly Fields[]> =>
        await fixture.done(200, 'GET', `${resource.list ?? path}?limit=100`);
      const already = new Set((await list()).map((found) => String(found[idField])));
      const fresh = async () =>
        (await list()).filter(
          (found) => !already.has(String(found[idField])) && (found.revokedAt ?? null) === null,
        );

      /** Repeats only if it was not created. */
      const create = async (): Promise<Fields> => {
        for (;;) {
          const reply = await fixture.tryOnce('POST', path, body);
          if (reply !== null && reply.status !== 201) {
            throw new Error(`it was answered ${reply.status} ${reply.text}`);
          }
          const found = await fresh();
          if (found.length > 1) throw new Error('it was made twice');
          if (found[0] !== undefined) return found[0];
          if (reply !== null) throw new Error('it was made and is not there');
        }
      };
      /** The resource after each try. */
      const alter = async (at: string, fields: Fields): Promise<readonly string[]> => {
        const shapes: string[] = [];
        for (;;) {
          const reply = await fixture.tryOnce('PATCH', at, fields);
          shapes.push(shapeOf(await fixture.done(200, 'GET', at)));
          if (reply?.status === 200) return shapes;
          if (reply !== null) throw new Error(`it was answered ${reply.status} ${reply.text}`);
        }
      };

      const remove = async (at: string, before: string): Promise<void> => {
        for (;;) {
          const reply = await fixture.tryOnce('DELETE', at);
          if (reply !== null && reply.status !== 204 && reply.status !== 404) {
            throw new Error(`it was answered ${reply.status} ${reply.text}`);
          }
          const rest = await fresh();
          if (rest.length === 0) return;
          if (reply !== null) throw new Error('it was removed and is there');
          const now = shapeOf(await fixture.done(200, 'GET', at));
          if (now !== before) throw new Error(`half of it is gone: ${now}`);
        }
      };

      return async () => {
        const made = await fixture.step(create);
        const id = String(made[idField]);
        const at = `${path}/${encodeURIComponent(id)}`;
        const old = shapeOf(await fixture.done(200, 'GET', at));
        const shapes = change === null ? [] : await fixture.step(() => alter(at, change));
        const changed = shapes.at(-1) ?? old;
        const half = shapes.find((shape) => shape !== old && shape !== changed);
        if (half !== undefined) throw new Error(`half of a change is there: ${half}`);
        await fixture.step(() => remove(at, changed));
        return { seen: [old === changed ? 'the same' : 'changed'] };
      };
    },
  };
}

function shapeOf(fields: Fields): string {
  return JSON.stringify(fields, (key, value) => (VARYING.includes(key) ? null : value));
}

const HOURLY = { period: 1, periodUnit: 'HOURS', grace: 5, graceUnit: 'MINUTES' };
const URL_CHECK = { name: 'Shop', locations: ['eu-west-1'], request: { url: 'https://a.test/' } };

/** All resources without special behaviour. */
export function crudScenarios(identity: Identity): readonly Scenario[] {
  const berlin = async (fixture: CaseFixture): Promise<Fields> => {
    await fixture.location('berlin');
    return { privateLocations: ['berlin'] };
  };
  const service = async (fixture: CaseFixture): Promise<Fields> => {
    const made = await fixture.done(201, 'POST', '/v1/status-pages/services', { name: 'Shop' });
    return { services: [made.id] };
  };
  const measuring = async (fixture: CaseFixture): Promise<Fields> => {
    const check = await fixture.done(201, 'POST', '/v1/checks/url', URL_CHECK);
    return { checkIds: [check.id] };
  };
  const resources: readonly Resource[] = [
    {
      path: '/v1/checks/url',
      list: '/v1/checks',
      body: URL_CHECK,
      change: { name: 'Other' },
    },
    {
      path: '/v1/checks/heartbeats',
      body: { name: 'Backup', heartbeat: HOURLY },
      change: { name: 'Other' },
    },
    { path: '/v1/api-keys', body: { name: 'CI', role: 'admin' }, change: null },
    {
      path: '/v1/status-pages',
      body: {
        name: 'Shop',
        url: 'a-shop',
        logo: 'https://a.test/logo.png',
        password: 'a long password',
        cards: [{ name: 'One' }, { name: 'Two' }],
      },
      change: { name: 'Other', password: null, cards: [{ name: 'Three' }] },
    },
    {
      path: '/v1/check-groups',
      body: { name: 'Group', tags: ['a'] },
      change: { name: 'Other', tags: ['b'] },
      before: berlin,
    },
    {
      path: '/v1/maintenance-windows',
      body: {
        name: 'Nightly',
        startsAt: '2030-01-31',
        endsAt: '2030-02-01',
        repeatUnit: 'MONTH',
      },
      change: { name: 'Other', tags: ['a'] },
    },
    {
      path: '/v1/private-locations',
      body: { slug: 'cellar', name: 'Cellar' },
      change: { name: 'Other' },
    },
    {
      path: '/v1/variables',
      id: 'key',
      body: { key: 'TOKEN', value: 'a secret', secret: true },
      change: { value: 'another' },
    },
    {
      path: '/v1/client-certificates',
      body: { host: '*.shop.test', cert: identity.cert, key: identity.key },
      change: { host: 'shop.test' },
    },
    {
      path: '/v1/snippets',
      body: { name: 'login', script: 'one' },
      change: { script: 'two' },
    },
    {
      path: '/v1/alert-channels',
      body: { type: 'EMAIL', config: { address: 'ops@example.com' } },
      change: { sendRecovery: false },
    },
    {
      path: '/v1/status-pages/services',
      body: { name: 'Shop' },
      change: { name: 'Other', checkIds: [], failureRule: 'ALL' },
      before: measuring,
    },
    {
      path: '/v1/incidents',
      body: {
        name: 'Slow',
        impact: 'MAJOR',
        incidentUpdates: [{ status: 'INVESTIGATING', description: 'Looking' }],
      },
      change: { name: 'Other' },
    },
    {
      path: '/v1/status-pages/incidents',
      body: {
        name: 'Slow',
        severity: 'MAJOR',
        isDraft: true,
        incidentUpdates: [{ status: 'INVESTIGATING', description: 'Looking' }],
      },
      change: { name: 'Other', isDraft: false, postMortem: '# Why' },
      before: service,
    },
  ];
  return resources.map(crudScenario);
}

/** Changes to parts of resources, and reads. */
export const partsScenario: Scenario = {
  name: 'settings, subscriptions, keys, sessions and updates are written and read',
  async prepare(fixture) {
    const berlin = await fixture.location('berlin');
    const { accountId, done } = fixture;
    const channel = await done(201, 'POST', '/v1/alert-channels', {
      type: 'EMAIL',
      config: { address: 'ops@example.com' },
    });
    const group = await done(201, 'POST', '/v1/check-groups', { name: 'Group' });
    const incident = await done(201, 'POST', '/v1/incidents', { name: 'Slow', impact: 'MAJOR' });
    const service = await done(201, 'POST', '/v1/status-pages/services', {
      name: 'Shop',
      checkTags: ['b'],
      failureRule: 'LOCATIONS',
      failureLocations: 1,
    });
    const shown = await done(201, 'POST', '/v1/status-pages/incidents', {
      name: 'Down',
      severity: 'MAJOR',
      services: [service.id],
      incidentUpdates: [{ status: 'INVESTIGATING', description: 'Looking' }],
    });
    const page = await done(201, 'POST', '/v1/status-pages', {
      name: 'Shop',
      url: `shop-${accountId.slice(0, 8)}`,
      cards: [{ name: 'One', services: [service.id] }],
    });
    await done(201, 'POST', '/v1/variables', { key: 'A', value: 'a secret value', secret: true });
    return async () => {
      const settings = `/v1/accounts/${accountId}/alert-settings`;
      await done(200, 'PUT', settings, { escalationType: 'RUN_BASED' });
      await done(200, 'GET', settings);
      await done(200, 'GET', '/v1/accounts');
      await done(200, 'PUT', `/v1/accounts/${accountId}`, { timeZone: 'Europe/Berlin' });
      await done(200, 'GET', `/v1/accounts/${accountId}`);
      await done(200, 'GET', `/v1/accounts/${accountId}/entitlements`);
      const check = {
        ...URL_CHECK,
        groupId: group.id,
        privateLocations: ['berlin'],
        variables: [{ key: 'B', value: 'another secret', secret: true }],
        alertChannelSubscriptions: [{ alertChannelId: channel.id, activated: true }],
      };
      await done(200, 'PUT', '/v1/checks/url/shop', check);
      await done(200, 'PATCH', `/v1/check-groups/${group.id}`, { tags: ['b'] });
      await done(200, 'PUT', '/v1/checks/url/shop', { ...check, alertChannelSubscriptions: [] });
      await done(200, 'PATCH', `/v1/alert-channels/${channel.id}`, {
        subscriptions: [{ checkId: 'shop' }],
      });
      await done(200, 'POST', '/v1/checks/bulk', { action: 'mute', ids: ['shop'] });
      const filter = { type: ['URL'], search: check.name, groupId: group.id };
      await done(200, 'POST', '/v1/checks/bulk', { action: 'unmute', filter, expected: 1 });
      const keys = `/v1/private-locations/${berlin.id}/keys`;
      // Lost answers allow up to this many.
      await fixture.ask('POST', keys);
      const [, second] = await done(200, 'GET', keys);
      await fixture.ask('DELETE', `${keys}/${second.id}`);
      const session = '3f2c8a8e-0000-4000-8000-000000000001';
      // If the answer to the first was lost, the repetition is not a new one.
      const slot = fixture.startMs - 60_000;
      const reply = await fixture.ask('POST', '/v1/test-sessions', {
        id: session,
        projectId: 'shop',
        results: [resultOfRun({ slot, ...FAILED })],
        missed: [{ checkId: 'd', slot, lastSlot: slot, count: 1, reason: 'agent_starved' }],
      });
      if (reply.status >= 300) throw new Error(`the session was answered ${reply.text}`);
      const { results, missed } = await done(200, 'GET', `/v1/test-sessions/${session}`);
      await done(200, 'GET', '/v1/test-sessions');
      await done(200, 'GET', `/v1/test-sessions/${session}/results`);
      await fixture.ask('DELETE', `/v1/test-sessions/${session}`);
      const updates = `/v1/incidents/${incident.id}/incident-updates`;
      const update = { status: 'INVESTIGATING', description: 'Looking' };
      const added = await done(201, 'POST', updates, update);
      await done(200, 'PATCH', `${updates}/${added.id}`, { description: 'Still looking' });
      await fixture.ask('DELETE', `${updates}/${added.id}`);
      const resolved = { status: 'RESOLVED', description: 'Gone' };
      await done(201, 'POST', `/v1/status-pages/incidents/${shown.id}/incident-updates`, resolved);
      await done(200, 'GET', `/v1/status-pages/${page.id}/summary`);
      for (const path of ['', '/history', `/incidents/${shown.id}`]) {
        await done(200, 'GET', `/status/${page.url}${path}`);
      }
      const subscribers = `/v1/status-pages/${page.id}/subscribers`;
      await done(200, 'GET', subscribers);
      await done(404, 'DELETE', `${subscribers}/${service.id}`);
      await fixture.ask('DELETE', '/v1/checks/url/shop');
      // A client without an answer creates another one if it cannot choose the id.
      return {
        seen: [`${results} results, ${missed.length} missed`],
        mayDiffer: (row) => /^too many: (incident_updates|status_page_incident_updates)/.test(row),
      };
    };
  },
};
