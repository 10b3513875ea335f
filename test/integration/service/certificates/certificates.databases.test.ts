import { describe, expect, it } from 'vitest';
import type { CertificateFacts } from '../../../../src/model/result/details/check-detail.ts';
import { databases } from '../../../support/database/databases.ts';
import { HTTP_DETAIL, HTTP_RESPONSE } from '../../../support/samples/http-results.ts';
import { resultOverTls } from '../../../support/samples/tls-results.ts';
import { createAuthority } from '../../../support/servers/certificates.ts';
import { until } from '../../../support/service/deployment.ts';
import {
  DAY_MS,
  minutesAgo,
  NOW,
  resultOfRun,
  useResultsFixture,
} from '../../../support/service/results-fixture.ts';
import { useRunningService } from '../../../support/service/service-fixture.ts';

const PATH = '/v1/certificates';
const USES = '/v1/client-certificate-uses';

function certificate(name: string, daysRemaining: number): CertificateFacts {
  return {
    subject: `CN=${name}`,
    issuer: 'CN=An authority',
    subjectAltNames: [name, `www.${name}`],
    validFrom: new Date(NOW - 30 * DAY_MS).toISOString(),
    validTo: new Date(NOW + daysRemaining * DAY_MS + 3_600_000).toISOString(),
    daysRemaining,
    serialNumber: '01:02',
    fingerprint256: `FP:${name}`,
  };
}

const TLS = { protocol: 'TLSv1.3', cipher: null, alpnProtocol: null, authorized: true };

function seeing(facts: CertificateFacts) {
  const response = { ...HTTP_RESPONSE, tls: { ...TLS, certificate: facts } };
  return { apiCheckResult: { ...HTTP_DETAIL, response } };
}

describe.each(databases)('on %s', (kind) => {
  const fixtureOf = useResultsFixture(useRunningService(kind));

  describe('the certificates that checks saw', () => {
    it('have their issuer, their names and the remaining days, the soonest to expire first', async () => {
      const { mine, theirs, berlin, deliver, check } = fixtureOf();
      await check('mail');
      await check('plain');
      await deliver(berlin, {
        results: [
          resultOfRun({ slot: minutesAgo(3), ...seeing(certificate('old.shop.test', 2)) }),
          resultOfRun({ slot: minutesAgo(2), ...seeing(certificate('shop.test', 60)) }),
          resultOfRun({
            slot: minutesAgo(2),
            checkId: 'mail',
            ...seeing(certificate('mail.test', -1)),
          }),
          resultOfRun({ slot: minutesAgo(2), checkId: 'plain' }),
        ],
      });
      const { status, json } = await mine.get(PATH);
      expect(status).toBe(200);
      expect(json).toMatchObject([{ checkId: 'mail', daysRemaining: -1 }, { checkId: 'shop' }]);
      expect(json[1]).toEqual({
        checkId: 'shop',
        name: 'Check shop',
        checkType: 'URL',
        activated: true,
        daysRemaining: 60,
        seenAt: new Date(minutesAgo(2)).toISOString(),
        location: 'berlin',
        authorized: true,
        protocol: 'TLSv1.3',
        certificate: {
          subject: 'CN=shop.test',
          issuer: 'CN=An authority',
          validFrom: new Date(NOW - 30 * DAY_MS).toISOString(),
          validTo: new Date(NOW + 60 * DAY_MS + 3_600_000).toISOString(),
          serialNumber: '01:02',
          fingerprint256: 'FP:shop.test',
          names: ['shop.test', 'www.shop.test'],
          nameCount: 2,
        },
      });
      const all = [];
      for (const page of [1, 2]) all.push(...(await mine.get(`${PATH}?limit=1&page=${page}`)).json);
      expect(all).toEqual(json);
      // Transactions of other tests on the same server delay what a cursor shows.
      const byCursor = await until(
        () => mine.get(`${PATH}?cursor=start`),
        (answer) => answer.json.length >= json.length,
      );
      expect(byCursor.json).toEqual(expect.arrayContaining(json));
      expect((await theirs.get(PATH)).json).toEqual([]);
    });

    it('are also those of mail servers after STARTTLS and of resolvers over DOT', async () => {
      const { mine, berlin, deliver, check } = fixtureOf();
      const tcp = { hostname: 'mail.test', port: 587, tls: 'STARTTLS', startTlsProtocol: 'SMTP' };
      await check('mail', { checkType: 'TCP', request: tcp });
      const dns = { query: 'shop.test', nameServer: 'dns.test', protocol: 'DOT' };
      await check('resolver', { checkType: 'DNS', request: dns });
      const slot = minutesAgo(2);
      const results = [
        ['mail', 'TCP', 20],
        ['resolver', 'DNS', 9],
      ] as const;
      await deliver(berlin, {
        results: results.map(([checkId, type, days]) => {
          const tls = { ...TLS, certificate: certificate(`${checkId}.test`, days) };
          return resultOfRun({ slot, checkId, ...resultOverTls(type, tls), apiCheckResult: null });
        }),
      });
      const seen = { location: 'berlin', authorized: true, protocol: 'TLSv1.3' };
      const shown = (name: string) => ({ ...seen, certificate: { subject: `CN=${name}` } });
      expect((await mine.get(PATH)).json).toMatchObject([
        { checkId: 'resolver', checkType: 'DNS', daysRemaining: 9, ...shown('resolver.test') },
        { checkId: 'mail', checkType: 'TCP', daysRemaining: 20, ...shown('mail.test') },
      ]);
    });

    it('have for each slot the one that expires first, and stay known after the result is deleted', async () => {
      const { mine, berlin, oslo, deliver, store } = fixtureOf();
      const slot = minutesAgo(2);
      await deliver(berlin, {
        results: [resultOfRun({ slot, ...seeing(certificate('new.test', 80)) })],
      });
      await deliver(oslo, {
        results: [
          resultOfRun({ slot, runLocation: 'oslo', ...seeing(certificate('stale.test', 3)) }),
        ],
      });
      expect((await mine.get(PATH)).json).toMatchObject([
        { location: 'oslo', daysRemaining: 3, certificate: { subject: 'CN=stale.test' } },
      ]);
      await store.query('delete from check_results where account_id = $1', [mine.accountId]);
      const [left] = (await mine.get(PATH)).json;
      expect(left).toMatchObject({ checkId: 'shop', certificate: null, location: null });
      // The slot and the whole days at that time: up to a day less than the real rest.
      expect(left.daysRemaining).toBe(2);
    });
  });

  describe('the uses of client certificates', () => {
    it('name the checks whose host a certificate is for, and when it expires, without the key', async () => {
      const { mine, theirs, check } = fixtureOf();
      const authority = await createAuthority();
      const bank = await authority.issue({ commonName: 'the shop', names: ['client.shop.test'] });
      const add = async (host: string): Promise<string> => {
        const { status, text, json } = await mine.post('/v1/client-certificates', {
          host,
          ...bank,
        });
        expect(status, text).toBe(201);
        return json.id;
      };
      const one = await add('API.bank.test');
      const wildcard = await add('*.bank.test');
      const unused = await add('nobody.test');
      const address = await add('[2001:db8::1]');
      const at = (url: string) => ({ request: { url } });
      await check('a', at('https://api.bank.test/v1'));
      await check('b', at('https://user@web.bank.test:8443'));
      await check('c', at('https://a.web.bank.test/'));
      await check('d', at('http://api.bank.test/'));
      await check('e', at('https://{{HOST}}/api.bank.test'));
      await check('f', at('https://bank.test/'));
      await check('g', at('https://[2001:db8::1]:8443/'));
      const tcp = (id: string, hostname: string, tls: string) =>
        check(id, {
          checkType: 'TCP',
          request: {
            hostname,
            port: 636,
            tls,
            startTlsProtocol: tls === 'STARTTLS' ? 'LDAP' : null,
          },
        });
      await tcp('tcp-check', 'LDAP.bank.test', 'ON');
      await tcp('tcp-plain', 'ldap.bank.test', 'OFF');
      await tcp('tcp-address', '2001:DB8::1', 'STARTTLS');
      const dns = (id: string, protocol: string) =>
        check(id, {
          checkType: 'DNS',
          request: { query: 'bank.test', nameServer: 'api.bank.test', protocol },
        });
      await dns('dot', 'DOT');
      await dns('dns-plain', 'TCP');
      const { status, json } = await mine.get(USES);
      expect(status).toBe(200);
      const ids = (use: { checks: readonly { id: string }[] }) => use.checks.map(({ id }) => id);
      const [first, second, third, fourth] = [one, wildcard, unused, address].map((id) =>
        json.find((use: { id: string }) => use.id === id),
      );
      expect(json).toHaveLength(4);
      expect([ids(first), ids(second), ids(third), ids(fourth)]).toEqual([
        ['a', 'dot'],
        ['a', 'b', 'dot', 'tcp-check'],
        [],
        ['g', 'tcp-address'],
      ]);
      expect([first.checkCount, second.checkCount, third.checkCount]).toEqual([2, 4, 0]);
      expect(first).toMatchObject({
        host: 'API.bank.test',
        certificate: {
          subject: 'CN=the shop, O=Vedette Tests',
          issuer: 'CN=Test Root',
          names: ['client.shop.test'],
        },
      });
      expect(first.daysRemaining).toBe(
        Math.floor((Date.parse(first.certificate.validTo) - NOW) / DAY_MS),
      );
      expect(JSON.stringify(json)).not.toContain('BEGIN');
      expect((await theirs.get(USES)).json).toEqual([]);
    });
  });
});
