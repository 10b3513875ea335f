import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf, systemCodeOf, VedetteError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { ClientErrors } from '../../runtime/net/client-errors.ts';
import { boundConnections, ConnectionBound } from '../../runtime/net/connection-bound.ts';
import type { ProbeRequest } from '../blackbox-probe/blackbox-probe.ts';
import type { AgentMetrics } from '../metrics/metrics.ts';
import {
  type HealthResponse,
  type HealthStatus,
  health,
  liveness,
  readiness,
  textResponse,
} from './readiness-and-liveness.ts';

export interface HealthServerOptions {
  /** AGENT_HEALTH_PORT; 0 chooses a free port. */
  readonly port: number;
  /** AGENT_HEALTH_HOST; null for all addresses. */
  readonly host?: string | null;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly status: () => HealthStatus;
  readonly metrics: Pick<AgentMetrics, 'contentType' | 'connectionClosed'> & {
    readonly exposition: () => Promise<Answer['body']>;
  };
  /** `/probe`; null: there is no such path (PROBE_ENDPOINT). */
  readonly probe?: ((request: ProbeRequest) => Promise<HealthResponse>) | null;
}

export interface HealthServer {
  /** The port on which it listens. */
  readonly port: number;
  /**
   * Takes no more connections, ends the idle ones, and gives requests in progress one second.
   * Never rejects; a second call waits for the same end.
   */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 128;
/** Leaves connections for other clients, such as the orchestrator. */
const MAX_CONNECTIONS_PER_ADDRESS = 64;
const MAX_HEADER_BYTES = 8 * 1024;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 5_000;
/** A response that is not read to its end by then is cut: it occupies memory. */
const RESPONSE_TIMEOUT_MS = 10_000;
const CLOSE_GRACE_MS = 1_000;

interface Answer extends Omit<HealthResponse, 'body'> {
  /** In pieces if it is large. */
  readonly body: string | readonly Uint8Array[];
}

type Endpoint = (options: HealthServerOptions) => Answer | Promise<Answer>;

const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['/-/readiness', ({ status }) => readiness(status())],
  ['/-/liveness', ({ status, clock }) => liveness(status(), clock.monotonicMs())],
  ['/health', ({ status, version }) => health(status(), version)],
  [
    '/metrics',
    async ({ metrics }) => ({
      status: 200,
      contentType: metrics.contentType,
      body: await metrics.exposition(),
    }),
  ],
]);

/**
 * Serves health and metrics over HTTP (src/agent/README.md, "Health"). Hostile clients cost little:
 * few connections, short headers, no bodies, and time limits. A new connection is always accepted:
 * over the limit, the connection that was idle for longest is closed.
 *
 * @throws VedetteError `environment` HEALTH_PORT_TAKEN, `permission` HEALTH_PORT_FORBIDDEN, or
 * `environment` HEALTH_PORT_FAILED or HEALTH_HOST_FOREIGN
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => void answer(request, response, { ...options, server }),
  );
  const clientErrors = new ClientErrors({
    clock: options.clock,
    answer: (status, message) => textResponse(status, message),
  });
  clientErrors.watch(server);
  server.on('clientError', clientErrors.handle);
  const connections = new ConnectionBound({
    max: MAX_CONNECTIONS,
    maxPerAddress: MAX_CONNECTIONS_PER_ADDRESS,
    addressOf: ({ remoteAddress }) => remoteAddress ?? '',
    // Responses are ready at once: a busy connection does not read its response, or waits for a
    // probe, which Prometheus repeats.
    closesBusy: true,
    onClosed: (state) => options.metrics.connectionClosed(state),
  });
  boundConnections(server, [connections]);
  await listen(server, options);
  server.on('error', (error) => options.log.error({ err: error }, 'health server error'));

  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  let closed: Promise<void> | null = null;
  return {
    port,
    close() {
      closed ??= closeServer(server, options.clock);
      return closed;
    },
  };
}

function listen(
  server: Server,
  { port, host = null }: Pick<HealthServerOptions, 'port' | 'host'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error): void => reject(portProblem(error, port, host));
    server.once('error', onError);
    server.listen({ port, ...(host === null ? {} : { host }) }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function portProblem(error: Error, port: number, host: string | null): VedetteError {
  const code = systemCodeOf(error);
  const options = { cause: error };
  if (code === 'EADDRINUSE') {
    return new VedetteError(
      'environment',
      'HEALTH_PORT_TAKEN',
      `port ${port} (AGENT_HEALTH_PORT) is already in use: stop the program that listens there, or set AGENT_HEALTH_PORT to another port, or to 0 for any free one`,
      options,
    );
  }
  if (code === 'EACCES') {
    return new VedetteError(
      'permission',
      'HEALTH_PORT_FORBIDDEN',
      `port ${port} (AGENT_HEALTH_PORT) may not be opened by this user: set AGENT_HEALTH_PORT to a port from 1024 up`,
      options,
    );
  }
  if (code === 'EADDRNOTAVAIL') {
    return new VedetteError(
      'environment',
      'HEALTH_HOST_FOREIGN',
      `this machine has no address ${host} (AGENT_HEALTH_HOST): set it to one of its own, such as 127.0.0.1, or unset it for all`,
      options,
    );
  }
  return new VedetteError(
    'environment',
    'HEALTH_PORT_FAILED',
    `port ${port} (AGENT_HEALTH_PORT) cannot be opened: ${messageOf(error)}`,
    options,
  );
}

const PROBE_PATH = '/probe';

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HealthServerOptions & { readonly server: Server },
): Promise<void> {
  // The peer may go away at any moment; without a listener that would be an uncaught error.
  request.on('error', () => {});
  response.on('error', () => {});
  request.resume();
  try {
    const found = await answerTo(request, response, options);
    // While closing, no connection stays open for a further request.
    response.shouldKeepAlive &&= options.server.listening;
    send(request, response, found, options.clock);
  } catch (error) {
    options.log.error({ err: error }, 'a request to the health server failed');
    const failed = textResponse(500, "internal error; see the agent's log");
    send(request, response, failed, options.clock);
  }
}

async function answerTo(
  request: IncomingMessage,
  response: ServerResponse,
  options: HealthServerOptions,
): Promise<Answer> {
  // A server must accept the absolute form too (RFC 9112 3.2.2).
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?]*/i, '');
  const [path, query] = splitOnce(url);
  const { probe = null } = options;
  const endpoint =
    path === PROBE_PATH && probe !== null
      ? () => probe(probeRequestOf(request, response, query))
      : ENDPOINTS.get(path);
  if (endpoint === undefined) {
    const paths = [...ENDPOINTS.keys(), ...(probe === null ? [] : [PROBE_PATH])];
    return textResponse(404, `not found; there are ${paths.join(', ')}`);
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return textResponse(405, 'method not allowed; use GET or HEAD');
  }
  return await endpoint(options);
}

/** A query may contain further question marks. */
function splitOnce(url: string): readonly [path: string, query: string] {
  const at = url.indexOf('?');
  return at === -1 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)];
}

function probeRequestOf(
  { headers }: IncomingMessage,
  response: ServerResponse,
  query: string,
): ProbeRequest {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const timeout = headers['x-prometheus-scrape-timeout-seconds'];
  return {
    query: new URLSearchParams(query),
    timeoutSeconds: typeof timeout === 'string' ? timeout : null,
    signal: gone.signal,
  };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, contentType, body }: Answer,
  clock: Clock,
): void {
  if (response.headersSent || response.destroyed) return;
  // The limit begins here: the time that the agent takes for the response is not the client's.
  response.once(
    'close',
    clock.after(RESPONSE_TIMEOUT_MS, () => response.destroy()),
  );
  const pieces = typeof body === 'string' ? [Buffer.from(body)] : body;
  response.writeHead(status, {
    'content-type': contentType,
    'content-length': pieces.reduce((sum, { byteLength }) => sum + byteLength, 0),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  if (request.method !== 'HEAD') for (const piece of pieces) response.write(piece);
  response.end();
}

function closeServer(server: Server, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(CLOSE_GRACE_MS, () => server.closeAllConnections());
    server.close(() => {
      cancel();
      resolve();
    });
    server.closeIdleConnections();
  });
}
