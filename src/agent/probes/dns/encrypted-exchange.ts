import type { IpFamily } from '../../../model/enums.ts';
import type { TlsFacts } from '../../../model/result/details/check-detail.ts';
import { ERROR_CODES, type Failure } from '../../../model/result/error-codes.ts';
import type { ExchangeFailed } from '../../net/dns/exchange-failures.ts';
import type { DnsMessage } from '../../net/dns/message/message.ts';
import type { Endpoint } from '../endpoint.ts';

/** The outcome of one question over DOT or DOH, on a connection of its own. */
export interface EncryptedExchange {
  readonly end: { readonly kind: 'answer'; readonly message: DnsMessage } | ExchangeFailed;
  readonly endpoint: Endpoint;
  /** null if there was no handshake. */
  readonly tls: TlsFacts | null;
  /** Milliseconds, without the look-up of the name server's own name. */
  readonly phases: EncryptedPhases;
  /** Whether the kernel timed a part of it. */
  readonly isTimedByKernel: boolean;
}

export interface EncryptedPhases {
  readonly tcpMs: number;
  readonly tlsMs: number;
  readonly queryMs: number;
}

/** The name that the certificate must be for. */
export function certificateHost(request: {
  readonly nameServer: string;
  readonly serverName: string | null;
}): string {
  return request.serverName ?? request.nameServer;
}

/** Tries IPv4, and IPv6 if the name server has no IPv4 address. */
export async function inEitherFamily<Tried extends { readonly failure: Failure | null }>(
  attempt: (ipFamily: IpFamily) => Promise<Tried>,
): Promise<Tried> {
  const first = await attempt('IPv4');
  if (first.failure?.code !== 'DNS_NO_ADDRESS') return first;
  const second = await attempt('IPv6');
  return second.failure?.code === 'DNS_NO_ADDRESS' ? first : second;
}

/** A failure before the question was sent. One of a look-up is about the name server's own name. */
export function failedBeforeQuestion(nameServer: string, failure: Failure): ExchangeFailed {
  if (ERROR_CODES[failure.code].phase !== 'dns') return { kind: 'failed', failure };
  const message = `The name server ${nameServer} has no known address: ${failure.message}`;
  return { kind: 'failed', failure: { ...failure, message } };
}
