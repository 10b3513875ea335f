import { isIP } from 'node:net';
import type { Family, Resolution } from '../resolver.ts';
import { withoutBrackets } from '../text.ts';

const LOOPBACK: Readonly<Record<Family, string>> = { 4: '127.0.0.1', 6: '::1' };

/**
 * Names that need no query: address literals (with or without a URL's brackets), and the names that
 * are always this host (RFC 6761 6.3). null for all others.
 */
export function resolveKnown(hostname: string, family: Family): Resolution | null {
  const literal = withoutBrackets(hostname);
  const literalFamily = isIP(literal);
  if (literalFamily === family) return { ok: true, addresses: [literal] };
  if (literalFamily !== 0) {
    const message = `${literal} is an IPv${literalFamily} address, and IPv${family} was asked for`;
    return { ok: false, failure: { code: 'DNS_NO_ADDRESS', message } };
  }
  const isLocal = /^(.+\.)?localhost\.?$/i.test(hostname);
  return isLocal ? { ok: true, addresses: [LOOPBACK[family]] } : null;
}
