import type { CertificateFacts, TlsFacts } from './details/check-detail.ts';

/** The parts of a result that TLS facts are in. */
interface Details {
  readonly apiCheckResult: {
    readonly response: { readonly tls: TlsFacts | null } | null;
    readonly tls?: TlsFacts | null;
  } | null;
  readonly tcpCheckResult: { readonly tls?: TlsFacts | null } | null;
  readonly dnsCheckResult: { readonly tls?: TlsFacts | null } | null;
}

/** The TLS facts of a result of any type; null if it has none. */
export function tlsFactsOf(result: Details): TlsFacts | null {
  const { apiCheckResult: http, tcpCheckResult: tcp, dnsCheckResult: dns } = result;
  return http?.response?.tls ?? http?.tls ?? tcp?.tls ?? dns?.tls ?? null;
}

export function certificateOf(result: Details): CertificateFacts | null {
  return tlsFactsOf(result)?.certificate ?? null;
}
