import { systemCodeOf } from '../../runtime/errors.ts';
import type { ChosenProxy } from '../../runtime/net/proxy/choose-proxy.ts';
import { ASKS_FOR_CREDENTIALS } from '../../runtime/net/proxy/connect-response.ts';
import { ProxyConnectError } from './proxy-connector.ts';
import { messageAbout, type Peer, type ServiceFailure, serviceFailure } from './service-failure.ts';

/** Reasons by the error codes of Node, OpenSSL and undici. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'it refused the connection',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed while the request was sent',
  ETIMEDOUT: 'it did not answer',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'no name server answered',
  UND_ERR_CONNECT_TIMEOUT: 'the connection was not established in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer was whole',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for other names',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not use TLS; see whether SERVICE_URL begins with http://',
};
const WRONG_VERSION = 'ERR_SSL_WRONG_VERSION_NUMBER';
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** The failure for an error of the connection, after which there is no complete response. */
export function failureFromError(peer: Peer, error: unknown): ServiceFailure {
  if (error instanceof ProxyConnectError) return offlineFailure(peer, proxyText(error));
  return offlineFailure(peer, reasonOf(error));
}

function reasonOf(error: unknown): string {
  const code = systemCodeOf(error);
  const reason = code === null ? undefined : REASONS[code];
  const untrusted = code !== null && UNTRUSTED.has(code);
  const what = untrusted
    ? 'its certificate is not trusted; name a file with its root in NODE_EXTRA_CA_CERTS'
    : (reason ?? 'the connection failed');
  return `${what} (${code ?? 'no code'})`;
}

const SHORT_LINE = /^[\x20-\x7e]{1,100}$/;

function proxyText({ proxy, problem }: ProxyConnectError): string {
  const { variable } = proxy;
  if (problem.kind === 'unreachable') {
    const code = systemCodeOf(problem.error);
    const reason =
      code === WRONG_VERSION ? `it does not use TLS (${code})` : reasonOf(problem.error);
    return `no connection to the proxy: ${reason}; see ${variable}`;
  }
  const { end } = problem;
  switch (end.ended) {
    case 'cancelled':
      return 'it was interrupted';
    case 'time-up':
      return 'the proxy did not confirm the connection in time';
    case 'broken':
      return `no tunnel through the proxy: ${end.what}; see ${variable}`;
    case 'answered': {
      const { status, reason } = end;
      if (ASKS_FOR_CREDENTIALS.has(status)) return credentialsText(proxy, status);
      // Omitted if it is long: it may contain the proxy's credentials.
      const text = SHORT_LINE.test(reason) ? ` (${reason})` : '';
      const answer = `the proxy answered ${status}${text} to CONNECT`;
      return status >= 500
        ? `${answer}: it could not reach the service or resolve its name`
        : `${answer}; ${rulesText(proxy)}`;
    }
  }
}

export function failureFromTimeout(peer: Peer, timeoutMs: number): ServiceFailure {
  return offlineFailure(peer, `no complete response within ${timeoutMs / 1000} s`);
}

/** The peer, or the proxy before it, cannot be reached. */
export function offlineFailure(peer: Peer, reason: string): ServiceFailure {
  return serviceFailure('offline', messageAbout(peer, `cannot be reached: ${reason}`));
}

export function credentialsText({ variable, authorization }: ChosenProxy, status: number): string {
  return authorization === null
    ? `the proxy requires credentials (${status}); put a user and a password into ${variable}, as in http://user:password@proxy.example.com:3128`
    : `the proxy rejected the user and password of ${variable} (${status})`;
}

export function rulesText({ variable }: ChosenProxy): string {
  return `its rules have to allow this host and port, or NO_PROXY has to name the host, or ${variable} another proxy`;
}
