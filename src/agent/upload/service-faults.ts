import { retryAfterMs } from '../../runtime/backoff.ts';
import { systemCodeOf } from '../../runtime/errors.ts';
import { type ErrorAnswer, mismatchIn } from '../../wire/v1/error-answer.ts';
import type { ChosenProxy } from '../net/proxy/choose-proxy.ts';
import { ASKS_FOR_CREDENTIALS } from '../net/proxy/proxy-failures.ts';
import type { RouteProxy } from './dispatchers.ts';
import { ProxyFault } from './proxy-fault.ts';

/**
 * What became of a request that was not answered as it should be. Whoever sent it goes by the kind
 * alone:
 * - `offline`: no answer (refused, reset, timed out, TLS, name not found)
 * - `busy`: 429, 503 and the like: later, and not before `retryAfterMs`
 * - `failed`: another 5xx, or an answer that is not the service's
 * - `unauthorized`: 401 or 403, so the key must change
 * - `mismatch`: 426, so the agent or the service must be upgraded
 * - `refused`: another 4xx of the service's own, so the same request will be refused again
 * - `stopped`: our own signal
 */
export type ServiceFaultKind =
  | 'offline'
  | 'busy'
  | 'failed'
  | 'unauthorized'
  | 'mismatch'
  | 'refused'
  | 'stopped';

export interface ServiceFault {
  readonly kind: ServiceFaultKind;
  /** Of the answer; null where none came. */
  readonly status: number | null;
  /** One line for the log: what, where, what to do. */
  readonly message: string;
  /** What a Retry-After asks for, milliseconds; an hour at most. */
  readonly retryAfterMs: number | null;
  /** Of the service's error answer; empty where it was none. */
  readonly attributes: Readonly<Record<string, unknown>>;
}

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: ServiceFault };

/** Who was asked: the service itself, or the object store behind it by a signed address. */
export interface Peer {
  readonly isService: boolean;
  /** Scheme, host and port: the rest of a signed address is a secret. */
  readonly origin: string;
  /** What is between; left out for nothing. */
  readonly proxy?: RouteProxy | null;
}

export interface ErrorStatus {
  readonly status: number;
  readonly retryAfter: string | null;
  /** Where a redirect leads. */
  readonly location: string | null;
  /** Null where the answer is not of the form that the service's errors have. */
  readonly answer: ErrorAnswer | null;
}

const FORBIDDEN = 403;

/** Whatever the form of the answer: a proxy that turns a request away does it by the same numbers. */
const KIND_OF_STATUS: Readonly<Record<number, ServiceFaultKind>> = {
  401: 'unauthorized',
  403: 'unauthorized',
  408: 'failed',
  413: 'refused',
  425: 'busy',
  426: 'mismatch',
  429: 'busy',
  503: 'busy',
};
/** What a store means by a number is not what the service does: a signature that is over is 403. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

const MAX_RETRY_AFTER_MS = 3_600_000;
const MAX_MESSAGE_CHARS = 500;

const ADVICE: Readonly<Partial<Record<ServiceFaultKind, string>>> = {
  unauthorized: 'see that API_KEY is a key of this private location that was not revoked',
  mismatch: 'upgrade the older one of the agent and the service',
};

export function faultOfStatus(peer: Peer, error: ErrorStatus, wallMs: number): ServiceFault {
  const { status, answer } = error;
  const forwarder = peer.proxy?.forwards === true && answer === null ? peer.proxy : null;
  if (forwarder !== null && ASKS_FOR_CREDENTIALS.has(status)) {
    return { ...offline(peer, credentialsText(forwarder, status)), status };
  }
  const isForbidden = forwarder !== null && status === FORBIDDEN;
  const ofPeer = peer.isService ? serviceKind(error) : BUSY.has(status) ? 'busy' : 'failed';
  const kind = isForbidden ? 'failed' : ofPeer;
  const advice = isForbidden ? `; ${rulesText(forwarder)}` : '';
  return {
    kind,
    status,
    message: oneLine(`${nameOf(peer)} ${answeredText(peer, error, kind, forwarder)}${advice}`),
    retryAfterMs: retryAfterMs(error.retryAfter, wallMs, MAX_RETRY_AFTER_MS),
    attributes: answer?.attributes ?? {},
  };
}

function serviceKind({ status, answer }: ErrorStatus): ServiceFaultKind {
  const known = KIND_OF_STATUS[status];
  if (known !== undefined) return known;
  // A page of a proxy that knows no such path must not cost a single result.
  return status >= 400 && status < 500 && answer !== null ? 'refused' : 'failed';
}

function answeredText(
  { isService }: Peer,
  { status, location, answer }: ErrorStatus,
  kind: ServiceFaultKind,
  forwarder: RouteProxy | null,
): string {
  if (status < 400) {
    const target = location === null ? 'elsewhere' : redirectTarget(location);
    return isService
      ? `answered ${status}, a redirect to ${target}: set SERVICE_URL to the service's own address`
      : `answered ${status}, a redirect to ${target}, which is not followed: see S3_REGION and S3_DIRECT_ENDPOINT of the service`;
  }
  // The service's own text tells already which of the two is to be upgraded.
  if (answer !== null && mismatchIn(answer) !== null)
    return `answered ${status}: ${answer.message}`;
  // Our own service names what it does not have; only an address that is off names nothing.
  const isAstray = status === 404 && typeof answer?.attributes.resource !== 'string';
  const advice = isAstray
    ? 'see that SERVICE_URL is the address of the service, without the /v1 of its API'
    : ADVICE[kind];
  const own =
    answer === null
      ? `, and not in the form of the service (${forwarder === null ? 'a proxy in between?' : `an answer of the proxy ${forwarder.shown}?`})`
      : `: ${answer.message}`;
  return `answered ${status}${own}${advice === undefined ? '' : `; ${advice}`}`;
}

/** A redirect may carry what nobody should log. */
function redirectTarget(location: string): string {
  return URL.canParse(location) ? new URL(location).origin : 'another path';
}

/** What is wrong, by the codes of Node, OpenSSL and undici. */
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
  ERR_SSL_WRONG_VERSION_NUMBER: 'it speaks no TLS; see whether SERVICE_URL begins with http://',
};
const WRONG_VERSION = 'ERR_SSL_WRONG_VERSION_NUMBER';
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** For an error of the connection: no answer came, or not all of it. */
export function faultOfError(peer: Peer, error: unknown): ServiceFault {
  if (error instanceof ProxyFault) return offline(peer, proxyText(error));
  return offline(peer, reasonOf(error));
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

function proxyText({ proxy, problem }: ProxyFault): string {
  const { variable } = proxy;
  if (problem.kind === 'unreachable') {
    const code = systemCodeOf(problem.error);
    const reason = code === WRONG_VERSION ? `it speaks no TLS (${code})` : reasonOf(problem.error);
    return `no connection to the proxy: ${reason}; see ${variable}`;
  }
  const { end } = problem;
  switch (end.ended) {
    case 'cancelled':
      return 'it was broken off';
    case 'time-up':
      return 'the proxy did not answer in time whether it connects to it';
    case 'broken':
      return `no tunnel through the proxy: ${end.what}; see ${variable}`;
    case 'answered': {
      const { status, reason } = end;
      if (ASKS_FOR_CREDENTIALS.has(status)) return credentialsText(proxy, status);
      // Left out where it would have to be cut: it may hold the proxy's credentials, unmasked here.
      const said = SHORT_LINE.test(reason) ? ` (${reason})` : '';
      const answer = `the proxy answered ${status}${said} to CONNECT`;
      return status >= 500
        ? `${answer}: it could not reach it, or not find its name`
        : `${answer}; ${rulesText(proxy)}`;
    }
  }
}

function credentialsText({ variable, authorization }: ChosenProxy, status: number): string {
  return authorization === null
    ? `the proxy wants credentials (${status}); put a user and a password into ${variable}, as in http://user:password@proxy.example.com:3128`
    : `the proxy does not take the user and password of ${variable} (${status})`;
}

function rulesText({ variable }: ChosenProxy): string {
  return `its rules have to allow this host and port, or NO_PROXY has to name the host, or ${variable} another proxy`;
}

export function faultOfTimeout(peer: Peer, timeoutMs: number): ServiceFault {
  return offline(peer, `no whole answer came within ${timeoutMs / 1000} s`);
}

/** For an answer of a good status that cannot be made sense of. */
export function unreadable(peer: Peer, status: number, problem: string): ServiceFault {
  const isProxied = peer.proxy !== undefined && peer.proxy !== null;
  const settings = isProxied
    ? 'SERVICE_URL and the proxy are right'
    : 'SERVICE_URL names a Vedette service';
  const message = oneLine(
    `${nameOf(peer)} answered ${status}, but not as a Vedette service does: ${problem}; see that ${settings}`,
  );
  return { kind: 'failed', status, message, retryAfterMs: null, attributes: {} };
}

export const STOPPED: ServiceFault = {
  kind: 'stopped',
  status: null,
  message: 'the request was broken off: the agent stops',
  retryAfterMs: null,
  attributes: {},
};

function offline(peer: Peer, reason: string): ServiceFault {
  const message = oneLine(`${nameOf(peer)} cannot be reached: ${reason}`);
  return { kind: 'offline', status: null, message, retryAfterMs: null, attributes: {} };
}

function nameOf({ isService, origin, proxy }: Peer): string {
  const between =
    proxy === undefined || proxy === null ? '' : ` (through the proxy ${proxy.shown})`;
  return `the ${isService ? 'service' : 'object store'} at ${origin}${between}`;
}

/** What a peer wrote must neither forge lines of the log nor fill it. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, MAX_MESSAGE_CHARS);
}
