import { systemCodeOf } from '../../runtime/errors.ts';

const UNTRUSTED = 'no trusted authority issued the certificate';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  UND_ERR_SOCKET: 'the connection ended before an answer came',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for other names',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the answer was not TLS',
};

/** Explains a failed connection, with the code; `no response` if nothing else is known. */
export function connectionReason(thrown: unknown, connectTimeoutMs: number): string {
  const code = connectionCode(thrown);
  if (code === null) return 'no response';
  const reason =
    code === 'UND_ERR_CONNECT_TIMEOUT'
      ? `no connection was established within ${connectTimeoutMs / 1000} s`
      : (REASONS[code] ?? 'no response');
  return `${reason} (${code})`;
}

/** The error code; that of the first attempt if several addresses were tried. */
export function connectionCode(thrown: unknown): string | null {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) {
    return systemCodeOf(thrown.errors[0]) ?? systemCodeOf(thrown);
  }
  return systemCodeOf(thrown);
}
