import { describe, expect, it } from 'vitest';
import { NO_OUTGOING } from '../../../../../src/service/outgoing/outgoing-config.ts';
import type { DomainProbe } from '../../../../../src/service/status-pages/site/domain-check.ts';
import { databases } from '../../../../support/database/databases.ts';
import type { Reply } from '../../../../support/service/service-app.ts';
import { useAccounts, useRunningService } from '../../../../support/service/service-fixture.ts';

const PAGES = '/v1/status-pages';
const DOMAIN = 'status.acme.example';

/** The simulated internet of a test. */
interface World {
  readonly addresses: readonly string[];
  readonly cname?: string;
  readonly https: 'this service' | 'another server' | 'nothing';
  readonly http: World['https'];
}

describe.each(databases)('the check of a custom domain, on %s', (kind) => {
  const world: { current: World } = {
    current: { addresses: [], https: 'nothing', http: 'nothing' },
  };
  /** Fake name servers and connections. This service answers by its own routes. */
  const domainProbe: DomainProbe = {
    async resolve() {
      const { addresses, cname = null } = world.current;
      return { addresses, cname };
    },
    async fetch(url) {
      const answers = url.protocol === 'https:' ? world.current.https : world.current.http;
      if (answers === 'nothing') {
        return { status: null, answer: '', error: 'the connection was refused (ECONNREFUSED)' };
      }
      if (answers === 'another server') return { status: 200, answer: 'Welcome!', error: null };
      const headers = { host: url.hostname };
      const { status, text } = await running().app.ask(url.pathname, { key: null, headers });
      return { status, answer: text, error: null };
    },
  };
  const internal = { text: '10.0.0.0/8', address: '10.0.0.0', prefixBits: 8 };
  const running = useRunningService(kind, {
    domainProbe,
    config: {
      leaseMs: 15_000,
      retentionDays: 30,
      staticIpv6s: [],
      delivery: { ...NO_OUTGOING, deny: [internal] },
    },
  });
  const service = useAccounts(running, 'shared');

  async function checked(current: World, fields: object = {}): Promise<Reply> {
    world.current = current;
    const { mine } = service();
    const made = await mine.post(PAGES, {
      name: 'Acme',
      url: 'acme',
      customDomain: DOMAIN,
      ...fields,
    });
    await running().features.statusSite.readDomains();
    const reply = await mine.post(`${PAGES}/${made.json.id}/domain-check`);
    await mine.delete(`${PAGES}/${made.json.id}`);
    return reply;
  }

  it.each([false, true])('finds the page there (isPrivate: %s)', async (isPrivate) => {
    const found = { addresses: ['192.0.2.7'], https: 'this service', http: 'nothing' } as const;
    const { status, json } = await checked(found, { isPrivate });
    expect(status).toBe(200);
    expect(json).toEqual({
      customDomain: DOMAIN,
      isReady: true,
      addresses: ['192.0.2.7'],
      cname: null,
      problem: null,
      advice: 'The page is served there.',
    });
  });

  it.each([
    [
      [],
      'nothing',
      'nothing',
      'UNKNOWN_NAME',
      'The name does not exist yet. Set an A or AAAA record',
    ],
    [['192.0.2.7'], 'nothing', 'nothing', 'NO_ANSWER', 'Nothing answers at 192.0.2.7'],
    [['192.0.2.7'], 'another server', 'nothing', 'OTHER_SERVER', 'Another server answers'],
    [['192.0.2.7'], 'nothing', 'this service', 'NO_TLS', 'a certificate for status.acme.example'],
  ] as const)(
    'says what to do: %j, HTTPS %s, HTTP %s: %s',
    async (addresses, https, http, problem, advice) => {
      const { json } = await checked({ addresses, https, http });
      expect(json).toMatchObject({ isReady: false, problem });
      expect(json.advice).toContain(advice);
    },
  );

  it('shows no address or alias of a name that leads to a denied network only', async () => {
    const { json } = await checked({
      addresses: ['10.1.2.3', '::ffff:10.1.2.4'],
      cname: 'database.corp.example',
      https: 'another server',
      http: 'another server',
    });
    expect(json).toMatchObject({
      isReady: false,
      addresses: [],
      cname: null,
      problem: 'NO_ANSWER',
    });
    expect(json.advice).toContain(
      `${DOMAIN} may not be reached: DELIVERY_DENY denies its network. Set an A or AAAA record`,
    );
  });

  it('leaves denied addresses out beside others', async () => {
    const addresses = ['10.1.2.3', '192.0.2.7'];
    const { json } = await checked({ addresses, https: 'another server', http: 'nothing' });
    expect(json).toMatchObject({ addresses: ['192.0.2.7'], problem: 'OTHER_SERVER' });
    expect(json.advice).not.toContain('10.1.2.3');
  });

  it('needs a page with a domain, of the same account', async () => {
    const { mine, theirs } = service();
    const { json } = await mine.post(PAGES, { name: 'Acme', url: 'no-domain' });
    const path = `${PAGES}/${json.id}/domain-check`;
    const without = await mine.post(path);
    expect(without.status).toBe(409);
    expect(without.json.message).toContain('set customDomain first');
    expect((await theirs.post(path)).status).toBe(404);
    expect((await (await service().clientWith('run')).post(path)).status).toBe(403);
  });

  it('answers the challenge only at the domain', async () => {
    const { mine } = service();
    await mine.post(PAGES, { name: 'Acme', url: 'challenged', customDomain: 'c.acme.example' });
    await running().features.statusSite.readDomains();
    const path = '/.well-known/vedette-status-page';
    const ask = (url: string, headers: Record<string, string> = {}): Promise<Reply> =>
      running().app.ask(url, { key: null, headers });
    expect((await ask(path, { host: 'c.acme.example' })).status).toBe(200);
    expect((await ask(`/status/challenged${path}`)).status).toBe(404);
    expect((await ask(path, { host: 'other.example' })).status).toBe(404);
  });
});
