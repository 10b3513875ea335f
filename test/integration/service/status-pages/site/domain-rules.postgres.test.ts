import { describe, expect, it } from 'vitest';
import { CustomDomains } from '../../../../../src/service/status-pages/site/custom-domains.ts';
import { DomainRules } from '../../../../../src/service/status-pages/site/domain-rules.ts';
import { databases } from '../../../../support/database/databases.ts';
import { PATH as HEARTBEATS, HOURLY } from '../../../../support/service/heartbeats-fixture.ts';
import type { Ask, Reply } from '../../../../support/service/service-app.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const PAGES = '/v1/status-pages';
const READER = { key: null } as const;

let made = 0;
/** Urls are unique over the service, which all tests share. */
function newUrl(): string {
  made += 1;
  return `hosts-${made}`;
}

describe.each(databases)('the hosts of the service, on %s', (kind) => {
  const running = useRunningService(kind, {
    config: {
      leaseMs: 15_000,
      retentionDays: 30,
      staticIpv6s: [],
      publicUrl: 'https://monitoring.example.com/path',
      serviceHosts: ['vedette.example.net'],
    },
  });
  const service = useAccounts(running);
  const at = (host: string, path: string, ask: Ask = READER): Promise<Reply> =>
    running().app.ask(path, { ...ask, headers: { ...ask.headers, host } });

  it.each([
    ['that of PUBLIC_URL', 'Monitoring.example.com', 'is an address of this service'],
    ['one in SERVICE_HOSTS', 'vedette.example.net', 'is an address of this service'],
    ['a service of Kubernetes', 'vedette.monitoring.svc', 'ends with .svc'],
    ['its long form', 'vedette.monitoring.svc.cluster.local', 'ends with .local'],
    ['a private name', 'vedette.corp.internal', 'ends with .internal'],
    ['a name of the machine', 'vedette.localhost', 'ends with .localhost'],
  ])('are refused as the domain of a page: %s', async (_, customDomain, reason) => {
    const { mine } = service();
    const refused = await mine.post(PAGES, { name: 'Mine', url: newUrl(), customDomain });
    expect(refused.status).toBe(409);
    expect(refused.json.message).toContain(reason);
    expect(refused.json.attributes).toEqual({ customDomain: customDomain.toLowerCase() });
    const { json } = await mine.post(PAGES, { name: 'Mine', url: newUrl() });
    expect((await mine.put(`${PAGES}/${json.id}`, { customDomain })).status).toBe(409);
  });

  it('are refused as the domain of a page by a request to the same host', async () => {
    const { mine } = service();
    const host = `api.${newUrl()}.example`;
    const headers = { host: `${host.toUpperCase()}.:8080` };
    const body = { name: 'Mine', url: newUrl(), customDomain: host };
    const refused = await mine.ask('POST', PAGES, body, headers);
    expect(refused.status).toBe(409);
    expect(refused.json.message).toContain(`${host} is an address of this service`);
    const { json } = await mine.post(PAGES, { name: 'Mine', url: newUrl() });
    const path = `${PAGES}/${json.id}`;
    const change = { customDomain: host.toUpperCase() };
    expect((await mine.ask('PATCH', path, change, headers)).status).toBe(409);
    const other = { customDomain: `status.${host}` };
    expect((await mine.ask('PATCH', path, other, headers)).status).toBe(200);
  });

  it.each(['monitoring.example.com', 'vedette.example.net', 'vedette.monitoring.svc'])(
    'show the service where an earlier release stored %s as a domain',
    async (host) => {
      const { mine, store, features } = service();
      const { json } = await mine.post(PAGES, { name: 'Mine', url: newUrl() });
      await store.query('update status_pages set custom_domain = $2 where id = $1', [
        json.id,
        host,
      ]);
      await features.statusSite.readDomains();
      expect((await at(host, '/docs')).status).toBe(200);
    },
  );

  describe('that a page took without the knowledge of the operator', () => {
    /** The host, with a page of another account. */
    async function takenHost(): Promise<string> {
      const host = `taken.${newUrl()}.example`;
      const body = { name: 'Not the service', url: newUrl(), customDomain: host };
      expect((await service().theirs.post(PAGES, body)).status).toBe(201);
      await running().features.statusSite.readDomains();
      expect((await at(host, '/')).text).toContain('Not the service');
      return host;
    }

    it('still serve the API to those with a key', async () => {
      const { mine } = service();
      const host = await takenHost();
      const { status, json } = await mine.ask('GET', '/v1/checks', undefined, { host });
      expect([status, json]).toEqual([200, []]);
      const body = { name: 'Through the taken host', url: newUrl() };
      expect((await mine.ask('POST', PAGES, body, { host })).status).toBe(201);
    });

    it('still accept the polls of agents and the pings of jobs', async () => {
      const { mine } = service();
      const host = await takenHost();
      const location = await mine.post('/v1/private-locations', {
        name: 'Office',
        slug: `office-${made}`,
      });
      const keys = `/v1/private-locations/${location.json.id}/keys`;
      const { key } = (await mine.post(keys)).json;
      // So does the route of polls answer what comes from no agent.
      const polled = await at(host, '/agent/v1/poll', { key, method: 'POST', body: {} });
      expect(polled.status, polled.text).toBe(426);
      const job = await mine.post(HEARTBEATS, { name: 'Backup', heartbeat: HOURLY });
      const ping = `/heartbeat/${job.json.heartbeat.pingToken}`;
      const pinged = await at(host, ping, { key: null, method: 'POST' });
      expect(pinged.status, pinged.text).toBe(200);
    });

    it.each(['/-/readiness', '/-/liveness', '/health'])(
      'still answer orchestrators at %s',
      async (path) => {
        const { status, headers } = await at(await takenHost(), path);
        expect(status).toBe(200);
        expect(headers['content-type']).not.toContain('html');
      },
    );

    it('show nothing else of the service, whatever key a request has', async () => {
      const host = await takenHost();
      const other = newUrl();
      await service().mine.post(PAGES, { name: 'Another page', url: other });
      for (const path of [`/status/${other}`, '/docs', '/sign-in', '/metrics', '/healthy', '/-']) {
        const { status, text } = await at(host, path, { key: 'vk_0' });
        expect([path, status]).toEqual([path, 404]);
        expect(text).toContain('There is no page at this address');
      }
      expect((await at(host, '/', { key: 'vk_0' })).text).toContain('Not the service');
    });
  });
});

describe.each(databases)('a list of custom domains that the operator allows, on %s', (kind) => {
  const config = { leaseMs: 15_000, retentionDays: 30, staticIpv6s: [] };
  const customDomains = ['example.org'];
  const service = useAccounts(useRunningService(kind, { config: { ...config, customDomains } }));

  it('takes the domains at and below its own, and refuses all others', async () => {
    const { mine } = service();
    for (const customDomain of ['example.org', 'Status.Example.org']) {
      const made = await mine.post(PAGES, { name: 'Mine', url: newUrl(), customDomain });
      expect(made.status, made.text).toBe(201);
    }
    for (const customDomain of ['notexample.org', 'example.org.evil.test', 'status.example.com']) {
      const refused = await mine.post(PAGES, { name: 'Mine', url: newUrl(), customDomain });
      expect(refused.status).toBe(409);
      expect(refused.json.message).toContain('does not allow the custom domain');
      expect(refused.json.attributes).toEqual({ customDomain });
    }
  });
});

describe.each(databases)(
  'the check of a domain that the operator no longer allows, on %s',
  (kind) => {
    const config = { leaseMs: 15_000, retentionDays: 30, staticIpv6s: [] };
    const customDomains = ['example.org'];
    const service = useAccounts(useRunningService(kind, { config: { ...config, customDomains } }));

    it('says so, and asks no name server', async () => {
      const { mine, store } = service();
      const { json } = await mine.post(PAGES, { name: 'Mine', url: newUrl() });
      const stored = ['status.example.com', json.id];
      await store.query('update status_pages set custom_domain = $1 where id = $2', stored);
      const refused = await mine.post(`${PAGES}/${json.id}/domain-check`);
      expect(refused.status).toBe(409);
      expect(refused.json.message).toContain('does not allow the custom domain status.example.com');
    });
  },
);

describe('custom domains that were stored before the operator listed the allowed ones', () => {
  it('are not served', () => {
    const domains = new CustomDomains(
      new DomainRules({ publicUrl: null, serviceHosts: [], customDomains: ['example.org'] }),
    );
    domains.set([
      { customDomain: 'status.example.org', url: 'listed' },
      { customDomain: 'status.example.com', url: 'other' },
    ]);
    expect(domains.urlAt('status.example.org')).toBe('listed');
    expect(domains.urlAt('status.example.com')).toBeNull();
  });
});
