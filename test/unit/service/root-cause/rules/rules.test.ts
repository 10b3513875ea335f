import { describe, expect, it } from 'vitest';
import {
  ASSERTION_SOURCES,
  type AssertionSource,
} from '../../../../../src/model/check/assertions/assertion.ts';
import { artifactIdOf } from '../../../../../src/model/ids.ts';
import { ERROR_CODES, type ErrorCode } from '../../../../../src/model/result/error-codes.ts';
import type { CheckResult } from '../../../../../src/model/result/result.ts';
import {
  type Analysis,
  analysisSchema,
  CLASSIFICATIONS,
} from '../../../../../src/model/result/root-cause-analysis.ts';
import type { AnalysisInput } from '../../../../../src/service/root-cause/analysis-input.ts';
import { analyseByRules } from '../../../../../src/service/root-cause/rules/rules-provider.ts';
import { ASSERTION, HTTP_RESPONSE } from '../../../../support/samples/http-results.ts';
import {
  answered,
  caseOf,
  checkOf,
  tlsWith,
  withoutAnswer,
} from '../../../../support/samples/root-cause-cases.ts';

/** Checks that the analysis has the form of the API and is the same each time. */
function analyse(file: AnalysisInput): Analysis {
  const analysis = analyseByRules(file);
  expect(analysisSchema.parse(analysis)).toEqual(analysis);
  expect(analyseByRules(structuredClone(file))).toEqual(analysis);
  return analysis;
}

const evidenceText = ({ evidence }: Analysis): string =>
  evidence.map(({ description }) => description).join('\n');
const codes = Object.keys(ERROR_CODES) as ErrorCode[];

describe('the rules, by error code', () => {
  it.each(codes)('know %s', (code) => {
    const analysis = analyse(caseOf(withoutAnswer(code)));
    expect(analysis.classification).not.toBe('UNKNOWN');
    expect(Object.keys(CLASSIFICATIONS)).toContain(analysis.classification);
    expect(analysis.rootCause).toMatch(/shop\.test|berlin/);
    expect(analysis.codeFix.length).toBeGreaterThan(40);
    expect(evidenceText(analysis)).toContain(`failed with ${code}`);
    expect(evidenceText(analysis)).toContain(`The agent says: shop.test:443 ended with ${code}.`);
    expect(JSON.stringify(analysis)).not.toMatch(/undefined|null|NaN|\[object|4711/);
  });

  it('say something else of each code', () => {
    const causes = codes.map((code) => analyse(caseOf(withoutAnswer(code))).rootCause);
    expect(new Set(causes).size).toBe(codes.length);
  });

  it('mark as likely what the code does not prove', () => {
    const ofOurOwn: readonly string[] = ['CHECK_CONFIGURATION', 'AGENT_PROBLEM'];
    for (const code of codes) {
      const { classification, rootCause } = analyse(caseOf(withoutAnswer(code)));
      if (!ofOurOwn.includes(classification)) expect(rootCause).toMatch(/[Ll]ikely/);
    }
  });

  it('say that they do not know the code of a newer agent', () => {
    const { classification, rootCause } = analyse(
      caseOf(withoutAnswer('QUIC_REFUSED' as ErrorCode)),
    );
    expect(classification).toBe('UNKNOWN');
    expect(rootCause).toContain('QUIC_REFUSED, a code that this release');
  });

  it('blame neither target nor network for what a setting of the agent stopped', () => {
    const file = caseOf(withoutAnswer('ADDRESS_DENIED'), {
      surroundings: {
        others: [{ location: 'oslo', slotMs: 0, passed: true, code: null, status: '200' }],
      },
    });
    const analysis = analyse(file);
    expect(analysis.classification).toBe('CHECK_CONFIGURATION');
    expect(analysis.rootCause).toContain('TARGET_DENY');
    expect(analysis.rootCause).not.toContain('likely');
  });
});

describe('the rules, by certificate', () => {
  it('say since when it has expired', () => {
    const tls = tlsWith({ validTo: '2025-12-29T12:00:00.000Z', daysRemaining: -3 });
    const analysis = analyse(caseOf(withoutAnswer('TLS_CERT_EXPIRED', { tls })));
    expect(analysis.rootCause).toContain(
      'expired on 2025-12-29 12:00:00 UTC, 3 days before this run',
    );
    expect(evidenceText(analysis)).toContain('it expired on 2025-12-29 12:00:00 UTC');
  });

  it('name an intermediate where the server’s own has not', () => {
    const analysis = analyse(caseOf(withoutAnswer('TLS_CERT_EXPIRED', { tls: tlsWith({}) })));
    expect(analysis.rootCause).toContain('likely an intermediate certificate has expired');
  });

  it('list the names of one that is for another host', () => {
    const subjectAltNames = ['DNS:a.test', 'DNS:b.test', 'IP Address:192.0.2.1'];
    const tls = tlsWith({ subjectAltNames });
    const analysis = analyse(caseOf(withoutAnswer('TLS_HOSTNAME_MISMATCH', { tls })));
    expect(analysis.rootCause).toContain('is for a.test, b.test, 192.0.2.1, not for shop.test');
  });

  it('name the issuer that is unknown', () => {
    const tls = tlsWith({ issuer: 'CN=Cellar CA' });
    const analysis = analyse(caseOf(withoutAnswer('TLS_UNTRUSTED', { tls })));
    expect(analysis.rootCause).toContain('its issuer, CN=Cellar CA, or one above is unknown');
  });

  it('say what is left of it, and that it was replaced since the last run that passed', () => {
    const tls = tlsWith({ daysRemaining: 9 });
    const passed = {
      slotMs: Date.UTC(2026, 0, 1, 11),
      responseTimeMs: 20,
      phases: {},
      address: null,
      status: '200',
      fingerprint: 'CC:DD',
      issuer: 'CN=Old CA',
    };
    const analysis = analyse(
      caseOf(answered({ status: 500, tls }), { surroundings: { passed: [passed] } }),
    );
    const text = evidenceText(analysis);
    expect(text).toContain('9 days remained');
    expect(text).toContain('It expires soon');
    expect(text).toContain('saw another certificate, issued by CN=Old CA: it was replaced since');
  });
});

describe('the rules, by HTTP status', () => {
  it.each([
    [401, 'ACCESS_DENIED'],
    [403, 'ACCESS_DENIED'],
    [404, 'NOT_FOUND'],
    [429, 'RATE_LIMITED'],
    [500, 'SERVER_ERROR'],
    [502, 'GATEWAY_ERROR'],
    [503, 'SERVICE_UNAVAILABLE'],
    [504, 'GATEWAY_ERROR'],
    [418, 'CLIENT_ERROR'],
    [599, 'SERVER_ERROR'],
  ])('%i is %s', (status, classification) => {
    const analysis = analyse(caseOf(answered({ status, statusText: 'Oh', ip: '192.0.2.7' })));
    expect(analysis.classification).toBe(classification);
    expect(analysis.rootCause).toContain(`https://shop.test answered with status ${status}.`);
    expect(evidenceText(analysis)).toContain(`The answer of 192.0.2.7 was ${status} Oh`);
    expect(analysis.referenceLinks.length).toBeGreaterThan(0);
  });

  it('keeps apart what 401, 403, 404, 429, 500, 502, 503 and 504 ask for', () => {
    const statuses = [401, 403, 404, 429, 500, 502, 503, 504];
    const fixes = statuses.map((status) => analyse(caseOf(answered({ status }))).codeFix);
    expect(new Set(fixes).size).toBe(statuses.length);
  });

  it('stands before the assertion that fails because of it', () => {
    const analysis = analyse(caseOf(answered({ status: 503 }, { assertions: [ASSERTION] })));
    expect(analysis.classification).toBe('SERVICE_UNAVAILABLE');
    expect(evidenceText(analysis)).toContain('Assertion on STATUS_CODE: expected the status code');
  });

  it('is no cause if an assertion accepts it', () => {
    const isOneOf = { ...ASSERTION, comparison: 'ONE_OF', target: '200, 404' } as const;
    const body = { ...ASSERTION, source: 'TEXT_BODY' } as const;
    const assertions = [{ ...isOneOf, error: null }, body];
    const accepted = analyse(caseOf(answered({ status: 404 }, { assertions })));
    expect(accepted.classification).toBe('UNEXPECTED_CONTENT');
    const refused = analyse(caseOf(answered({ status: 503 }, { assertions: [isOneOf] })));
    expect(refused.classification).toBe('SERVICE_UNAVAILABLE');
  });

  it('shows headers that help, and none that may hold a secret', () => {
    const headers = { 'retry-after': '120', 'x-internal-note': 'psst', server: 'nginx' };
    const text = evidenceText(analyse(caseOf(answered({ status: 503, headers }))));
    expect(text).toContain('server: nginx; retry-after: 120');
    expect(text).not.toContain('psst');
  });

  it('shows the redirects before it, without their queries', () => {
    const redirects = [{ status: 302, url: 'https://login.shop.test/in?token=hush#x' }];
    const text = evidenceText(analyse(caseOf(answered({ status: 403, redirects }))));
    expect(text).toContain('It followed 1 redirect: 302 to "https://login.shop.test/in".');
    expect(text).not.toContain('hush');
  });
});

describe('the rules, by what the check asks for', () => {
  const sources = [...new Set(Object.values(ASSERTION_SOURCES).flat())] as AssertionSource[];
  const detailWith = (source: AssertionSource): Partial<CheckResult> =>
    answered(
      {},
      { assertions: [{ ...ASSERTION, source, property: '$.a', error: 'expected 1, got 2' }] },
    );

  it.each(sources)('a failed assertion on %s', (source) => {
    const analysis = analyse(caseOf(detailWith(source)));
    expect(analysis.rootCause).toContain(`an assertion on ${source} "$.a" failed: expected 1, got`);
    expect(analysis.rootCause).not.toContain('other assertion');
    expect(evidenceText(analysis)).toContain(`Assertion on ${source} "$.a": expected 1, got 2.`);
  });

  it('shouldFail, and the target answered', () => {
    const file = caseOf(answered({ status: 200 }), { check: checkOf({ shouldFail: true }) });
    const analysis = analyse(file);
    expect(analysis.classification).toBe('UNEXPECTED_SUCCESS');
    expect(analysis.rootCause).toContain('https://shop.test answered with status 200');
  });

  it('shouldFail, where it did fail as asked for and an assertion did not hold', () => {
    const file = caseOf(answered({ status: 404 }, { assertions: [ASSERTION] }), {
      check: checkOf({ shouldFail: true }),
    });
    expect(analyse(file).classification).toBe('UNEXPECTED_CONTENT');
  });

  it('nothing that is stored', () => {
    const analysis = analyse(caseOf({ apiCheckResult: null, hasErrors: true, hasFailures: false }));
    expect(analysis.classification).toBe('UNKNOWN');
  });
});

describe('the rules, by time', () => {
  const phases = { wait: 0, dns: 10, tcp: 20, tls: 30, firstByte: 40, download: 5, total: 105 };
  const usual = { ...phases };
  const passed = [1, 2, 3].map((number) => ({
    slotMs: Date.UTC(2026, 0, 1, 12 - number),
    responseTimeMs: 105,
    phases: usual,
    address: null,
    status: '200',
    fingerprint: null,
    issuer: null,
  }));

  it.each([
    ['wait', 'The target did not cause this delay'],
    ['dns', 'looking up the name'],
    ['tcp', 'establishing the TCP connection'],
    ['tls', 'the TLS handshake'],
    ['firstByte', 'waiting for the first byte'],
    ['download', 'receiving the body'],
  ])('find that %s made the run slow', (name, words) => {
    const timingPhases = { ...phases, [name]: 6000, total: 6100 };
    const file = caseOf(
      {
        ...answered({ timingPhases }),
        responseTime: 6100,
        overMaxResponseTime: true,
      },
      { check: checkOf({ maxResponseTime: 5000 }), surroundings: { passed } },
    );
    const analysis = analyse(file);
    expect(analysis.classification).toBe('SLOW_RESPONSE');
    expect(analysis.rootCause).toContain('after 6.1 s, over its limit of 5000 ms');
    expect(analysis.rootCause).toContain(words);
    expect(evidenceText(analysis)).toContain('the median of the last 3 runs that passed');
  });

  it('blame the phase that grew, not the one that is always the longest', () => {
    const before = passed.map((run) => ({ ...run, phases: { ...usual, firstByte: 2000 } }));
    const timingPhases = { ...phases, dns: 1500, firstByte: 2100, total: 3655 };
    const file = caseOf(
      { ...answered({ timingPhases }), responseTime: 3655, isDegraded: true, hasFailures: false },
      { check: checkOf(), surroundings: { passed: before } },
    );
    const { rootCause } = analyse(file);
    expect(rootCause).toContain('over its limit of 3000 ms');
    expect(rootCause).toContain(
      'Most of the delay was looking up the name: 1.5 s, where 10 ms is usual',
    );
  });

  it('take the longest phase where nothing is known of before', () => {
    const timingPhases = { ...phases, download: 7000, total: 7100 };
    const file = caseOf({
      ...answered({ timingPhases }),
      responseTime: 7100,
      overMaxResponseTime: true,
    });
    expect(analyse(file).rootCause).toContain('receiving the body: 7 s. Likely the body is large');
  });
});

describe('the rules, by check type', () => {
  const common = {
    assertions: [],
    requestError: null,
    requestErrorCode: null,
    jobLog: [],
    jobAssets: [],
    pcapDataUrl: null,
    traceroute: null,
  };

  it('the answer of a name server', () => {
    const dnsCheckResult: CheckResult['dnsCheckResult'] = {
      ...common,
      request: {
        query: 'gone.test',
        recordType: 'MX',
        nameServer: '192.0.2.53',
        port: 53,
        protocol: 'UDP',
      },
      response: {
        responseCode: 'NXDOMAIN',
        answer: {
          Status: 3,
          TC: false,
          RD: true,
          RA: true,
          AD: false,
          CD: false,
          Question: [],
          Answer: [],
        },
        text: '',
        nameServer: { host: '192.0.2.53', port: 53, protocol: 'UDP' },
      },
      timings: { end: 5 },
      timingPhases: { total: 5 },
    };
    const result = { apiCheckResult: null, dnsCheckResult, checkType: 'DNS' as const };
    const analysis = analyse(caseOf(result));
    expect(analysis.classification).toBe('DNS_FAILURE');
    expect(analysis.rootCause).toContain(
      'gone.test does not exist, according to the name server 192.0.2.53:53',
    );
    expect(evidenceText(analysis)).toContain('The answer was NXDOMAIN, without records.');
  });

  it('lost echoes', () => {
    const icmpCheckResult: CheckResult['icmpCheckResult'] = {
      ...common,
      request: { hostname: 'far.test', pingCount: 10, ipFamily: 'IPv4' },
      response: {
        hostname: 'far.test',
        resolvedIp: '192.0.2.9',
        ipFamily: 'IPv4',
        pingCount: 10,
        packetsSent: 10,
        packetsReceived: 7,
        packetLoss: 30,
        dnsResolutionTime: 1,
        latency: { avg: 20, min: 10, max: 40, stdDev: 5 },
        pingResults: [],
      },
      timings: { lookup: 1, end: 5000 },
      timingPhases: { dns: 1, total: 5000 },
    };
    const check = checkOf({ checkType: 'ICMP', request: { hostname: 'far.test' } });
    const result = { apiCheckResult: null, icmpCheckResult, checkType: 'ICMP' as const };
    const analysis = analyse(caseOf(result, { check }));
    expect(analysis.classification).toBe('PACKET_LOSS');
    expect(analysis.rootCause).toContain('3 of 10 echo requests (30 %) to far.test');
    expect(analysis.rootCause).toContain('from 20 % on the check fails');
  });

  it('a connection', () => {
    const tcpCheckResult: CheckResult['tcpCheckResult'] = {
      ...common,
      request: { hostname: '2001:db8::1', port: 25, data: null, ipFamily: 'IPv6' },
      response: null,
      requestErrorCode: 'CONNECT_REFUSED',
      requestError: 'refused',
      timings: { lookup: 0, connect: null, response: null, end: 2 },
      timingPhases: { dns: 0, connection: 2, data: 0, total: 2 },
    };
    const result = { apiCheckResult: null, tcpCheckResult, checkType: 'TCP' as const };
    const analysis = analyse(caseOf(result));
    expect(analysis.rootCause).toContain('[2001:db8::1]:25 refused the connection');
    expect(analysis.codeFix).toContain('on port 25');
  });
});

describe('what is stored', () => {
  it('is named with its type', () => {
    const pcapDataUrl = '/v1/artifacts/pcap';
    const names = ['response-body', 'capture.pcap', 'traceroute.json', 'traceroute'];
    const uploaded = names.map((name) => `/v1/artifacts/${artifactIdOf('result-1', name)}`);
    const [body, capture, trace, older] = uploaded;
    const file = caseOf(
      answered(
        { ...HTTP_RESPONSE, status: 500, body: '<h1>Oh</h1>' },
        {
          requestErrorCode: null,
          jobAssets: ['/v1/artifacts/report', pcapDataUrl, ...uploaded],
          pcapDataUrl,
          jobLog: [
            { time: 0, level: 'info', msg: 'Connected' },
            { time: 0, level: 'warn', msg: 'No room for the body' },
          ],
        },
      ),
    );
    const analysis = analyse(file);
    const named = analysis.evidence.flatMap(({ artifacts }) =>
      artifacts.map(({ name, type }) => `${type} ${name}`),
    );
    expect(new Set(named)).toEqual(
      new Set([
        'check-result /v1/check-results/shop/result-1',
        'response-body /v1/check-results/shop/result-1#apiCheckResult.response.body',
        `response-body ${body}`,
        `packet-capture ${pcapDataUrl}`,
        `packet-capture ${capture}`,
        `traceroute ${trace}`,
        `traceroute ${older}`,
        'job-asset /v1/artifacts/report',
        'job-log /v1/check-results/shop/result-1#jobLog',
      ]),
    );
    expect(evidenceText(analysis)).toContain('The log of the run says: No room for the body.');
    expect(evidenceText(analysis)).not.toContain('Connected');
  });

  it('is cut to what an analysis may hold', () => {
    const long = 'é😀'.repeat(5000);
    const assertions = Array.from({ length: 50 }, () => ({ ...ASSERTION, error: long }));
    const jobLog = Array.from({ length: 200 }, () => ({
      time: 0,
      level: 'warn' as const,
      msg: long,
    }));
    const others = Array.from({ length: 20 }, (_, number) => ({
      location: `${number}`.padEnd(250, 'x'),
      slotMs: 0,
      passed: false,
      code: null,
      status: null,
    }));
    const file = caseOf(answered({}, { assertions, jobLog, requestError: long }), {
      surroundings: { others, lookedBackMs: 1 },
    });
    const analysis = analyse(file);
    expect(evidenceText(analysis)).toContain('40 more assertions failed.');
    expect(JSON.stringify(analysis).length).toBeLessThan(60_000);
  });
});
