import { isIP, isIPv4 } from 'node:net';
import type { Check } from '../../model/check/check.ts';
import type { CheckResult } from '../../model/result/result.ts';
import { withoutBrackets } from '../../runtime/net/endpoint-text.ts';

/**
 * The address that a run used or tried; the target itself if nothing was reached and it is an
 * address.
 *
 * @param result null if the run was ended by its time limit
 * @returns null if none is known
 */
export function probedAddress({ request }: Check, result: CheckResult | null): string | null {
  const http = result?.apiCheckResult;
  const tcp = result?.tcpCheckResult;
  const icmp = result?.icmpCheckResult;
  const families = (http ?? tcp ?? icmp)?.families ?? [];
  const known =
    http?.response?.ip ??
    tcp?.response?.address ??
    icmp?.response?.resolvedIp ??
    families.find(({ address }) => address !== null)?.address ??
    null;
  if (known !== null) return known;
  const dns = result?.dnsCheckResult?.response?.nameServer.host;
  const host = dns ?? hostOfRequest(request);
  return isIP(host) === 0 ? null : host;
}

function hostOfRequest(request: Check['request']): string {
  if ('url' in request) return hostOf(request.url);
  return 'query' in request ? (request.nameServer ?? '') : withoutBrackets(request.hostname);
}

/** The 32-bit FNV-1a hash of an address's bytes, by which the exporter shows that it changed. */
export function addressHash(address: string): number {
  let hash = 0x811c9dc5;
  for (const byte of bytesOf(address)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

function bytesOf(address: string): readonly number[] {
  if (isIPv4(address)) return address.split('.').map(Number);
  const [bare = ''] = address.split('%', 1);
  const [start = '', end = ''] = hostOf(`http://[${bare}]`).split('::');
  const [before, after] = [groupsOf(start), groupsOf(end)];
  const gap = Array.from({ length: 8 - before.length - after.length }, () => 0);
  const bytes = [...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 255]);
  // RFC 4291, section 2.5.5.2.
  const isMapped = bytes.slice(0, 12).every((byte, n) => byte === (n < 10 ? 0 : 255));
  return isMapped ? bytes.slice(12) : bytes;
}

function groupsOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** Without the brackets of an IPv6 address; empty for a text that is not a URL. */
function hostOf(url: string): string {
  if (!URL.canParse(url)) return '';
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
}
