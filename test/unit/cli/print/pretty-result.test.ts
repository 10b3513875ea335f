import { describe, expect, it } from 'vitest';
import { paletteFor } from '../../../../src/cli/print/colour.ts';
import {
  prettyMissed,
  prettyResult,
  prettySkipped,
} from '../../../../src/cli/print/pretty-result.ts';
import type { CheckResult } from '../../../../src/model/result.ts';
import { ASSERTION, HTTP_DETAIL, HTTP_RESPONSE, resultOf } from '../../../support/http-results.ts';

const PLAIN = paletteFor(false);

function lines(fields: Partial<CheckResult> = {}): readonly string[] {
  const text = prettyResult(resultOf(fields), PLAIN);
  expect(text.endsWith('\n')).toBe(true);
  return text.slice(0, -1).split('\n');
}

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
          response: { ...HTTP_RESPONSE, status: 503 },
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

  it('over a threshold says which', () => {
    expect(lines({ hasFailures: true, overMaxResponseTime: true })[1]).toBe(
      '        slower than its maxResponseTime',
    );
    expect(lines({ isDegraded: true })).toEqual([
      expect.stringMatching(/^SLOW {4}Shop/),
      '        slower than its degradedResponseTime',
    ]);
  });

  it('that only the criterion failed says what came', () => {
    const response = { ...HTTP_RESPONSE, status: 404 };
    expect(lines({ hasFailures: true, apiCheckResult: { ...HTTP_DETAIL, response } })[1]).toBe(
      '        status 404 is not what the check asks for',
    );
  });

  it('of our own fault is an ERROR, one cut short is STOPPED, an attempt is a RETRY', () => {
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
      PLAIN,
    );
    expect(text.split('\n')).toHaveLength(4);
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
    expect(
      lines({
        ...other,
        checkType: 'TCP',
        tcpCheckResult: { ...common, request, response: tcp, timingPhases },
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
          timingPhases: { dns: 0, total: 1 },
        },
      }),
    ).toEqual([
      'SLOW    x  ICMP  9 of 10 echoes  11.8 ms',
      '        10 % of the echoes were lost: its degradedPacketLossThreshold is reached',
    ]);
  });
});

describe('what has no result', () => {
  it('is told with its reason', () => {
    const missed = { checkId: 'shop', slot: 0, lastSlot: 0, count: 1 };
    expect(prettyMissed({ ...missed, reason: 'agent_busy' }, PLAIN)).toMatch(
      /^MISSED {2}shop: agent_busy: All JOB_CONCURRENCY places .*\.\n$/,
    );
    expect(prettyMissed({ ...missed, count: 3, reason: 'agent_asleep' }, PLAIN)).toMatch(
      /^MISSED {2}shop 3 times: /,
    );
  });

  it('is named, up to a bound', () => {
    expect(prettySkipped(['a', 'b'], PLAIN)).toBe(
      'SKIPPED not activated: a, b (run one with --check ID)\n',
    );
    const ids = Array.from({ length: 12 }, (_, n) => `c${n}`);
    expect(prettySkipped(ids, PLAIN)).toContain('c9 and 2 more (');
  });
});
