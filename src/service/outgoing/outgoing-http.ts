import { Agent, type Dispatcher, request } from 'undici';
import { systemCodeOf } from '../../runtime/errors.ts';
import { type AddressGuard, allowAll } from '../../runtime/net/address-guard.ts';
import { VERSION } from '../../runtime/version.ts';
import {
  DENIED_CODE,
  guardedLookup,
  type ReachableAddresses,
  refuseDenied,
} from './guarded-lookup.ts';
import { notSent, type SendOutcome } from './send-outcome.ts';

export interface OutgoingRequest {
  readonly method: Dispatcher.HttpMethod;
  readonly url: URL;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** null for none. */
  readonly body: string | null;
  /** Whether DELIVERY_DENY applies: not to addresses in the service's own configuration. */
  readonly isGuarded: boolean;
}

export type HttpOutcome = SendOutcome & {
  /** Whether the receiver failed. Else it may be our network or configuration that did. */
  readonly isOfReceiver: boolean;
};

/** Sends notices by HTTP. */
export interface OutgoingHttp {
  /** Never rejects; resolves at the latest when the signal aborts. */
  send(request: OutgoingRequest, signal: AbortSignal): Promise<HttpOutcome>;
  close(): Promise<void>;
}

/** Why an address of which DELIVERY_DENY has the network may not be reached. */
export const DELIVERY_DENY_REASON = 'DELIVERY_DENY denies its network';
const CONNECT_TIMEOUT_MS = 5_000;
const HEADERS_TIMEOUT_MS = 10_000;
const BODY_TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 16 * 1024;
/** The most bytes of the answer. More than the log shows: a secret that is cut cannot be masked. */
const MAX_RESPONSE_BYTES = 4 * 1024;
/** A longer wait would delay the notice of a recovery too much. */
export const MAX_RETRY_AFTER_MS = 300_000;

/**
 * Does not follow redirects, and reads only the start of an answer.
 *
 * @param reason why the guard denies an address
 */
export function createOutgoingHttp(
  guard: AddressGuard,
  reason = DELIVERY_DENY_REASON,
): OutgoingHttp {
  const reachable = { guard, reason };
  const guarded = agentWith(reachable);
  const open = agentWith({ guard: allowAll, reason });

  return {
    async send({ method, url, headers, body, isGuarded }, signal) {
      try {
        if (isGuarded) refuseDenied(url.hostname, reachable);
        const answer = await request(url, {
          dispatcher: isGuarded ? guarded : open,
          method,
          headers: { 'user-agent': `vedette/${VERSION}`, ...headers },
          body,
          signal,
          // A new connection for each request: a reused one may be dead.
          reset: true,
        });
        const outcome = outcomeOf(answer, await startOf(answer.body));
        return { ...outcome, isOfReceiver: !outcome.ok };
      } catch (thrown) {
        const isOfReceiver = !signal.aborted && RECEIVER_CODES.includes(codeOf(thrown) ?? '');
        return { ...failureOf(thrown, signal), isOfReceiver };
      }
    },

    async close() {
      await Promise.all([guarded.destroy(), open.destroy()]);
    },
  };
}

/** Connects only to addresses that may be reached. */
export function agentWith(reachable: ReachableAddresses): Agent {
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS, lookup: guardedLookup(reachable) },
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
): SendOutcome {
  if (statusCode < 300) return { ok: true, status: statusCode, remark: null, answer };
  if (statusCode <= 399) {
    const error = `the answer was the redirect ${statusCode}, which is not followed: configure its target instead`;
    return { ok: false, status: statusCode, error, answer, isFinal: true, retryAfterMs: null };
  }
  return {
    ok: false,
    status: statusCode,
    error: `the answer was the status ${statusCode}`,
    answer,
    isFinal: false,
    retryAfterMs: retryAfterOf(headers['retry-after']),
  };
}

/** RFC 9110 10.2.3, only in seconds: a date would need synchronised clocks. */
function retryAfterOf(value: string | readonly string[] | undefined): number | null {
  if (typeof value !== 'string' || !/^\d{1,9}$/.test(value)) return null;
  return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
}

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
  UND_ERR_CONNECT_TIMEOUT: `no connection was established within ${CONNECT_TIMEOUT_MS / 1000} s`,
  UND_ERR_HEADERS_TIMEOUT: `no answer came within ${HEADERS_TIMEOUT_MS / 1000} s`,
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
};

/** Without those of our own network, name server and trusted certificates. */
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

function failureOf(thrown: unknown, signal: AbortSignal): SendOutcome {
  if (signal.aborted) return notSent('no answer came in time');
  return notSent(reasonOf(thrown), { isFinal: isDenied(thrown) });
}

/** Why a request failed, in words for the user who configured its URL. */
export function reasonOf(thrown: unknown): string {
  const code = codeOf(thrown);
  if (code === DENIED_CODE && thrown instanceof Error) return thrown.message;
  const reason = REASONS[code ?? ''] ?? 'no response';
  return code === null ? reason : `${reason} (${code})`;
}

/** Whether DELIVERY_DENY denies the address of the request. */
export function isDenied(thrown: unknown): boolean {
  return codeOf(thrown) === DENIED_CODE;
}

/** The error code; that of the first attempt if several addresses were tried. */
function codeOf(thrown: unknown): string | null {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) {
    return systemCodeOf(thrown.errors[0]) ?? systemCodeOf(thrown);
  }
  return systemCodeOf(thrown);
}
