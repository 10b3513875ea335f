import { isIPv6 } from 'node:net';
import { RCODE } from '../../../model/check/assertions/response-codes.ts';
import type { ErrorCode, Failure } from '../../../model/result/error-codes.ts';
import { messageOf, systemCodeOf } from '../../../runtime/errors.ts';
import { endpointText } from '../../../runtime/net/endpoint-text.ts';
import { displayName } from './message/names.ts';
import { typeName } from './message/parameters.ts';
import type { Question } from './message/query.ts';

export interface ServerAddress {
  /** An IPv4 or IPv6 address; the latter may have a scope (`fe80::1%eth0`). */
  readonly address: string;
  readonly port: number;
}

/** `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function serverText({ address, port }: ServerAddress): string {
  return endpointText(address, port);
}

/** `AAAA example.com`. */
export function questionText({ name, type }: Question): string {
  return `${typeName(type)} ${displayName(name)}`;
}

const CODE_OF_RCODE: ReadonlyMap<number, ErrorCode> = new Map([
  [RCODE.NXDOMAIN, 'DNS_NXDOMAIN'],
  [RCODE.SERVFAIL, 'DNS_SERVFAIL'],
  [RCODE.REFUSED, 'DNS_REFUSED'],
]);

/** The error code for an answer whose response code is not NOERROR. */
export function errorCodeOf(rcode: number): ErrorCode {
  return CODE_OF_RCODE.get(rcode) ?? 'DNS_ERROR';
}

export interface ExchangeFailed {
  readonly kind: 'failed';
  readonly failure: Failure;
}

export function exchangeFailed(code: ErrorCode, message: string): ExchangeFailed {
  return { kind: 'failed', failure: { code, message } };
}

export function cancelled(question: Question, server: ServerAddress): ExchangeFailed {
  return exchangeFailed(
    'CANCELLED',
    `The question ${questionText(question)} to ${serverText(server)} was cancelled because the agent stops`,
  );
}

/** This machine ran out of a resource; these errors say nothing about the server. */
const OWN_SHORTAGES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

/** A socket's error as a failure. `what` continues a sentence that starts with the server. */
export function socketFailed(error: unknown, server: ServerAddress, what: string): ExchangeFailed {
  const systemCode = systemCodeOf(error) ?? messageOf(error);
  const who = serverText(server);
  // For an IPv6 server this machine has no source address; for IPv4 it has no free port.
  const noPort = systemCode === 'EADDRNOTAVAIL' && !isIPv6(server.address);
  if (!noPort && !OWN_SHORTAGES.has(systemCode)) {
    return exchangeFailed('DNS_UNREACHABLE', `${who} ${what} (${systemCode})`);
  }
  const message = `${who} was not asked: this machine has no file descriptor or port left for a socket (${systemCode}); raise its limit (ulimit -n, ip_local_port_range) or add an agent to the location`;
  return exchangeFailed('INTERNAL_ERROR', message);
}
