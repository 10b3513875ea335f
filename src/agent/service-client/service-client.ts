import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { z } from 'zod';
import type { Clock } from '../../runtime/clock.ts';
import type { Proxies } from '../../runtime/net/proxy/choose-proxy.ts';
import type { ArtifactPart } from '../../wire/v1/artifacts.ts';
import { errorResponseIn } from '../../wire/v1/error-response.ts';
import { HEADERS, MAX_POLL_RESPONSE_BYTES, PROTOCOL_VERSION } from '../../wire/v1/limits.ts';
import { problemOf } from '../../wire/v1/tolerant-parse.ts';
import type { Scrub } from '../secrets/cut-scrubbed.ts';
import { failureFromError, failureFromTimeout } from './connection-failures.ts';
import { type PartDenial, partDenial } from './direct-uploads.ts';
import { Dispatchers, type Route } from './dispatchers.ts';
import type { Pieces } from './file-pieces.ts';
import { readResponseBody } from './response-body.ts';
import { failureFromStatus, unreadableResponse } from './response-failures.ts';
import {
  type Peer,
  type ServiceFailureKind,
  type ServiceResponse,
  STOPPED,
} from './service-failure.ts';

export interface ServiceClientOptions {
  /** Its path is the prefix of the protocol's paths. */
  readonly serviceUrl: URL;
  /** The current location key: it may change while the agent runs. */
  readonly key: () => string;
  /** Proxies for the service and the object store behind it. */
  readonly proxies: Proxies;
  /** Origins for parts of artifacts, in addition to the service's (ARTIFACT_ORIGINS). */
  readonly artifactOrigins: readonly string[];
  readonly clock: Clock;
  /** For the user-agent header. */
  readonly version: string;
  /** Masks secrets in texts of responses. */
  readonly scrub: Scrub;
}

export interface RequestOptions {
  /** Milliseconds from the call to the complete response. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface PostOptions<T> extends RequestOptions {
  readonly schema: z.ZodType<T>;
  /** The body is a Buffer of JSON text that `packJson` packed. */
  readonly packed?: boolean;
}

/** `bytes`: the size of the decoded body. */
export type PostResponse<T> =
  | { readonly ok: true; readonly value: T; readonly bytes: number }
  | Extract<ServiceResponse<T>, { readonly ok: false }>;

export type PutResponse =
  | ServiceResponse<void>
  | { readonly ok: false; readonly failure: null; readonly denied: PartDenial };

/** A held poll, results, an artifact's parts, a release, and a few spare ones. */
const MAX_CONNECTIONS = 8;
/** Time to establish one connection; the time limit of each request includes it. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Error responses have a few hundred bytes; of a proxy's page this much is read. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Compresses results nearly as well as higher levels, in a quarter of the time. */
const GZIP_LEVEL = constants.Z_BEST_SPEED;

const REFUSES_AGENT: ReadonlySet<ServiceFailureKind> = new Set(['unauthorized', 'mismatch']);

const gzipBytes = promisify(gzip);

interface Request {
  readonly peer: Peer;
  readonly url: URL;
  readonly method: 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Pieces;
}

interface Received {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly bytes: Buffer;
}

/**
 * The agent's side of the agent protocol (src/service/README.md, "Versions of the agent protocol").
 * Failures are values. It neither retries nor logs: callers do.
 */
export class ServiceClient {
  readonly #options: ServiceClientOptions;
  readonly #dispatchers: Dispatchers;
  #lastContactMs: number | null = null;

  constructor(options: ServiceClientOptions) {
    this.#options = options;
    this.#dispatchers = new Dispatchers({
      proxies: options.proxies,
      clock: options.clock,
      connections: MAX_CONNECTIONS,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
  }

  /**
   * When the service itself last answered, epoch milliseconds; null before. Refusals of the key or
   * of the protocol version do not count: the agent cannot work with the service until that is
   * solved.
   */
  get lastContactMs(): number | null {
    return this.#lastContactMs;
  }

  /** The current location key. */
  get key(): string {
    return this.#options.key();
  }

  /**
   * Sends JSON, and parses an answer of at most MAX_POLL_ANSWER_BYTES by the schema.
   *
   * @param path of PATHS
   * @param body a value to serialize, or a Buffer of JSON text, packed or not
   */
  async post<T>(path: string, body: unknown, options: PostOptions<T>): Promise<PostResponse<T>> {
    const json = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    const packed = options.packed === true;
    const request: Request = {
      ...this.#addressOf(path),
      method: 'POST',
      headers: {
        ...this.#ownHeaders(),
        accept: 'application/json',
        'accept-encoding': 'gzip',
        'content-type': 'application/json',
        ...(packed ? { 'content-encoding': 'gzip' } : {}),
      },
      body: json,
    };
    const received = await this.#exchange(request, options);
    if (!received.ok) return received;
    return this.#read(request.peer, received.value, options.schema);
  }

  /**
   * Sends one part of an artifact: to a path of the service with the key, to a signed address with
   * only the part's own headers. Follows no redirect. Does not send a part that `partDenial`
   * denies.
   *
   * @param body of exactly `bytes`; it is always ended. A failure to read it is `offline`, too
   */
  async put(
    part: ArtifactPart,
    body: Pieces,
    bytes: number,
    options: RequestOptions,
  ): Promise<PutResponse> {
    const { serviceUrl, artifactOrigins } = this.#options;
    const denied = partDenial(part, [serviceUrl.origin, ...artifactOrigins]);
    if (denied !== null) {
      await body.return();
      return { ok: false, failure: null, denied };
    }
    const address = this.#addressOf(part.url);
    const own = address.peer.isService
      ? { ...this.#ownHeaders(), 'content-type': 'application/octet-stream' }
      : {};
    const received = await this.#exchange(
      {
        ...address,
        method: part.method,
        headers: { ...own, ...lowerCased(part.headers), 'content-length': String(bytes) },
        body,
      },
      options,
    );
    await body.return();
    return received.ok ? { ok: true, value: undefined } : received;
  }

  /** Ends requests in progress as if their signals had aborted. */
  async close(): Promise<void> {
    await this.#dispatchers.destroy();
  }

  #addressOf(pathOrUrl: string): { readonly peer: Peer; readonly url: URL } {
    const { serviceUrl, scrub } = this.#options;
    const isService = pathOrUrl.startsWith('/');
    const url = isService
      ? new URL(serviceUrl.pathname.replace(/\/+$/, '') + pathOrUrl, serviceUrl.origin)
      : new URL(pathOrUrl);
    return { peer: { isService, origin: url.origin, scrub }, url };
  }

  #ownHeaders(): Record<string, string> {
    return {
      [HEADERS.protocol]: String(PROTOCOL_VERSION),
      [HEADERS.authorization]: `Bearer ${this.key}`,
      'user-agent': `vedette/${this.#options.version}`,
    };
  }

  async #exchange(request: Request, options: RequestOptions): Promise<ServiceResponse<Received>> {
    const { clock } = this.#options;
    const route = this.#dispatchers.routeTo(request.url);
    const peer = { ...request.peer, proxy: route.proxy };
    const { timeoutMs, signal } = options;
    if (signal.aborted) return { ok: false, failure: STOPPED };
    const ended = new AbortController();
    const onAbort = (): void => ended.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    let isLate = false;
    const cancel = clock.after(timeoutMs, () => {
      isLate = true;
      ended.abort();
    });
    try {
      return await this.#send({ ...request, peer }, route, ended.signal);
    } catch (error) {
      if (signal.aborted || this.#dispatchers.isDestroyed) return { ok: false, failure: STOPPED };
      const failure = isLate ? failureFromTimeout(peer, timeoutMs) : failureFromError(peer, error);
      return { ok: false, failure };
    } finally {
      cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  async #send(
    request: Request,
    route: Route,
    signal: AbortSignal,
  ): Promise<ServiceResponse<Received>> {
    const { peer, url, method, headers, body } = request;
    const response = await route.dispatcher.request({
      origin: url.origin,
      path: route.path,
      method,
      headers: { ...headers, ...route.headers },
      // Its documentation allows an AsyncIterable, its types do not.
      body: body as NonNullable<Dispatcher.RequestOptions['body']>,
      signal,
    });
    const { statusCode: status } = response;
    const isGood = status >= 200 && status < 300;
    const header = (name: string): string | null => headerOf(response, name);
    const answer = await readResponseBody(
      response.body,
      header('content-encoding'),
      isGood ? MAX_POLL_RESPONSE_BYTES : MAX_ERROR_BYTES,
    );
    if (isGood) {
      if (!answer.ok)
        return { ok: false, failure: unreadableResponse(peer, status, answer.problem) };
      return { ok: true, value: { status, header, bytes: answer.bytes } };
    }
    const error =
      peer.isService && answer.ok ? errorResponseIn(status, parseJson(answer.bytes)) : null;
    const described = {
      status,
      retryAfter: header('retry-after'),
      location: header('location'),
      answer: error,
    };
    const failure = failureFromStatus(peer, described, this.#options.clock.wallMs());
    if (error !== null && !REFUSES_AGENT.has(failure.kind)) this.#contact();
    return { ok: false, failure };
  }

  #read<T>(peer: Peer, { status, bytes }: Received, schema: z.ZodType<T>): PostResponse<T> {
    const failure = (problem: string): PostResponse<T> => ({
      ok: false,
      failure: unreadableResponse(peer, status, problem),
    });
    const json = parseJson(bytes);
    if (json === undefined) return failure('it is not JSON');
    const parsed = schema.safeParse(json);
    if (!parsed.success) return failure(problemOf(parsed.error));
    this.#contact();
    return { ok: true, value: parsed.data, bytes: bytes.length };
  }

  #contact(): void {
    this.#lastContactMs = this.#options.clock.wallMs();
  }
}

/** Compresses JSON text, which must not change meanwhile. */
export function packJson(json: Buffer): Promise<Buffer> {
  return gzipBytes(json, { level: GZIP_LEVEL });
}

function headerOf({ headers }: Dispatcher.ResponseData, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** Undefined if the bytes are not JSON. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
