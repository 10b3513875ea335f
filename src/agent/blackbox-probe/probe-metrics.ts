import { isIP } from 'node:net';
import type { Check } from '../../model/check/check.ts';
import type { RunnableCheckType } from '../../model/enums.ts';
import type { HttpDetail, HttpResponse } from '../../model/result/details/http-detail.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { tlsFactsOf } from '../../model/result/tls-facts.ts';
import { labelsText, metricText } from '../../runtime/metrics/exposition.ts';
import { addressHash, probedAddress } from './probed-address.ts';

/** One probe, which its time limit ended if there is no result. */
export interface EndedProbe {
  /** The check with the target that was probed. */
  readonly check: Check;
  readonly result: CheckResult | null;
  readonly durationMs: number;
}

/** A number, or one for each value of a label. */
type Value = number | Readonly<Record<string, number>>;

/** Sources of assertions on data that a target sent. */
const CONTENT_SOURCES: ReadonlySet<string> = new Set([
  'HEADERS',
  'TEXT_BODY',
  'JSON_BODY',
  'JSON_SCHEMA',
  'RESPONSE_DATA',
  'TEXT_ANSWER',
  'JSON_ANSWER',
]);

const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * The metrics of one probe, with the names of the blackbox exporter (src/agent/README.md, "Probes
 * for Prometheus"). As in the exporter, phases that an attempt did not reach are 0.
 */
export function probeMetricsText(probe: EndedProbe): string {
  const { check, result, durationMs } = probe;
  const address = probedAddress(check, result);
  const passed = result !== null && !result.hasFailures && !result.hasErrors;
  return `${[
    gauge('probe_success', 'Whether the check passed.', passed ? 1 : 0),
    gauge('probe_duration_seconds', 'How long the probe took.', durationMs / 1000),
    gauge(
      'probe_dns_lookup_time_seconds',
      'How long the look-up of the host took.',
      lookup(result),
    ),
    gauge(
      'probe_ip_protocol',
      'The version of IP that was used, 0 for none.',
      address === null ? 0 : isIP(address),
    ),
    gauge(
      'probe_ip_addr_hash',
      'A hash of the address that was used, 0 for none.',
      address === null ? 0 : addressHash(address),
    ),
    ...metricsOfType(check.checkType, result),
    ...tlsMetrics(result),
  ].join('\n')}\n`;
}

function metricsOfType(type: RunnableCheckType, result: CheckResult | null): readonly string[] {
  switch (type) {
    case 'URL':
    case 'API':
      return [...httpMetrics(result?.apiCheckResult ?? null), failedDueToRegex(result)];
    case 'TCP':
      return [failedDueToRegex(result)];
    case 'DNS':
      return dnsMetrics(result?.dnsCheckResult ?? null);
    case 'ICMP':
      return icmpMetrics(result?.icmpCheckResult ?? null);
  }
}

function httpMetrics(detail: HttpDetail | null): readonly string[] {
  const response = detail?.response ?? null;
  const phases = response?.timingPhases ?? detail?.timingPhases;
  const modifiedSeconds = Date.parse(header(response, 'last-modified') ?? '') / 1000;
  return [
    gauge('probe_http_status_code', 'The status of the response.', response?.status ?? 0),
    gauge('probe_http_version', 'The version of HTTP.', Number(response?.httpVersion ?? 0)),
    gauge(
      'probe_http_duration_seconds',
      'How long each phase took, redirects included.',
      inSeconds('phase', {
        resolve: phases?.dns,
        connect: phases?.tcp,
        tls: phases?.tls,
        processing: phases?.firstByte,
        transfer: phases?.download,
      }),
    ),
    gauge(
      'probe_http_content_length',
      'The Content-Length of the response, -1 without one.',
      response === null ? 0 : Number(header(response, 'content-length') ?? -1),
    ),
    gauge(
      'probe_http_uncompressed_body_length',
      'The length of the decoded body.',
      response?.bodyBytes ?? 0,
    ),
    gauge(
      'probe_http_redirects',
      'Redirects, with one that was not followed.',
      (response?.redirects.length ?? 0) + (isRedirect(response) ? 1 : 0),
    ),
    gauge(
      'probe_http_ssl',
      'Whether the last request went over TLS.',
      (response?.tls ?? null) === null ? 0 : 1,
    ),
    ...(Number.isNaN(modifiedSeconds)
      ? []
      : [
          gauge(
            'probe_http_last_modified_timestamp_seconds',
            'The Last-Modified of the response.',
            modifiedSeconds,
          ),
        ]),
  ];
}

function dnsMetrics(detail: CheckResult['dnsCheckResult']): readonly string[] {
  const answer = detail?.response?.answer;
  const phases = detail?.timingPhases;
  const soa = answer?.Answer.find(({ type }) => type === 'SOA');
  const isAboutZone = detail?.request.recordType === 'SOA';
  return [
    gauge(
      'probe_dns_duration_seconds',
      'How long each phase took.',
      inSeconds('phase', {
        resolve: 0,
        connect: (phases?.tcp ?? 0) + (phases?.tls ?? 0),
        request: phases?.query ?? phases?.total,
      }),
    ),
    gauge('probe_dns_query_succeeded', 'Whether a response came.', answer === undefined ? 0 : 1),
    gauge('probe_dns_answer_rrs', 'Records of the answer.', answer?.Answer.length ?? 0),
    gauge('probe_dns_authority_rrs', 'Records of authority.', answer?.Authority?.length ?? 0),
    ...(isAboutZone
      ? [gauge('probe_dns_serial', 'The serial number of the zone.', soa?.serial ?? 0)]
      : []),
  ];
}

function icmpMetrics(detail: CheckResult['icmpCheckResult']): readonly string[] {
  const response = detail?.response;
  const ttl = response?.pingResults.find(({ success }) => success)?.ttl ?? null;
  return [
    gauge(
      'probe_icmp_duration_seconds',
      'How long each phase took; rtt is the mean of all echoes.',
      inSeconds('phase', {
        resolve: response?.dnsResolutionTime,
        setup: 0,
        rtt: response?.latency.avg,
      }),
    ),
    ...(ttl === null
      ? []
      : [gauge('probe_icmp_reply_hop_limit', 'The TTL of the first reply.', ttl)]),
  ];
}

function tlsMetrics(result: CheckResult | null): readonly string[] {
  const tls = result === null ? null : tlsFactsOf(result);
  if (tls === null) return [];
  const { certificate, protocol } = tls;
  const expiry =
    certificate === null
      ? []
      : [
          gauge(
            'probe_ssl_earliest_cert_expiry',
            'When the certificate of the target expires, in seconds since the epoch.',
            Date.parse(certificate.validTo) / 1000,
          ),
        ];
  if (protocol === null) return expiry;
  const version = labelsText({ version: protocol.replace(/^TLSv/, 'TLS ') });
  return [...expiry, gauge('probe_tls_version_info', 'The version of TLS.', { [version]: 1 })];
}

function failedDueToRegex(result: CheckResult | null): string {
  const detail = result?.apiCheckResult ?? result?.tcpCheckResult ?? null;
  const failed =
    detail?.requestErrorCode === 'STEP_FAILED' ||
    (detail?.assertions ?? []).some(
      ({ source, error }) => error !== null && CONTENT_SOURCES.has(source),
    );
  return gauge(
    'probe_failed_due_to_regex',
    'Whether an assertion on what the target sent failed.',
    failed ? 1 : 0,
  );
}

function lookup(result: CheckResult | null): number {
  if (result === null) return 0;
  const { apiCheckResult: http, tcpCheckResult: tcp, icmpCheckResult: icmp } = result;
  const ms =
    (http?.response?.timingPhases ?? http?.timingPhases)?.dns ??
    tcp?.timingPhases.dns ??
    icmp?.timingPhases.dns;
  return (ms ?? 0) / 1000;
}

/** Whether the last response is a redirect. */
function isRedirect(response: HttpResponse | null): boolean {
  const isAsking = REDIRECT_STATUSES.has(response?.status ?? 0);
  return isAsking && header(response, 'location') !== null;
}

function header(response: HttpResponse | null, name: string): string | null {
  const value = response?.headers[name];
  return typeof value === 'string' ? value : null;
}

function inSeconds(
  label: string,
  milliseconds: Readonly<Record<string, number | null | undefined>>,
): Value {
  return Object.fromEntries(
    Object.entries(milliseconds).map(([one, ms]) => [
      labelsText({ [label]: one }),
      (ms ?? 0) / 1000,
    ]),
  );
}

function gauge(name: string, meaning: string, value: Value): string {
  const lines =
    typeof value === 'number'
      ? [`${name} ${value}`]
      : Object.entries(value).map(([labels, one]) => `${name}{${labels}} ${one}`);
  return metricText({ name, type: 'gauge', meaning }, lines);
}
