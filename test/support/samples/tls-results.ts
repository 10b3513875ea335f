import type { TlsFacts } from '../../../src/model/result/details/check-detail.ts';
import type { CheckResult } from '../../../src/model/result/result.ts';

const DETAIL = {
  assertions: [],
  requestError: null,
  requestErrorCode: null,
  jobLog: [],
  jobAssets: [],
  pcapDataUrl: null,
  traceroute: null,
} as const;

/** The handshake in the result of a TCP check over TLS, or of a DNS check over DOT. */
export function resultOverTls(checkType: 'TCP' | 'DNS', tls: TlsFacts): Partial<CheckResult> {
  if (checkType === 'TCP') {
    const request = {
      hostname: 'mail.example.com',
      port: 587,
      data: null,
      ipFamily: 'IPv4',
    } as const;
    const ip = { address: '192.0.2.25', port: 587, ipFamily: 'IPv4' } as const;
    const timings = { lookup: 1, connect: 2, secureConnect: 20, response: null, end: 20 };
    const timingPhases = { dns: 1, connection: 1, tls: 18, data: 0, total: 20 };
    const response = { ...ip, data: '' };
    return {
      checkType,
      tcpCheckResult: { ...DETAIL, request, response, timings, timingPhases, tls },
    };
  }
  const request = {
    query: 'example.com',
    recordType: 'A',
    nameServer: 'dns.example.com',
    port: 853,
    protocol: 'DOT',
  } as const;
  const timingPhases = { tcp: 1, tls: 18, query: 1, total: 20 };
  return {
    checkType,
    dnsCheckResult: { ...DETAIL, request, response: null, timings: { end: 20 }, timingPhases, tls },
  };
}
