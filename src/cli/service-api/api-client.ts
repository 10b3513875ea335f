import type { Dispatcher } from 'undici';
import { NOT_SCRUBBED } from '../../agent/secrets/cut-scrubbed.ts';
import {
  failureFromError,
  failureFromTimeout,
} from '../../agent/service-client/connection-failures.ts';
import { Dispatchers } from '../../agent/service-client/dispatchers.ts';
import { readResponseBody } from '../../agent/service-client/response-body.ts';
import {
  failureFromStatus,
  unreadableResponse,
} from '../../agent/service-client/response-failures.ts';
import type { Peer } from '../../agent/service-client/service-failure.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { VedetteError } from '../../runtime/errors.ts';
import { NO_PROXIES } from '../../runtime/net/proxy/choose-proxy.ts';
import { VERSION } from '../../runtime/version.ts';
import { sleep } from '../../runtime/wait.ts';
import { errorResponseIn } from '../../wire/v1/error-response.ts';
import type { Terminal } from '../terminal.ts';
import { reasonsIn, refusedKey } from './api-refusals.ts';
import type { Connection, NeededRole } from './connection.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** The response of the service to a valid request. */
export type ApiResponse =
  | {
      readonly ok: true;
      readonly json: unknown;
      /** null without one. */
      readonly etag?: string | null;
    }
  | ApiRefusal;

/** A status of 500, or 4xx except 401, 403 (see `mayBeForbidden`) and 429: the same request would be refused again. */
export interface ApiRefusal {
  readonly ok: false;
  readonly status: number;
  readonly message: string;
  /** One or more: each problem of the request, or only the message. */
  readonly reasons: readonly string[];
  /** The missing resource of a 404, such as `check`; undefined for an unknown path. */
  readonly missing?: string | undefined;
}

export interface ApiClientOptions extends Connection {
  readonly clock: Clock;
  /** Called when the service asks for a later retry, with the delay. */
  readonly onWait: (delayMs: number) => void;
}

export interface SendOptions {
  /** Bytes are JSON already. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** The ETag of the response that contained the resource to change. */
  readonly ifMatch?: string | undefined;
  /** Whether a POST is idempotent. */
  readonly isRepeatable?: boolean;
  /** A POST with it is idempotent: repeated, it gets the response to the first one. */
  readonly idempotencyKey?: string | undefined;
  /** The role that this request needs, if it is higher than for the others. */
  readonly role?: NeededRole;
  /** What needs this role, such as `which variables need`; null if left out. */
  readonly roleReason?: string | null;
  /** Whether to return a refusal instead of an error if the role of the key is too low. */
  readonly mayBeForbidden?: boolean;
}

/** From the request to the end of the response. */
const TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** More than a page of the longest possible checks. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;
/** Retries after a failed connection. Most POST requests are not retried, since the service may have executed them. */
const MAX_RETRIES = 2;
const RETRY_BACKOFF = { minMs: 1_000, maxMs: 2_000 };
/** Retries after a response with Retry-After; the rate limits of the service count per minute. */
const MAX_WAITS = 10;
const BUSY_BACKOFF = { minMs: 1_000, maxMs: 10_000 };
const LONGEST_RETRY_AFTER_MS = 120_000;
const PRINTED_WAIT_MS = 2_000;

type OneRequest = Pick<SendOptions, 'body' | 'signal'> & {
  readonly headers: Readonly<Record<string, string>>;
};

/** The reasons for which the key of a request may be refused. */
type Expected = Required<Pick<SendOptions, 'role' | 'roleReason' | 'mayBeForbidden'>>;

interface Received {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly json: unknown;
}

type Outcome =
  | { readonly kind: 'reply'; readonly reply: ApiResponse }
  /** `busy`: the service asks to retry, at the earliest after `retryAfterMs`. */
  | {
      readonly kind: 'busy' | 'failed';
      readonly retryAfterMs: number;
      readonly message: string;
    };

/** Sends requests to the API, and retries those that fail or are rate-limited. */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #dispatchers: Dispatchers;
  readonly #peer: Peer;

  constructor(options: ApiClientOptions) {
    this.#options = options;
    const { serviceUrl, proxies = NO_PROXIES, clock } = options;
    this.#dispatchers = new Dispatchers({
      proxies,
      clock,
      connections: null,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
    const { origin } = serviceUrl;
    const { proxy } = this.#dispatchers.routeTo(serviceUrl);
    this.#peer = { isService: true, origin, proxy, scrub: NOT_SCRUBBED };
  }

  /**
   * @param path below SERVICE_URL, with its query
   * @throws VedetteError of kind `environment` where there is no answer (SERVICE_UNREACHABLE) or no
   *   good one (SERVICE_FAILED), or the signal aborts (INTERRUPTED); of kind `config` where the key
   *   is not enough (API_KEY_REFUSED)
   */
  async send(method: Method, path: string, options: SendOptions): Promise<ApiResponse> {
    const { body, signal, ifMatch, idempotencyKey, mayBeForbidden = false } = options;
    const { isRepeatable = method !== 'POST' || idempotencyKey !== undefined } = options;
    const { roleReason = null } = options;
    const role = options.role ?? this.#options.role ?? 'write';
    const { clock, onWait } = this.#options;
    const retries = {
      busy: { left: MAX_WAITS, backoff: new Backoff(BUSY_BACKOFF) },
      failed: { left: isRepeatable ? MAX_RETRIES : 0, backoff: new Backoff(RETRY_BACKOFF) },
    };
    for (;;) {
      const headers = headersOf({ ifMatch, idempotencyKey });
      const sent = { body, signal, headers, role, roleReason, mayBeForbidden };
      const outcome = await this.#try(method, path, sent);
      if (outcome.kind === 'reply') return outcome.reply;
      const allowed = retries[outcome.kind];
      if (allowed.left === 0) throw environment('SERVICE_UNREACHABLE', outcome.message);
      allowed.left -= 1;
      const delayMs = allowed.backoff.next(outcome.retryAfterMs);
      if (outcome.kind === 'busy') onWait(delayMs);
      if (!(await sleep(clock, delayMs, signal))) throw interrupted();
    }
  }

  /** Like `send`, for reads: anything but success is thrown as SERVICE_FAILED. */
  async get(path: string, signal: AbortSignal): Promise<unknown> {
    const reply = await this.send('GET', path, { signal });
    if (reply.ok) return reply.json;
    throw notRead(path, reply);
  }

  /** Like `get`; null for what the service does not have (404). */
  async find(path: string, signal: AbortSignal): Promise<unknown> {
    const reply = await this.send('GET', path, { signal });
    if (reply.ok) return reply.json;
    if (reply.missing !== undefined) return null;
    throw notRead(path, reply);
  }

  /**
   * Opens the stream of the account's events (server-sent events).
   *
   * @param signal ends it, and then reading it throws
   * @returns its chunks; null if the response is anything else
   * @throws the error of the connection
   */
  async openEvents(signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    const headers = { accept: 'text/event-stream' };
    const {
      statusCode,
      headers: received,
      body,
    } = await this.#request('GET', '/v1/events', {
      headers,
      signal,
    });
    const type = String(received['content-type'] ?? '');
    if (statusCode === 200 && type.startsWith('text/event-stream')) return body;
    await body.dump();
    return null;
  }

  async close(): Promise<void> {
    await this.#dispatchers.destroy();
  }

  async #try(
    method: Method,
    path: string,
    { body, signal, headers, ...expected }: OneRequest & Expected,
  ): Promise<Outcome> {
    if (signal.aborted) throw interrupted();
    const ended = new AbortController();
    const onAbort = (): void => ended.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    let isLate = false;
    const cancel = this.#options.clock.after(TIMEOUT_MS, () => {
      isLate = true;
      ended.abort();
    });
    try {
      return this.#judge(
        await this.#exchange(method, path, { body, headers, signal: ended.signal }),
        expected,
      );
    } catch (error) {
      if (error instanceof VedetteError) throw error;
      if (signal.aborted) throw interrupted();
      const failure = isLate
        ? failureFromTimeout(this.#peer, TIMEOUT_MS)
        : failureFromError(this.#peer, error);
      return { kind: 'failed', retryAfterMs: 0, message: failure.message };
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  #request(
    method: Method,
    path: string,
    { body, headers, signal }: OneRequest,
  ): Promise<Dispatcher.ResponseData> {
    const { serviceUrl, apiKey } = this.#options;
    const url = new URL(serviceUrl.pathname.replace(/\/+$/, '') + path, serviceUrl.origin);
    const route = this.#dispatchers.routeTo(url);
    return route.dispatcher.request({
      origin: url.origin,
      path: route.path,
      method,
      headers: {
        ...route.headers,
        authorization: `Bearer ${apiKey}`,
        'user-agent': `vedette/${VERSION}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : body instanceof Uint8Array ? body : JSON.stringify(body),
      signal,
    });
  }

  async #exchange(
    method: Method,
    path: string,
    { body, headers: given, signal }: OneRequest,
  ): Promise<Received> {
    const response = await this.#request(method, path, {
      headers: {
        accept: 'application/json',
        'accept-encoding': 'gzip',
        ...given,
      },
      body,
      signal,
    });
    const { statusCode: status, headers } = response;
    const header = (name: string): string | null => [headers[name]].flat()[0] ?? null;
    const answer = await readResponseBody(
      response.body,
      header('content-encoding'),
      MAX_RESPONSE_BYTES,
    );
    if (!answer.ok) {
      throw environment(
        'SERVICE_FAILED',
        unreadableResponse(this.#peer, status, answer.problem).message,
      );
    }
    return { status, header, json: parseJson(answer.bytes) };
  }

  #judge(
    { status, header, json }: Received,
    { role, roleReason, mayBeForbidden }: Expected,
  ): Outcome {
    if (status >= 200 && status < 300) {
      if (status === 204 || json !== undefined) {
        return { kind: 'reply', reply: { ok: true, json, etag: header('etag') } };
      }
      throw environment(
        'SERVICE_FAILED',
        unreadableResponse(this.#peer, status, 'it is not JSON').message,
      );
    }
    const answer = errorResponseIn(status, json);
    const retryAfter = header('retry-after');
    const { message, retryAfterMs } = failureFromStatus(
      this.#peer,
      { status, retryAfter, location: header('location'), answer },
      this.#options.clock.wallMs(),
    );
    // The response is that of a forwarding proxy, for which the key does not matter.
    const isProxys = answer === null && this.#peer.proxy?.forwards === true;
    const isExpected = mayBeForbidden && status === 403 && answer !== null;
    if (!isProxys && !isExpected && (status === 401 || status === 403))
      throw refusedKey(this.#peer, status, answer, role, roleReason);
    if (status === 429 || status === 503) {
      const atLeastMs = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
      return { kind: 'busy', retryAfterMs: atLeastMs, message };
    }
    if (answer === null) {
      if (status >= 500) return { kind: 'failed', retryAfterMs: 0, message };
      throw environment('SERVICE_FAILED', message);
    }
    const reasons = reasonsIn(answer);
    const { resource } = answer.attributes;
    const missing = status === 404 && typeof resource === 'string' ? resource : undefined;
    const { message: said } = answer;
    return { kind: 'reply', reply: { ok: false, status, message: said, reasons, missing } };
  }
}

function headersOf({
  ifMatch,
  idempotencyKey,
}: Pick<SendOptions, 'ifMatch' | 'idempotencyKey'>): OneRequest['headers'] {
  return {
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  };
}

/** An `onWait` that prints waits that a user would notice. */
export function waitPrinter({ stderr }: Pick<Terminal, 'stderr'>): (delayMs: number) => void {
  return (delayMs) => {
    if (delayMs < PRINTED_WAIT_MS) return;
    stderr.write(`the service asks to wait ${Math.ceil(delayMs / 1000)} s\n`);
  };
}

/** Whether this is what `send` throws when its signal aborts. */
export function isInterrupted(thrown: unknown): boolean {
  return thrown instanceof VedetteError && thrown.code === 'INTERRUPTED';
}

function interrupted(): VedetteError {
  return environment('INTERRUPTED', 'it was stopped');
}

function notRead(path: string, { message }: ApiRefusal): VedetteError {
  return environment('SERVICE_FAILED', `${message} (GET ${path.split('?', 1)[0]})`);
}

function environment(code: string, message: string): VedetteError {
  return new VedetteError('environment', code, message);
}

/** Undefined if the bytes are not JSON. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
