import { ERROR_CODES, type ErrorCode } from '../../../model/result/error-codes.ts';
import { detailOf } from '../../../model/result/result-summary.ts';
import { endpointText } from '../../../runtime/net/endpoint-text.ts';
import type { ReceivedResult } from '../../../wire/v1/check-result.ts';
import type { AnalysisInput } from '../analysis-input.ts';

export type Tls = NonNullable<NonNullable<ReceivedResult['apiCheckResult']>['tls']>;
export type Certificate = NonNullable<Tls['certificate']>;
export type HttpTargetResponse = NonNullable<
  NonNullable<ReceivedResult['apiCheckResult']>['response']
>;

/** A part of the time that an attempt took. */
export interface Phase {
  readonly name: string;
  readonly ms: number;
}

/** A failed result in the terms of the rules. */
export interface Subject {
  readonly kind: 'http' | 'tcp' | 'dns' | 'icmp' | 'unknown';
  /** A host; for a DNS check the queried name. */
  readonly host: string;
  readonly port: number | null;
  /** Names the target in a sentence, without path and query, which may hold secrets. */
  readonly target: string;
  readonly location: string;
  /** The DNS server in a sentence. */
  readonly resolver: string;
  /** The record type: A, AAAA, MX … */
  readonly recordType: string;
  readonly ipFamily: string;
  readonly isTls: boolean;
  readonly code: string | null;
  /** The agent's sentence about the failure. */
  readonly message: string | null;
  readonly tls: Tls | null;
  /** The connected address; null if there was no connection, or it is unknown. */
  readonly address: string | null;
  readonly phases: readonly Phase[];
  readonly startedAtMs: number;
}

const OTHER_FAMILY: Readonly<Record<string, string>> = { IPv4: 'IPv6', IPv6: 'IPv4' };

export function otherFamily(family: string): string {
  return OTHER_FAMILY[family] ?? 'IPv4';
}

export function analysisSubject({ result, check }: AnalysisInput): Subject {
  const detail = detailOf(result);
  const base = {
    location: result.runLocation,
    resolver: `the name servers of the agent in ${result.runLocation}`,
    code: detail?.requestErrorCode ?? null,
    message: detail?.requestError ?? null,
    startedAtMs: Date.parse(result.startedAt),
    isTls: false,
    tls: null,
    port: null,
    address: null,
    recordType: 'A',
  };
  const { apiCheckResult: http, tcpCheckResult: tcp, dnsCheckResult: dns } = result;
  if (http !== null) {
    const url = http.response?.url ?? http.request.url;
    const parsed = URL.canParse(url) ? new URL(url) : null;
    const host = (parsed?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
    const isTls = parsed?.protocol === 'https:';
    const ipFamily = http.response?.ipFamily ?? familyOf(check);
    return {
      ...base,
      kind: 'http',
      host: host === '' ? 'the host' : host,
      port: portOf(parsed),
      target: parsed === null ? 'the target' : parsed.origin,
      recordType: recordOf(ipFamily),
      ipFamily,
      isTls,
      tls: http.response?.tls ?? http.tls ?? null,
      address: http.response?.ip ?? null,
      phases: orderedPhases(http.response?.timingPhases ?? http.timingPhases),
    };
  }
  if (tcp !== null) {
    const { hostname: host, port, ipFamily } = tcp.request;
    return {
      ...base,
      kind: 'tcp',
      host,
      port,
      target: endpointText(host, port),
      recordType: recordOf(ipFamily),
      ipFamily,
      isTls: (tcp.tls ?? null) !== null || isTlsOf(check),
      tls: tcp.tls ?? null,
      address: tcp.response?.address ?? null,
      phases: orderedPhases(tcp.timingPhases),
    };
  }
  if (dns !== null) {
    const { query, recordType, nameServer, port } = dns.request;
    const asked = dns.response?.nameServer;
    const server = nameServer ?? asked?.host ?? null;
    // Over DOT and DOH, a failure before the question is sent concerns the name server.
    const reached = server !== null && isOfConnection(dns.requestErrorCode) ? server : null;
    return {
      ...base,
      kind: 'dns',
      host: reached ?? query,
      port,
      target: reached === null ? `${query} ${recordType}` : endpointText(reached, port),
      isTls: dns.tls !== undefined,
      tls: dns.tls ?? null,
      resolver:
        server === null
          ? base.resolver
          : `the name server ${endpointText(server, asked?.port ?? port)}`,
      recordType,
      ipFamily: 'IPv4',
      phases: orderedPhases(dns.timingPhases),
    };
  }
  const icmp = result.icmpCheckResult;
  const ipFamily = icmp?.request.ipFamily ?? 'IPv4';
  return {
    ...base,
    kind: icmp === null ? 'unknown' : 'icmp',
    host: icmp?.request.hostname ?? 'the target',
    target: icmp?.request.hostname ?? 'the target',
    recordType: recordOf(ipFamily),
    ipFamily,
    address: icmp?.response?.resolvedIp ?? null,
    phases: orderedPhases(icmp?.timingPhases),
  };
}

function isOfConnection(code: string | null): boolean {
  const phase = isErrorCode(code) ? ERROR_CODES[code].phase : null;
  return phase === 'connect' || phase === 'tls' || phase === 'proxy';
}

function isErrorCode(code: string | null): code is ErrorCode {
  return code !== null && Object.hasOwn(ERROR_CODES, code);
}

/** In chronological order; the database stores another order. */
const PHASE_ORDER = [
  'wait',
  'dns',
  'tcp',
  'connection',
  'tls',
  'query',
  'firstByte',
  'data',
  'download',
];

/** Phases longer than 0 in chronological order. */
export function orderedPhases(phases: unknown): readonly Phase[] {
  if (typeof phases !== 'object' || phases === null) return [];
  const found = new Map<string, unknown>(Object.entries(phases));
  return PHASE_ORDER.flatMap((name) => {
    const ms = found.get(name);
    return typeof ms === 'number' && ms > 0 ? [{ name, ms }] : [];
  });
}

function portOf(url: URL | null): number | null {
  if (url === null) return null;
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function familyOf(check: AnalysisInput['check']): string {
  const request = check?.request;
  return request !== undefined && 'ipFamily' in request ? request.ipFamily : 'IPv4';
}

function recordOf(ipFamily: string): string {
  return ipFamily === 'IPv6' ? 'AAAA' : 'A';
}

function isTlsOf(check: AnalysisInput['check']): boolean {
  return check?.checkType === 'TCP' && check.request.tls !== 'OFF';
}
