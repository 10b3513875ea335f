import { type Dispatcher, request } from 'undici';
import { chooseProxy, type Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import { VERSION } from '../../runtime/version.ts';
import { connectionCode, connectionReason } from './connection-reasons.ts';
import { DENIED_CODE } from './guarded-lookup.ts';
import { outgoingDispatcher } from './outgoing-dispatcher.ts';
import { ProxyError } from './proxy-connection.ts';
import type { ReachableAddresses } from './reachable-addresses.ts';
import { notSent, type SendOutcome } from './send-outcome.ts';

export interface OutgoingRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** null for none. */
  readonly body: string | null;
  /** Whether DELIVERY_DENY applies. It does not apply to URLs in the service's own configuration. */
  readonly isGuarded: boolean;
}

export type HttpOutcome = SendOutcome & {
  /** Whether the receiver caused the failure. Otherwise our network or configuration may have. */
  readonly isOfReceiver: boolean;
};

/** Sends notices by HTTP. */
export interface OutgoingHttp {
  /** Never rejects; resolves at the latest when the signal aborts. */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<HttpOutcome>;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const HEADERS_TIMEOUT_MS = 10_000;
const BODY_TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum number of bytes read of the answer. More than the log shows, since a truncated secret cannot be masked. */
const MAX_RESPONSE_BYTES = 4 * 1024;
/** Maximum wait: a longer one would delay the notice of a recovery too much. */
export const MAX_RETRY_AFTER_MS = 300_000;

/**
 * Creates a client that does not follow redirects and reads only the start of an answer.
 *
 * @param reachable the addresses for guarded requests; null if there are no such requests
 */
export function createOutgoingHttp(
  reachable: ReachableAddresses | null,
  proxies: Proxies,
): OutgoingHttp {
  const guarded = dispatcherFor(reachable, proxies);
  const open = dispatcherFor(null, proxies);

  return {
    async send({ method, url, headers, body, isGuarded }, signal) {
      try {
        const answer = await request(url, {
          dispatcher: isGuarded ? guarded : open,
          method,
          headers: { 'user-agent': `vedette/${VERSION}`, ...headers },
          body,
          signal,
          // A new connection for each request: a reused one may be dead.
          reset: true,
        });
        // RFC 9110 15.5.8: only proxies send this status.
        const isOfProxy =
          answer.statusCode === 407 &&
          url.protocol === 'http:' &&
          chooseProxy(proxies, url) !== null;
        const outcome = outcomeOf(answer, await startOf(answer.body), isOfProxy);
        return { ...outcome, isOfReceiver: !outcome.ok && !isOfProxy };
      } catch (thrown) {
        const isOfReceiver = !signal.aborted && isFailureOfReceiver(thrown);
        return { ...failureOf(thrown, signal), isOfReceiver };
      }
    },

    async close() {
      await Promise.all([guarded.destroy(), open.destroy()]);
    },
  };
}

/**
 * Returns a dispatcher that connects directly or through the proxies.
 *
 * @param reachable null: all addresses
 */
export function dispatcherFor(reachable: ReachableAddresses | null, proxies: Proxies): Dispatcher {
  return outgoingDispatcher({
    proxies,
    reachable,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    bodyTimeout: BODY_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    pipelining: 0,
  });
}

/** Ignores errors: the status has arrived. */
async function startOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of body) {
      parts.push(Buffer.from(part));
      bytes += part.length;
      if (bytes >= MAX_RESPONSE_BYTES) break;
    }
  } catch {
    // Returns what has arrived.
  }
  body.destroy();
  return Buffer.concat(parts).subarray(0, MAX_RESPONSE_BYTES).toString('utf8');
}

function outcomeOf(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>,
  answer: string,
  isOfProxy: boolean,
): SendOutcome {
  if (statusCode < 300) return { ok: true, status: statusCode, remark: null, answer };
  if (statusCode <= 399) {
    const error = `the answer was the redirect ${statusCode}, which is not followed: configure its target instead`;
    return { ok: false, status: statusCode, error, answer, isFinal: true, retryAfterMs: null };
  }
  const by = isOfProxy ? ': the proxy of HTTP_PROXY requires another user and password' : '';
  return {
    ok: false,
    status: statusCode,
    error: `the answer was the status ${statusCode}${by}`,
    answer,
    isFinal: false,
    retryAfterMs: retryAfterOf(headers['retry-after']),
  };
}

/** Parses Retry-After (RFC 9110 10.2.3) in seconds. Ignores dates: they would need synchronised clocks. */
function retryAfterOf(value: string | readonly string[] | undefined): number | null {
  if (typeof value !== 'string' || !/^\d{1,9}$/.test(value)) return null;
  return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
}

/** Error codes caused by the receiver, not by our own network, name server or trusted certificates. */
const RECEIVER_CODES: readonly string[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_HEADERS_OVERFLOW',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
];

function isFailureOfReceiver(thrown: unknown): boolean {
  if (thrown instanceof ProxyError) return thrown.isOfReceiver;
  return RECEIVER_CODES.includes(connectionCode(thrown) ?? '');
}

function failureOf(thrown: unknown, signal: AbortSignal): SendOutcome {
  if (signal.aborted) return notSent('no answer came in time');
  return notSent(reasonOf(thrown), { isFinal: isDenied(thrown) });
}

/** Explains a failed request to the user who configured its URL. */
export function reasonOf(thrown: unknown): string {
  if (isDenied(thrown) && thrown instanceof Error) return thrown.message;
  if (thrown instanceof ProxyError) return thrown.message;
  if (connectionCode(thrown) === 'UND_ERR_HEADERS_TIMEOUT') {
    return `no answer came within ${HEADERS_TIMEOUT_MS / 1000} s (UND_ERR_HEADERS_TIMEOUT)`;
  }
  return connectionReason(thrown, CONNECT_TIMEOUT_MS);
}

/** Whether DELIVERY_DENY denies the address of the request. */
export function isDenied(thrown: unknown): boolean {
  return connectionCode(thrown) === DENIED_CODE;
}
