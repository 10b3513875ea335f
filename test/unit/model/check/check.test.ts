import { describe, expect, it } from 'vitest';
import { checkBodySchema } from '../../../../src/model/check/check.ts';
import { dnsPortOf } from '../../../../src/model/check/request/dns.ts';
import type { RunnableCheckType } from '../../../../src/model/enums.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';

function problemsOf(checkType: RunnableCheckType, fields: CheckFields): string[] {
  const valid = checkOf(checkType);
  const { id: _id, ...body } = { ...valid, ...fields };
  const merged = { ...body, request: { ...valid.request, ...fields.request } };
  const parsed = checkBodySchema.safeParse(merged);
  const paths = parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'));
  return [...new Set(paths)];
}

describe('defaults of every check', () => {
  it('are those of the specification', () => {
    expect(checkOf('URL')).toMatchObject({
      activated: true,
      muted: false,
      doubleCheck: true,
      shouldFail: false,
      useGlobalAlertSettings: true,
      runParallel: false,
      frequency: 10,
      frequencyOffset: null,
      tags: [],
    });
  });

  it.each([
    ['URL', 3000, 5000],
    ['API', 5000, 20_000],
    ['TCP', 3000, 5000],
    ['DNS', 500, 1000],
  ] as const)('%s: degraded over %i ms, failed over %i ms', (type, degraded, max) => {
    expect(checkOf(type)).toMatchObject({ degradedResponseTime: degraded, maxResponseTime: max });
  });

  it('of requests are those of the specification', () => {
    expect(checkOf('URL').request).toMatchObject({
      method: 'GET',
      followRedirects: true,
      skipSSL: false,
      ipFamily: 'IPv4',
    });
    expect(checkOf('DNS').request).toMatchObject({ recordType: 'A', port: 53, protocol: 'UDP' });
    expect(checkOf('ICMP').request).toMatchObject({ pingCount: 10, ipFamily: 'IPv4' });
    expect(checkOf('ICMP')).toMatchObject({
      degradedPacketLossThreshold: 10,
      maxPacketLossThreshold: 20,
    });
  });
});

describe('the port of a DNS check', () => {
  it.each([
    ['UDP', 53, 53],
    ['TCP', 53, 53],
    ['DOT', 53, 853],
    ['DOH', 53, 443],
    ['DOT', 8853, 8853],
  ] as const)('over %s, if it is %i in the check, is %i', (protocol, port, expected) => {
    expect(dnsPortOf({ protocol, port })).toBe(expected);
  });
});

describe('limits of check fields', () => {
  it.each<[RunnableCheckType, string, CheckFields, CheckFields]>([
    ['URL', 'maxResponseTime', { maxResponseTime: 30_000 }, { maxResponseTime: 30_001 }],
    ['TCP', 'maxResponseTime', { maxResponseTime: 5000 }, { maxResponseTime: 5001 }],
    [
      'DNS',
      'request.nameServer',
      { request: { query: 'a.test', nameServer: 'ns.test', protocol: 'DOT' } },
      { request: { query: 'a.test', protocol: 'DOT' } },
    ],
    [
      'DNS',
      'request.dohPath',
      { request: { query: 'a.test', dohPath: '/~a/dns-query' } },
      { request: { query: 'a.test', dohPath: '/dns-query{?dns}' } },
    ],
    ['URL', 'degradedResponseTime', { degradedResponseTime: 0 }, { degradedResponseTime: -1 }],
    ['URL', 'description', { description: 'x'.repeat(500) }, { description: 'x'.repeat(501) }],
    ['URL', 'frequency', { frequency: 1440 }, { frequency: 3 }],
    ['URL', 'frequencyOffset', { frequencyOffset: 100 }, { frequencyOffset: 101 }],
    [
      'API',
      'frequencyOffset',
      { frequency: 0, frequencyOffset: 20 },
      { frequency: 0, frequencyOffset: 25 },
    ],
    ['TCP', 'request.port', { request: { port: 65_535 } }, { request: { port: 65_536 } }],
    ['TCP', 'request.port', { request: { port: 1 } }, { request: { port: 0 } }],
    ['ICMP', 'request.pingCount', { request: { pingCount: 50 } }, { request: { pingCount: 51 } }],
    [
      'ICMP',
      'maxPacketLossThreshold',
      { maxPacketLossThreshold: 100 },
      { maxPacketLossThreshold: 101 },
    ],
    [
      'URL',
      'request.url',
      { request: { url: `http://a/${'x'.repeat(2039)}` } },
      { request: { url: `http://a/${'x'.repeat(2040)}` } },
    ],
    ['URL', 'request.method', { request: { method: 'GET' } }, { request: { method: 'POST' } }],
    [
      'URL',
      'retryStrategy.maxRetries',
      { retryStrategy: { type: 'FIXED', maxRetries: 10 } },
      { retryStrategy: { type: 'FIXED', maxRetries: 11 } },
    ],
    [
      'URL',
      'retryStrategy.maxDurationSeconds',
      { retryStrategy: { type: 'FIXED', maxDurationSeconds: 600 } },
      { retryStrategy: { type: 'FIXED', maxDurationSeconds: 601 } },
    ],
  ])('%s %s: %j is accepted, %j is not', (type, path, good, bad) => {
    expect(problemsOf(type, good)).toEqual([]);
    expect(problemsOf(type, bad)).toEqual([path]);
  });

  it.each(['ftp://example.com/', 'example.com', 'http://', 'http:///x', 'javascript:alert(1)'])(
    'refuse %s as a url',
    (url) => {
      expect(problemsOf('URL', { request: { url } })).toEqual(['request.url']);
    },
  );

  it.each(['https://example.com', 'exa mple', 'example.com:80', 'a..b', ''])(
    'refuse %j as a host name',
    (hostname) => {
      expect(problemsOf('TCP', { request: { hostname } })).toEqual(['request.hostname']);
    },
  );

  it.each(['example.com', '10.0.0.1', '::1', '[::1]', 'bücher.example', '_srv.example.com'])(
    'take %s as a host name',
    (hostname) => {
      expect(problemsOf('TCP', { request: { hostname } })).toEqual([]);
    },
  );
});

describe('rules between the fields of a check', () => {
  it('degradedResponseTime is at most maxResponseTime', () => {
    const limits = { degradedResponseTime: 201, maxResponseTime: 200 };
    expect(problemsOf('URL', limits)).toEqual(['degradedResponseTime']);
    expect(problemsOf('URL', { ...limits, maxResponseTime: null })).toEqual([]);
    expect(
      problemsOf('ICMP', { degradedPacketLossThreshold: 50, maxPacketLossThreshold: 40 }),
    ).toEqual(['degradedPacketLossThreshold']);
  });

  it('a low maxResponseTime lowers only an omitted degradedResponseTime', () => {
    expect(checkOf('URL', { maxResponseTime: 200 }).degradedResponseTime).toBe(200);
    expect(checkOf('ICMP', { maxPacketLossThreshold: 5 }).degradedPacketLossThreshold).toBe(5);
    expect(checkOf('URL', { maxResponseTime: 4000 }).degradedResponseTime).toBe(3000);
    expect(problemsOf('URL', { maxResponseTime: 200, degradedResponseTime: 3000 })).toEqual([
      'degradedResponseTime',
    ]);
  });

  it.each(['URL', 'API', 'TCP', 'DNS', 'ICMP'] as const)('%s can run every few seconds', (type) => {
    expect(problemsOf(type, { frequency: 0, frequencyOffset: 15 })).toEqual([]);
    expect(problemsOf(type, { frequency: 0 })).toEqual(['frequencyOffset']);
  });

  it('onlyOn is allowed only for checks with a status code', () => {
    const retryStrategy = { type: 'FIXED', onlyOn: ['NETWORK_ERROR'] };
    expect(problemsOf('API', { retryStrategy })).toEqual([]);
    expect(problemsOf('TCP', { retryStrategy })).toEqual(['retryStrategy.onlyOn']);
  });

  it.each([
    ['URL', 'JSON_BODY'],
    ['TCP', 'STATUS_CODE'],
    ['ICMP', 'RESPONSE_TIME'],
  ] as const)('%s has no %s to assert on', (type, source) => {
    const assertions = [{ source, comparison: 'EQUALS', target: '1' }];
    expect(problemsOf(type, { request: { assertions } })).toEqual(['request.assertions.0.source']);
  });

  it.each([
    ['STATUS_CODE', 'EQUALS', '2xx'],
    ['RESPONSE_TIME', 'LESS_THAN', '800ms'],
    ['RESPONSE_TIME', 'GREATER_THAN', ''],
  ])('%s %s needs a number and not %j', (source, comparison, target) => {
    const withTarget = (text: string) => ({
      request: { assertions: [{ source, comparison, target: text }] },
    });
    expect(problemsOf('API', withTarget(target))).toEqual(['request.assertions.0.target']);
    expect(problemsOf('API', withTarget('800.5'))).toEqual([]);
  });

  it('unknown fields are refused', () => {
    expect(problemsOf('URL', { frequencies: 5 })).toEqual(['']);
  });
});

describe('the variables of a check', () => {
  it('have no key twice', () => {
    const twice = ['A', 'B', 'A'].map((key) => ({ key, value: 'x', secret: false }));
    expect(problemsOf('TCP', { variables: twice })).toEqual(['variables.2.key']);
    expect(problemsOf('TCP', { variables: twice.slice(0, 2) })).toEqual([]);
  });
});
