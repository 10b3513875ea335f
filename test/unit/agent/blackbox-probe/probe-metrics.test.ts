import { expect, it } from 'vitest';
import { probeMetricsText } from '../../../../src/agent/blackbox-probe/probe-metrics.ts';
import type { CheckResult } from '../../../../src/model/result/result.ts';
import { checkOf } from '../../../support/samples/checks.ts';
import { resultFor } from '../../../support/samples/results.ts';

function linesOf(
  fields: Partial<CheckResult>,
  request: Readonly<Record<string, unknown>> = {},
): readonly string[] {
  const result = resultFor(fields);
  const check = checkOf(result.checkType, { request });
  return probeMetricsText({ check, result, durationMs: 250 })
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

const TLS = {
  protocol: 'TLSv1.3',
  certificate: { validTo: '2026-02-01T00:00:00.000Z' },
};

it('the metrics of a DNS probe over TLS have records, phases and the certificate', () => {
  const record = { name: 'example.com', TTL: 60, data: '' };
  const dnsCheckResult = {
    request: { recordType: 'SOA' },
    response: {
      nameServer: { host: '127.0.0.1' },
      answer: { Answer: [{ ...record, type: 'SOA', serial: 7 }], Authority: [record] },
    },
    timingPhases: { tcp: 10, tls: 20, query: 5, total: 35 },
    tls: TLS,
  } as never;
  expect(linesOf({ checkType: 'DNS', dnsCheckResult })).toEqual([
    'probe_success 1',
    'probe_duration_seconds 0.25',
    'probe_dns_lookup_time_seconds 0',
    'probe_ip_protocol 4',
    'probe_ip_addr_hash 3668918509',
    'probe_dns_duration_seconds{phase="resolve"} 0',
    'probe_dns_duration_seconds{phase="connect"} 0.03',
    'probe_dns_duration_seconds{phase="request"} 0.005',
    'probe_dns_query_succeeded 1',
    'probe_dns_answer_rrs 1',
    'probe_dns_authority_rrs 1',
    'probe_dns_serial 7',
    `probe_ssl_earliest_cert_expiry ${Date.UTC(2026, 1, 1) / 1000}`,
    'probe_tls_version_info{version="TLS 1.3"} 1',
  ]);
});

it('the metrics of an ICMP probe have the mean round trip and the TTL', () => {
  const icmpCheckResult = {
    response: {
      resolvedIp: '2001:db8::1',
      dnsResolutionTime: 2,
      latency: { avg: 12 },
      pingResults: [
        { success: false, ttl: null },
        { success: true, ttl: 57 },
      ],
    },
    timingPhases: { dns: 2, total: 40 },
  } as never;
  expect(linesOf({ checkType: 'ICMP', icmpCheckResult, isDegraded: true })).toEqual([
    'probe_success 1',
    'probe_duration_seconds 0.25',
    'probe_dns_lookup_time_seconds 0.002',
    'probe_ip_protocol 6',
    'probe_ip_addr_hash 1851458804',
    'probe_icmp_duration_seconds{phase="resolve"} 0.002',
    'probe_icmp_duration_seconds{phase="setup"} 0',
    'probe_icmp_duration_seconds{phase="rtt"} 0.012',
    'probe_icmp_reply_hop_limit 57',
  ]);
});

it('a probe that failed by what the target sent says so', () => {
  const failing = (detail: object) =>
    linesOf({ checkType: 'TCP', hasFailures: true, tcpCheckResult: detail as never });
  const timingPhases = { dns: 0, connection: 1, data: 1, total: 2 };
  const yes = 'probe_failed_due_to_regex 1';
  const step = {
    requestErrorCode: 'STEP_FAILED',
    assertions: [],
    response: null,
    timingPhases,
  };
  expect(failing(step)).toContain(yes);
  const assertion = { source: 'RESPONSE_DATA', error: 'does not contain it' };
  expect(failing({ ...step, requestErrorCode: null, assertions: [assertion] })).toContain(yes);
  const slow = { source: 'RESPONSE_TIME', error: 'too slow' };
  expect(failing({ ...step, requestErrorCode: null, assertions: [slow] })).not.toContain(yes);
});
