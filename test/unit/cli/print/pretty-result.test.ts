import { describe, expect, it } from 'vitest';
import { paletteFor } from '../../../../src/cli/print/colour.ts';
import {
  prettyMissed,
  prettyResult,
  prettySkipped,
} from '../../../../src/cli/print/pretty-result.ts';
import type { DnsDetail } from '../../../../src/model/result/details/dns-detail.ts';
import type { IcmpDetail } from '../../../../src/model/result/details/icmp-detail.ts';
import type { TcpDetail } from '../../../../src/model/result/details/tcp-detail.ts';
import { ERROR_CODES } from '../../../../src/model/result/error-codes.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { type CheckFields, checkOf } from '../../../support/samples/checks.ts';
import {
  ASSERTION,
  HTTP_DETAIL,
  HTTP_RESPONSE,
  resultOf,
} from '../../../support/samples/http-results.ts';

const PLAIN = paletteFor(false);

const TRY = '        try: ';

/** The lines without the advice. */
function lines(fields: Partial<CheckResult> = {}, check?: CheckFields): readonly string[] {
  const { checkType } = resultOf(fields);
  const ran = check === undefined ? undefined : checkOf(checkType, check);
  const text = prettyResult(resultOf(fields), ran, PLAIN);
  expect(text.endsWith('\n')).toBe(true);
  return text
    .slice(0, -1)
    .split('\n')
    .filter((line) => !line.startsWith(TRY));
}

const REFUSED = {
  hasFailures: true,
  apiCheckResult: {
    ...HTTP_DETAIL,
    response: null,
    requestError: '127.0.0.1:9 refused the connection',
    requestErrorCode: 'CONNECT_REFUSED',
  },
} as const;

describe('a result', () => {
  it('that passed is one line with the time and its phases', () => {
    expect(lines()).toEqual([
      'PASS    Shop (shop)  URL  status 200  11.8 ms  dns 1.50 ms · tcp 2.00 ms · first byte 8.00 ms · download 0.25 ms',
    ]);
  });

  it('whose name is its id says it once', () => {
    expect(lines({ name: 'shop' })[0]).toMatch(/^PASS {4}shop {2}URL/);
  });

  it('that failed says which assertions, what was expected and what came', () => {
    const passed = { ...ASSERTION, error: null };
    expect(
      lines({
        hasFailures: true,
        attempts: 2,
        apiCheckResult: {
          ...HTTP_DETAIL,
          response: { ...HTTP_RESPONSE, status: 503, body: '' },
          assertions: [passed, ASSERTION],
        },
      }),
    ).toEqual([
      expect.stringMatching(
        /^FAIL {4}Shop \(shop\) {2}URL {2}status 503 {2}11\.8 ms {2}after 2 retries/,
      ),
      '        expected the status code to equal 200, but got 503',
    ]);
  });

  it('with the status of an error shows the beginning of its body, on one line', () => {
    const failed = (body: string, fields: Partial<CheckResult> = {}): readonly string[] =>
      lines({
        hasFailures: true,
        apiCheckResult: { ...HTTP_DETAIL, response: { ...HTTP_RESPONSE, status: 503, body } },
        ...fields,
      }).slice(2);
    const [steering = '', ...more] = failed('{\n  "error": "no database\u001b[2J"\n}');
    expect(steering).toMatch(/^ {8}body: \{ "error": "no database.+" \}$/);
    expect(steering).not.toContain('\u001b');
    expect(more).toEqual([]);
    expect(failed('x'.repeat(1000))).toEqual([`        body: ${'x'.repeat(200)}…`]);
    expect(failed(' ')).toEqual([]);
    expect(failed('tried again', { resultType: 'ATTEMPT' })).toEqual([]);
    const wrong = { ...HTTP_DETAIL, assertions: [ASSERTION] };
    expect(lines({ hasFailures: true, apiCheckResult: wrong })).toHaveLength(2);
  });

  it('without a response says why, with its code, and not once more for each assertion', () => {
    const failed = lines({
      hasFailures: true,
      apiCheckResult: {
        ...HTTP_DETAIL,
        response: null,
        requestError: '127.0.0.1:9 refused the connection',
        requestErrorCode: 'CONNECT_REFUSED',
        assertions: [ASSERTION],
        timingPhases: HTTP_RESPONSE.timingPhases,
      },
    });
    expect(failed).toEqual([
      expect.stringContaining('tcp 2.00 ms'),
      '        CONNECT_REFUSED: 127.0.0.1:9 refused the connection',
    ]);
  });

  it('that failed ends with advice, and one that passed or is retried does not', () => {
    const text = prettyResult(resultOf(REFUSED), undefined, PLAIN);
    expect(text.split('\n')[2]).toBe(`${TRY}${ERROR_CODES.CONNECT_REFUSED.advice}`);
    const others = [{}, { ...REFUSED, resultType: 'ATTEMPT' }, { isCancelled: true }] as const;
    for (const fields of others) {
      expect(prettyResult(resultOf(fields), undefined, PLAIN)).not.toContain('try: ');
    }
  });

  it.each([40, 60, 100])('fits into a terminal of %i columns', (width) => {
    const coloured = paletteFor(true);
    const long = { ...REFUSED, name: 'A shop with a long name '.repeat(3) };
    for (const fields of [{}, REFUSED, long]) {
      const printed = prettyResult(resultOf(fields), undefined, coloured, width).split('\n');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no column
      const shown = printed.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
      expect(Math.max(...shown.map(({ length }) => length))).toBeLessThanOrEqual(width);
      // The advice is complete, on as many lines as it needs.
      if ('apiCheckResult' in fields) {
        const words = shown.map((line) => line.trim()).join(' ');
        expect(words).toContain(`try: ${ERROR_CODES.CONNECT_REFUSED.advice}`);
      }
      // Each colour ends on its line.
      for (const line of printed) {
        expect(line.match(/\[(?:1|2|3[0-7])m/g)?.length).toBe(line.match(/\[(?:22|39)m/g)?.length);
      }
    }
  });

  it('over a threshold says by how much', () => {
    const overMax = { hasFailures: true, overMaxResponseTime: true, responseTime: 2100.4 };
    expect(lines(overMax, { maxResponseTime: 2000, degradedResponseTime: null })[1]).toBe(
      '        2100 ms, over 2000 ms: failed',
    );
    const slow = { isDegraded: true, responseTime: 517.2 };
    expect(lines(slow, { degradedResponseTime: 300 })).toEqual([
      expect.stringMatching(/^SLOW {4}Shop/),
      '        517 ms, over 300 ms: degraded',
    ]);
    expect(lines(slow, { degradedResponseTime: 517 })[1]).toBe(
      '        517.2 ms, over 517 ms: degraded',
    );
    // The threshold was changed since the run.
    expect(lines(slow, { degradedResponseTime: 600 })[1]).toBe(
      '        slower than its degradedResponseTime',
    );
  });

  it.each([
    'DNS_TIMEOUT',
    'CONNECT_TIMEOUT',
    'TLS_TIMEOUT',
    'RESPONSE_TIMEOUT',
    'BODY_TIMEOUT',
  ] as const)('that ended with %s does not say once more that it took long', (code) => {
    const detail = { response: null, requestError: 'nothing in 30 s', requestErrorCode: code };
    const failed = lines(
      {
        hasFailures: true,
        overMaxResponseTime: true,
        apiCheckResult: { ...HTTP_DETAIL, ...detail },
      },
      {},
    );
    expect(failed.slice(1)).toEqual([`        ${code}: nothing in 30 s`]);
  });

  it('over a threshold that is no longer known says which', () => {
    expect(lines({ hasFailures: true, overMaxResponseTime: true })[1]).toBe(
      '        slower than its maxResponseTime',
    );
    expect(lines({ isDegraded: true })).toEqual([
      expect.stringMatching(/^SLOW {4}Shop/),
      '        slower than its degradedResponseTime',
    ]);
  });

  it.each([
    [500, {}, 'status 500; under 400 is needed'],
    [500, undefined, 'status 500; under 400 is needed'],
    [200, { shouldFail: true }, 'status 200; 400 or more, or no answer, is needed (shouldFail)'],
    [200, undefined, 'status 200 is not what the check asks for'],
  ])('whose status is %i says what is needed (%j)', (status, check, reason) => {
    const response = { ...HTTP_RESPONSE, status, body: '' };
    const apiCheckResult = { ...HTTP_DETAIL, response };
    expect(lines({ hasFailures: true, apiCheckResult }, check).slice(1)).toEqual([
      `        ${reason}`,
    ]);
  });

  it('says no criterion where an assertion decides which statuses pass', () => {
    const response = { ...HTTP_RESPONSE, status: 404 };
    const body = { ...ASSERTION, source: 'TEXT_BODY', error: 'expected the body' } as const;
    const accepted = { comparison: 'ONE_OF', target: '200, 404', error: null } as const;
    const isOneOf = { ...ASSERTION, ...accepted };
    const apiCheckResult = { ...HTTP_DETAIL, response, assertions: [isOneOf, body] };
    expect(lines({ hasFailures: true, apiCheckResult }, {}).slice(1)).toEqual([
      '        expected the body',
    ]);
  });

  it('says the criterion beside assertions on something else', () => {
    const response = { ...HTTP_RESPONSE, status: 404 };
    const body = { ...ASSERTION, source: 'TEXT_BODY', error: 'expected the body' } as const;
    const isStatus = { ...ASSERTION, target: '404', error: null };
    const apiCheckResult = { ...HTTP_DETAIL, response, assertions: [isStatus, body] };
    expect(lines({ hasFailures: true, apiCheckResult }, {}).slice(1)).toEqual([
      '        status 404; under 400 is needed',
      '        expected the body',
    ]);
  });

  it.each([
    ['NXDOMAIN', false, 'NXDOMAIN for a.test A from 192.0.2.1:53; NOERROR is needed'],
    [
      'NOERROR',
      true,
      'NOERROR for a.test A from 192.0.2.1:53; another code, or no answer, is needed (shouldFail)',
    ],
  ])('of DNS names the query and the server: %s', (responseCode, shouldFail, reason) => {
    const { request: _, response: __, ...common } = HTTP_DETAIL;
    const dnsCheckResult = {
      ...common,
      request: { query: 'a.test', recordType: 'A', nameServer: null, port: 53, protocol: 'UDP' },
      response: {
        responseCode,
        answer: {},
        text: '',
        nameServer: { host: '192.0.2.1', port: 53, protocol: 'UDP' },
      },
      timingPhases: { total: 1 },
    } as unknown as DnsDetail;
    const fields = { checkType: 'DNS', apiCheckResult: null, dnsCheckResult } as const;
    expect(lines({ ...fields, hasFailures: true }, { shouldFail }).slice(1)).toEqual([
      `        ${reason}`,
    ]);
  });

  it('of TCP that should fail says that it connected', () => {
    const { request: _, response: __, timings: ___, ...common } = HTTP_DETAIL;
    const tcpCheckResult = {
      ...common,
      request: { hostname: 'h', port: 1, data: null, ipFamily: 'IPv4' },
      response: { data: '', address: '127.0.0.1', port: 1, ipFamily: 'IPv4' },
      timingPhases: { dns: 0, connection: 1, data: 0, total: 1 },
    } as unknown as TcpDetail;
    const fields = { checkType: 'TCP', apiCheckResult: null, tcpCheckResult } as const;
    expect(lines({ ...fields, hasFailures: true }, { shouldFail: true }).slice(1)).toEqual([
      '        connected; no connection is needed (shouldFail)',
    ]);
  });

  it('is an ERROR after a fault of the agent, STOPPED if it was cut short, and a RETRY for an attempt', () => {
    const requestError = 'no ICMP socket may be opened';
    const requestErrorCode = 'ICMP_NOT_PERMITTED';
    const detail = { ...HTTP_DETAIL, response: null, requestError, requestErrorCode } as const;
    expect(lines({ hasErrors: true, apiCheckResult: detail })).toEqual([
      expect.stringMatching(/^ERROR {3}Shop/),
      '        ICMP_NOT_PERMITTED: no ICMP socket may be opened',
    ]);
    expect(lines({ isCancelled: true, hasFailures: true })[0]).toMatch(/^STOPPED /);
    expect(lines({ resultType: 'ATTEMPT', hasFailures: true, attempts: 1 })[0]).toMatch(
      /^RETRY {3}Shop .*attempt 2, another follows/,
    );
  });

  it('cannot steer the terminal, whatever the target sent', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\n\rFAKE';
    const text = prettyResult(
      resultOf({
        name: evil,
        hasFailures: true,
        apiCheckResult: {
          ...HTTP_DETAIL,
          assertions: [{ ...ASSERTION, error: evil }],
          requestError: evil,
          requestErrorCode: 'PROTOCOL_ERROR',
        },
      }),
      undefined,
      PLAIN,
    );
    expect(text.split('\n')).toHaveLength(5);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });

  it('with very many failed assertions is cut', () => {
    const assertions = Array.from({ length: 50 }, () => ASSERTION);
    const failed = lines({ hasFailures: true, apiCheckResult: { ...HTTP_DETAIL, assertions } });
    expect(failed).toHaveLength(12);
    expect(failed.at(-1)).toBe('        and 40 more assertions');
  });

  it('of each other type says what was answered', () => {
    const { request: _, response: __, timings: ___, ...common } = HTTP_DETAIL;
    const other = { apiCheckResult: null, name: 'x', checkId: 'x' };
    const request = { hostname: 'h', port: 1, data: null, ipFamily: 'IPv4' } as const;
    const tcp = { data: '', address: '127.0.0.1', port: 1, ipFamily: 'IPv4' } as const;
    const timingPhases = { dns: 0, connection: 1, data: 0, total: 1 };
    const timings = { lookup: 0, connect: 1, response: null, end: 1 };
    expect(
      lines({
        ...other,
        checkType: 'TCP',
        tcpCheckResult: { ...common, request, response: tcp, timings, timingPhases },
      }),
    ).toEqual(['PASS    x  TCP  connected  11.8 ms']);
    const icmp = {
      hostname: 'h',
      resolvedIp: '127.0.0.1',
      ipFamily: 'IPv4',
      pingCount: 10,
      packetsSent: 10,
      packetsReceived: 9,
      packetLoss: 10,
      dnsResolutionTime: 0,
      latency: { avg: 1, min: 1, max: 1, stdDev: 0 },
      pingResults: [],
    } as const;
    expect(
      lines({
        ...other,
        checkType: 'ICMP',
        isDegraded: true,
        icmpCheckResult: {
          ...common,
          request: { hostname: 'h', pingCount: 10, ipFamily: 'IPv4' },
          response: icmp,
          timings: { lookup: 0, end: 1 },
          timingPhases: { dns: 0, total: 1 },
        },
      }),
    ).toEqual([
      'SLOW    x  ICMP  9 of 10 echoes  11.8 ms',
      '        10 % of the echoes were lost: its degradedPacketLossThreshold is reached',
    ]);
    const icmpCheckResult = {
      ...common,
      request: { hostname: 'h', pingCount: 10, ipFamily: 'IPv4' },
      response: icmp,
      timingPhases: { dns: 0, total: 1 },
    } as unknown as IcmpDetail;
    const pinged = { ...other, checkType: 'ICMP', icmpCheckResult } as const;
    expect(lines({ ...pinged, isDegraded: true }, {})[1]).toBe(
      '        10 % of the echoes were lost, 10 % or more: degraded',
    );
    const strict = { degradedPacketLossThreshold: 0, maxPacketLossThreshold: 5 };
    expect(lines({ ...pinged, hasFailures: true }, strict)[1]).toBe(
      '        9 of 10 echoes, 10 % lost; under 5 % is needed',
    );
    expect(lines({ ...pinged, hasFailures: true }, { shouldFail: true })[1]).toBe(
      '        9 of 10 echoes, 10 % lost; 20 % or more is needed (shouldFail)',
    );
  });
});

describe('what has no result', () => {
  it('is printed with its name, its slot and the reason', () => {
    const slot = new Date(2026, 0, 31, 8, 39, 4).getTime();
    const missed = { checkId: 'shop', slot, lastSlot: slot, count: 1 };
    const check = checkOf('URL', { id: 'shop', name: 'The shop' });
    expect(prettyMissed({ ...missed, reason: 'agent_stopped' }, check, PLAIN)).toBe(
      'MISSED  The shop (shop)  slot 08:39:04: The agent was not running, or stopped before the run was complete (agent_stopped)\n',
    );
    expect(prettyMissed({ ...missed, reason: 'agent_busy' }, undefined, PLAIN)).toMatch(
      /^MISSED {2}shop {2}slot 08:39:04: All JOB_CONCURRENCY permits.* \(agent_busy\)\n$/,
    );
    const range = { ...missed, reason: 'agent_asleep' } as const;
    expect(prettyMissed({ ...range, lastSlot: slot + 20_000, count: 3 }, check, PLAIN)).toMatch(
      /^MISSED {2}The shop \(shop\) {2}3 slots, 08:39:04 to 08:39:24: /,
    );
    expect(prettyMissed({ ...range, lastSlot: slot + 86_400_000, count: 2 }, check, PLAIN)).toMatch(
      / {2}2 slots, 2026-01-31 08:39:04 to 2026-02-01 08:39:04: /,
    );
  });

  it('is named, up to a bound', () => {
    expect(prettySkipped(['a', 'b'], PLAIN)).toBe(
      'SKIPPED not activated: a, b (run one with --check ID)\n',
    );
    const ids = Array.from({ length: 12 }, (_, n) => `c${n}`);
    expect(prettySkipped(ids, PLAIN)).toContain('c9 and 2 more (');
    const long = ids.map((id) => id.padEnd(100, 'x'));
    expect(prettySkipped(long, PLAIN)).toMatch(/ and 2 more \(run one with --check ID\)\n$/);
  });
});
