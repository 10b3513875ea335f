import { systemCodeOf } from '../../runtime/errors.ts';

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
};

/** Why there is no connection, with the code; `no response` where nothing else is known. */
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
