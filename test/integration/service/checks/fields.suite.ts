import { describe, expect, it } from 'vitest';
import {
  HOSTILE,
  problemsIn,
  type RunningService,
  useAccounts,
} from '../../../support/service/service-fixture.ts';

const TYPES = ['url', 'api', 'tcp', 'dns', 'icmp'] as const;
type TypePath = (typeof TYPES)[number];

const REQUESTS: Readonly<Record<TypePath, object>> = {
  url: { url: 'https://example.com/' },
  api: { url: 'https://example.com/' },
  tcp: { hostname: 'example.com', port: 443 },
  dns: { query: 'example.com' },
  icmp: { hostname: 'example.com' },
};

function bodyOf(type: TypePath, fields: object = {}): object {
  return { name: 'A check', locations: ['eu-west-1'], request: REQUESTS[type], ...fields };
}

/**
 * src/model/README.md, "Fields of every check" with the defaults. Fields without a default
 * are absent.
 */
const COMMON = {
  name: 'A check',
  activated: true,
  muted: false,
  doubleCheck: true,
  shouldFail: false,
  locations: ['eu-west-1'],
  privateLocations: null,
  tags: [],
  alertSettings: {
    escalationType: 'RUN_BASED',
    runBasedEscalation: { failedRunThreshold: 1 },
    reminders: { amount: 0, interval: 5 },
    parallelRunFailureThreshold: { enabled: false, percentage: 10 },
  },
  useGlobalAlertSettings: true,
  groupId: null,
  groupOrder: null,
  runtimeId: null,
  alertChannelSubscriptions: [],
  dependsOn: [],
  runParallel: false,
  variables: [],
  description: null,
  frequency: 10,
  created_at: '2026-01-01',
  updated_at: null,
  alertChannels: { email: [], webhook: [], slack: [], sms: [] },
  warnings: [
    {
      code: 'PUBLIC_LOCATION_NOT_SERVED',
      message:
        'No agent serves public locations, so nothing runs in eu-west-1. Name private locations instead.',
      path: 'locations',
    },
  ],
};

/** src/model/README.md, "The check file". */
const OWN: Readonly<Record<TypePath, object>> = {
  url: {
    checkType: 'URL',
    degradedResponseTime: 3000,
    maxResponseTime: 5000,
    request: {
      url: 'https://example.com/',
      method: 'GET',
      followRedirects: true,
      traceparent: false,
      skipSSL: false,
      ipFamily: 'IPv4',
      assertions: [],
    },
  },
  api: {
    checkType: 'API',
    degradedResponseTime: 5000,
    maxResponseTime: 20_000,
    setupScript: null,
    teardownScript: null,
    setupSnippetId: null,
    teardownSnippetId: null,
    request: {
      method: 'GET',
      url: 'https://example.com/',
      headers: [],
      queryParameters: [],
      bodyType: 'NONE',
      body: '',
      basicAuth: null,
      auth: null,
      followRedirects: true,
      traceparent: false,
      skipSSL: false,
      ipFamily: 'IPv4',
      assertions: [],
    },
  },
  tcp: {
    checkType: 'TCP',
    degradedResponseTime: 3000,
    maxResponseTime: 5000,
    request: {
      hostname: 'example.com',
      port: 443,
      data: null,
      steps: [],
      tls: 'OFF',
      startTlsProtocol: null,
      serverName: null,
      alpnProtocols: [],
      skipSSL: false,
      ipFamily: 'IPv4',
      assertions: [],
    },
  },
  dns: {
    checkType: 'DNS',
    degradedResponseTime: 500,
    maxResponseTime: 1000,
    request: {
      query: 'example.com',
      recordType: 'A',
      nameServer: null,
      port: 53,
      protocol: 'UDP',
      serverName: null,
      skipSSL: false,
      dohPath: '/dns-query',
      dohMethod: 'POST',
      compareSerials: false,
      compareServers: [],
      assertions: [],
    },
  },
  icmp: {
    checkType: 'ICMP',
    degradedPacketLossThreshold: 10,
    maxPacketLossThreshold: 20,
    request: { hostname: 'example.com', pingCount: 10, ipFamily: 'IPv4', assertions: [] },
  },
};

const NO_LIMITS = { degradedResponseTime: null, maxResponseTime: null };

/**
 * Values that are returned unchanged: every field of src/model/README.md, "Fields of every check"
 * and 2.3 at its edges.
 */
const TAKEN: readonly (readonly [TypePath, object])[] = [
  ['url', { name: 'n' }],
  ['url', { name: 'n'.repeat(255) }],
  ['url', { activated: false, muted: true, doubleCheck: false, shouldFail: true }],
  ['url', { useGlobalAlertSettings: false, runParallel: true }],
  ['url', { locations: ['us-east-1', 'af-south-1'] }],
  ['url', { tags: Array.from({ length: 100 }, (_, index) => `tag ${index}`) }],
  ['url', { groupOrder: 0 }],
  ['url', { groupOrder: 2.5 }],
  ['url', { runtimeId: '2026.04' }],
  ['url', { runtimeId: '2022.10' }],
  ['url', { description: '' }],
  ['url', { description: 'd'.repeat(500) }],
  ['url', { frequency: 1, frequencyOffset: 10 }],
  ['url', { frequency: 5, frequencyOffset: 50 }],
  ['url', { frequency: 60, frequencyOffset: 600 }],
  ['url', { frequency: 120, frequencyOffset: 2 }],
  ['url', { frequency: 720, frequencyOffset: 12 }],
  ['url', { frequency: 1440, frequencyOffset: 24 }],
  ['url', { degradedResponseTime: 0, maxResponseTime: 0 }],
  ['url', { degradedResponseTime: 30_000, maxResponseTime: 30_000 }],
  ['url', NO_LIMITS],
  ['api', { frequency: 0, frequencyOffset: 10 }],
  ['api', { frequency: 0, frequencyOffset: 20 }],
  ['tcp', { frequency: 0, frequencyOffset: 30 }],
  ['tcp', { degradedResponseTime: 5000, maxResponseTime: 5000 }],
  ['dns', { degradedResponseTime: 0, maxResponseTime: 5000 }],
  ['icmp', { degradedPacketLossThreshold: 0, maxPacketLossThreshold: 100 }],
  ['icmp', { degradedPacketLossThreshold: 100, maxPacketLossThreshold: 100 }],
  [
    'url',
    {
      alertSettings: {
        escalationType: 'TIME_BASED',
        timeBasedEscalation: { minutesFailingThreshold: 30 },
        reminders: { amount: 100_000, interval: 30 },
        parallelRunFailureThreshold: { enabled: true, percentage: 100 },
      },
    },
  ],
  [
    'url',
    {
      retryStrategy: {
        type: 'FIXED',
        baseBackoffSeconds: 0,
        maxRetries: 10,
        maxDurationSeconds: 600,
        sameRegion: false,
        onlyOn: ['NETWORK_ERROR'],
      },
    },
  ],
];

/** The values that are refused, with the field that the error names. */
const REFUSED: readonly (readonly [TypePath, object, string])[] = [
  ['url', { name: '' }, 'body.name'],
  ['url', { name: 'n'.repeat(256) }, 'body.name'],
  ['url', { name: 7 }, 'body.name'],
  ['url', { name: null }, 'body.name'],
  ['url', { activated: 'yes' }, 'body.activated'],
  ['url', { activated: null }, 'body.activated'],
  ['url', { locations: ['mars-1'] }, 'body.locations[0]'],
  ['url', { locations: 'eu-west-1' }, 'body.locations'],
  ['url', { locations: [] }, 'body.locations'],
  ['url', { locations: null, privateLocations: [] }, 'body.locations'],
  ['url', { privateLocations: ['nowhere'] }, 'body.privateLocations[0]'],
  ['url', { tags: [''] }, 'body.tags[0]'],
  ['url', { tags: Array.from({ length: 101 }, () => 't') }, 'body.tags'],
  ['url', { groupId: 4_000_000 }, 'body.groupId'],
  ['url', { groupId: 1.5 }, 'body.groupId'],
  ['url', { groupId: 1e300 }, 'body.groupId'],
  ['url', { groupId: -1 }, 'body.groupId'],
  ['url', { groupOrder: -1 }, 'body.groupOrder'],
  ['url', { runtimeId: '1999.01' }, 'body.runtimeId'],
  ['url', { description: 'd'.repeat(501) }, 'body.description'],
  ['url', { frequency: 3 }, 'body.frequency'],
  ['url', { frequency: 0, frequencyOffset: 10 }, 'body.frequency'],
  ['dns', { frequency: 0, frequencyOffset: 10 }, 'body.frequency'],
  ['icmp', { frequency: 0, frequencyOffset: 10 }, 'body.frequency'],
  ['api', { frequency: 0 }, 'body.frequencyOffset'],
  ['api', { frequency: 0, frequencyOffset: 15 }, 'body.frequencyOffset'],
  ['url', { frequencyOffset: 0 }, 'body.frequencyOffset'],
  ['url', { frequency: 1, frequencyOffset: 11 }, 'body.frequencyOffset'],
  ['url', { frequency: 5, frequencyOffset: 51 }, 'body.frequencyOffset'],
  ['url', { frequency: 720, frequencyOffset: 13 }, 'body.frequencyOffset'],
  ['url', { degradedResponseTime: -1 }, 'body.degradedResponseTime'],
  ['url', { maxResponseTime: 30_001 }, 'body.maxResponseTime'],
  ['tcp', { maxResponseTime: 5001 }, 'body.maxResponseTime'],
  ['dns', { degradedResponseTime: 5001, maxResponseTime: null }, 'body.degradedResponseTime'],
  ['url', { degradedResponseTime: 5001 }, 'body.degradedResponseTime'],
  ['icmp', { maxPacketLossThreshold: 101 }, 'body.maxPacketLossThreshold'],
  ['icmp', { degradedPacketLossThreshold: 21 }, 'body.degradedPacketLossThreshold'],
  ['url', { alertSettings: null }, 'body.alertSettings'],
  ['url', { alertSettings: { reminders: { amount: 6 } } }, 'body.alertSettings.reminders.amount'],
  ['url', { retryStrategy: { type: 'OFTEN' } }, 'body.retryStrategy.type'],
  ['url', { retryStrategy: { type: 'FIXED', maxRetries: 11 } }, 'body.retryStrategy.maxRetries'],
  [
    'tcp',
    { retryStrategy: { type: 'FIXED', onlyOn: ['NETWORK_ERROR'] } },
    'body.retryStrategy.onlyOn',
  ],
  ['url', { triggerIncident: { serviceId: 's' } }, 'body.triggerIncident.severity'],
  ['url', { request: { url: 'ftp://example.com/' } }, 'body.request.url'],
  ['url', { request: { url: `http://e/${'x'.repeat(2040)}` } }, 'body.request.url'],
  ['url', { request: { url: 'http://e/', method: 'POST' } }, 'body.request.method'],
  ['url', { request: { url: 'http://e/', headers: [] } }, 'body.request.headers'],
  ['url', { request: undefined }, 'body.request'],
  ['tcp', { request: { hostname: 'e', port: 65_536 } }, 'body.request.port'],
  ['tcp', { request: { hostname: 'e', port: 0 } }, 'body.request.port'],
  ['icmp', { request: { hostname: 'e', pingCount: 51 } }, 'body.request.pingCount'],
  ['url', { maxResponsetime: 1 }, 'body.maxResponsetime'],
  ['icmp', { maxResponseTime: 1 }, 'body.maxResponseTime'],
  ['url', { id: 'mine' }, 'body.id'],
  ['url', { created_at: '2026-01-01' }, 'body.created_at'],
  ['url', { checkType: 'API' }, 'body.checkType'],
];

/** src/model/README.md, "Fields of every check", 2.3 and part 8, field by field. */
export function checkFieldsSuite(running: () => RunningService): void {
  describe('the fields of a check', () => {
    const service = useAccounts(running, 'shared');

    it.each(TYPES)('a %s check has every default', async (type) => {
      const { mine } = service();
      const created = await mine.post(`/v1/checks/${type}`, bodyOf(type));
      expect(created.status).toBe(201);
      const { id, ...fields } = created.json;
      expect(fields).toEqual({ ...COMMON, ...OWN[type] });
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect((await mine.get(`/v1/checks/${type}/${id}`)).json).toEqual(created.json);
      expect((await mine.get(`/v1/checks/${id}`)).json).toEqual(created.json);
    });

    it.each(TYPES)('a %s check can be created by the route for all types', async (type) => {
      const { mine } = service();
      const body = bodyOf(type, { checkType: type.toUpperCase() });
      const created = await mine.post('/v1/checks', body);
      expect(created.status).toBe(201);
      expect(created.json).toMatchObject({ ...COMMON, ...OWN[type] });
    });

    it.each(TAKEN)('stores and returns, for %s: %j', async (type, fields) => {
      const { mine } = service();
      const created = await mine.post(`/v1/checks/${type}`, bodyOf(type, fields));
      expect(created.json).toMatchObject(fields);
      expect(created.status).toBe(201);
      expect((await mine.get(`/v1/checks/${created.json.id}`)).json).toEqual(created.json);
    });

    it.each(REFUSED)('refuses, for %s: %j', async (type, fields, path) => {
      const { mine } = service();
      const body = bodyOf(type, { tags: ['refused'], ...fields });
      const refused = await mine.post(`/v1/checks/${type}`, body);
      expect(refused.status).toBe(400);
      expect(refused.json.attributes.problems.map((each: { path: string }) => each.path)).toContain(
        path,
      );
      expect((await mine.get('/v1/checks?tag=refused')).json).toEqual([]);
    });

    it.each(['AGENTIC', 'BROWSER', 'MULTI_STEP', 'PLAYWRIGHT'])(
      'refuses a check of the type %s, and says why',
      async (checkType) => {
        const { mine } = service();
        const body = { name: 'Other', checkType, locations: ['eu-west-1'], tags: ['other'] };
        const why = `checkType must be one of URL, API, TCP, DNS, ICMP: no agent runs ${checkType} checks`;
        for (const refused of [
          await mine.post('/v1/checks', body),
          await mine.put('/v1/checks/other', body),
          await mine.post('/v1/checks/bulk', { action: 'create', checks: [body] }),
        ]) {
          expect(refused.text).toContain(why);
          expect(refused.text).toContain('agents have neither a browser, nor Node.js');
        }
        expect((await mine.get('/v1/checks?tag=other')).json).toEqual([]);
      },
    );

    it('stores and returns the incident that a failure opens', async () => {
      const { mine } = service();
      const { json: shop } = await mine.post('/v1/status-pages/services', { name: 'Shop' });
      const triggerIncident = {
        serviceId: shop.id,
        severity: 'CRITICAL',
        name: 'It is down',
        description: 'd',
        notifySubscribers: true,
      };
      const created = await mine.post('/v1/checks/url', bodyOf('url', { triggerIncident }));
      expect(created.status).toBe(201);
      expect(created.json).toMatchObject({ triggerIncident });
      expect((await mine.get(`/v1/checks/${created.json.id}`)).json).toEqual(created.json);
    });

    it('refuses the service of another account, or of nobody, for the incident of a failure', async () => {
      const { mine, theirs } = service();
      const services = '/v1/status-pages/services';
      const { json: shop } = await mine.post(services, { name: 'Shop' });
      const { json: foreign } = await theirs.post(services, { name: 'Shop' });
      const naming = (serviceId: string) => ({
        triggerIncident: { serviceId, severity: 'MAJOR', name: 'Down' },
      });
      const { json: check } = await mine.post('/v1/checks/url', bodyOf('url', naming(shop.id)));
      const nobody = '00000000-0000-4000-8000-000000000000';
      for (const id of [foreign.id, nobody, 's', HOSTILE, shop.id.toUpperCase()]) {
        for (const refused of [
          await mine.post('/v1/checks/url', bodyOf('url', naming(id))),
          await mine.put('/v1/checks/url/other', bodyOf('url', naming(id))),
          await mine.put(`/v1/checks/url/${check.id}`, bodyOf('url', naming(id))),
          await mine.patch(`/v1/checks/${check.id}`, naming(id)),
        ]) {
          expect(refused.status).toBe(400);
          expect(problemsIn(refused)).toEqual([
            'body.triggerIncident.serviceId must be the id of a service of status pages',
          ]);
        }
      }
      expect((await mine.get(`/v1/checks/${check.id}`)).json).toEqual(check);

      // A check whose service is gone can still be changed, and not to another that is not there.
      expect((await mine.delete(`${services}/${shop.id}`)).status).toBe(204);
      const off = await mine.patch(`/v1/checks/${check.id}`, { activated: false });
      expect(off.json).toMatchObject({ activated: false, ...naming(shop.id) });
      expect((await mine.patch(`/v1/checks/${check.id}`, naming(foreign.id))).status).toBe(400);
      expect((await mine.patch(`/v1/checks/${check.id}`, { triggerIncident: null })).status).toBe(
        200,
      );
      expect((await mine.patch(`/v1/checks/${check.id}`, naming(shop.id))).status).toBe(400);
    });

    it('shows no null if the specification knows none', async () => {
      const { mine } = service();
      const nulls = { retryStrategy: null, triggerIncident: null, frequencyOffset: null };
      const created = await mine.post('/v1/checks/url', bodyOf('url', nulls));
      expect(created.json).not.toHaveProperty('triggerIncident');
      expect(created.json).not.toHaveProperty('frequencyOffset');
      // null means no retries. If the field is omitted, doubleCheck decides.
      expect(created.json.retryStrategy.type).toBe('NO_RETRIES');
    });

    it('takes null for every field that may be null', async () => {
      const { mine } = service();
      const nulls = {
        privateLocations: null,
        groupId: null,
        groupOrder: null,
        runtimeId: null,
        description: null,
        ...NO_LIMITS,
      };
      const created = await mine.post('/v1/checks/url', bodyOf('url', nulls));
      expect(created.json).toMatchObject(nulls);
    });

    it.each([
      'BROWSER',
      'HEARTBEAT',
      'MULTI_STEP',
      'PLAYWRIGHT',
      'AGENTIC',
      'url',
      undefined,
      7,
      null,
    ])('lists the possible types when asked for %j', async (checkType) => {
      const { mine } = service();
      const refused = await mine.post('/v1/checks', bodyOf('url', { checkType }));
      expect(refused.status).toBe(400);
      expect(problemsIn(refused).join()).toContain('body.checkType');
      expect(problemsIn(refused).join()).toContain('one of URL, API, TCP, DNS, ICMP');
    });

    it('returns texts unchanged, whatever they contain', async () => {
      const { mine, store } = service();
      const { json: shop } = await mine.post('/v1/status-pages/services', { name: 'Shop' });
      const body = bodyOf('api', {
        name: HOSTILE,
        description: HOSTILE,
        tags: [HOSTILE],
        triggerIncident: {
          serviceId: shop.id,
          severity: 'MINOR',
          name: HOSTILE,
          description: HOSTILE,
          notifySubscribers: false,
        },
        request: {
          method: 'POST',
          url: "https://example.com/?q=';drop table checks;--",
          headers: [{ key: 'x-h', value: "'; drop table checks; --", locked: false }],
          queryParameters: [{ key: HOSTILE, value: HOSTILE, locked: true }],
          bodyType: 'RAW',
          body: HOSTILE,
          basicAuth: { username: HOSTILE, password: HOSTILE },
          assertions: [
            {
              source: 'TEXT_BODY',
              property: HOSTILE,
              comparison: 'CONTAINS',
              target: HOSTILE,
              regex: HOSTILE.replace('[', '\\['),
            },
          ],
        },
      });
      const created = await mine.post('/v1/checks/api', body);
      const basicAuth = { username: HOSTILE, password: HOSTILE };
      const shown = { ...basicAuth, password: '********' };
      expect(created.json.request).toMatchObject({ body: HOSTILE, basicAuth: shown });
      created.json.request.basicAuth = basicAuth;
      expect(created.json).toMatchObject(body);
      created.json.request.basicAuth = shown;
      const { id } = created.json;
      expect((await mine.get(`/v1/checks/api/${id}`)).json).toEqual(created.json);
      const changed = await mine.patch(`/v1/checks/api/${id}`, { name: `${HOSTILE}2` });
      expect(changed.json.name).toBe(`${HOSTILE}2`);
      const query = new URLSearchParams({ tag: HOSTILE, search: HOSTILE });
      const { warnings: _, ...listed } = changed.json;
      expect((await mine.get(`/v1/checks?${query}`)).json).toEqual([listed]);
      // The tables still exist, whatever the texts contained.
      expect(await store.query('select id from checks where name = $1', [`${HOSTILE}2`])).toEqual([
        { id },
      ]);
    });

    it.each([
      ['U+0000', 'a\u0000b'],
      ['half of a surrogate pair', 'a\ud83d'],
    ])('refuses %s, which could not be returned unchanged', async (what, text) => {
      const { mine } = service();
      const fields = { name: text, tags: ['fine', text], description: text };
      const refused = await mine.post('/v1/checks/url', bodyOf('url', fields));
      expect(refused.status).toBe(400);
      expect(problemsIn(refused)).toEqual([
        `body.name must not contain ${what === 'U+0000' ? 'the character U+0000' : what}, which cannot be stored`,
        expect.stringContaining('body.tags[1] must not contain'),
        expect.stringContaining('body.description must not contain'),
      ]);
    });
  });
}
