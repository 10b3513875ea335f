import { once } from 'node:events';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { type Handbook, loadHandbook } from '../../../src/handbook/handbook.ts';
import type { Role } from '../../../src/model/enums.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Authenticator, Caller } from '../../../src/service/http/access/caller.ts';
import { hashOfKey } from '../../../src/service/http/access/key-hashes.ts';
import { ServiceAddress } from '../../../src/service/http/access/service-address.ts';
import { type AppParts, buildApp } from '../../../src/service/http/app.ts';
import { InFlight } from '../../../src/service/http/in-flight.ts';
import { closeApp, listen } from '../../../src/service/http/listen.ts';
import { captureLog, type LogCapture } from '../log-capture.ts';
import { noSessions } from '../users/no-sessions.ts';

export const ACCOUNT = '5f0c8a8e-0000-4000-8000-000000000001';

/** One key for each role: `vk_` and 32 hex digits. */
export const KEYS: Readonly<Record<Role, string>> = {
  read: `vk_${'1'.repeat(32)}`,
  run: `vk_${'2'.repeat(32)}`,
  write: `vk_${'3'.repeat(32)}`,
  admin: `vk_${'4'.repeat(32)}`,
};

/** Knows the keys above, and counts lookups. */
export function keyTable(): Authenticator & {
  readonly asked: () => number;
  revoke(key: string): void;
} {
  const callers = new Map<string, Caller>();
  for (const [role, key] of Object.entries(KEYS) as [Role, string][]) {
    callers.set(hashOfKey(key).toString('hex'), {
      accountId: ACCOUNT,
      role,
      by: { kind: 'key', id: `key-${role}` },
    });
  }
  let asked = 0;
  return {
    async authenticate(keyHash) {
      asked += 1;
      return callers.get(keyHash.toString('hex')) ?? null;
    },
    asked: () => asked,
    revoke: (key) => void callers.delete(hashOfKey(key).toString('hex')),
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; null if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect answers of every form
  readonly json: any;
}

export interface Ask {
  readonly key?: string | null;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends objects as JSON with its content type, and texts and bytes unchanged. */
  readonly body?: unknown;
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

export interface ServiceApp {
  readonly app: FastifyInstance;
  readonly port: number;
  readonly inFlight: InFlight;
  readonly logs: LogCapture;
  readonly stopping: AbortController;
  ask(path: string, ask?: Ask): Promise<Reply>;
  /** Sends raw bytes; returns everything received until the service closes the connection. */
  raw(bytes: string | Uint8Array): Promise<string>;
  close(): Promise<void>;
}

let handbook: Promise<Handbook> | null = null;

/** Cached, because reading it takes longer than the rest of the app. */
function theHandbook(): Promise<Handbook> {
  handbook ??= loadHandbook();
  return handbook;
}

/** The real app with test routes, on a free port of the loopback. */
export async function startServiceApp(
  routes: readonly FastifyPluginAsync[],
  options: Partial<AppParts> = {},
  address: Parameters<typeof listen>[1] = { port: 0, host: '127.0.0.1' },
): Promise<ServiceApp> {
  const logs = captureLog();
  const inFlight = new InFlight();
  const stopping = new AbortController();
  const app = await buildApp({
    store: { query: async () => [] },
    clock: systemClock,
    log: logs.log,
    config: { rateLimitPerMinute: 600, trustedProxies: [] },
    authenticator: keyTable(),
    locationKeys: { authenticate: async () => null },
    sessions: noSessions(),
    serviceAddress: new ServiceAddress(null),
    routes,
    handbook: await theHandbook(),
    inFlight,
    stopping: stopping.signal,
    ...options,
  });
  const port = await listen(app, address);
  return {
    app,
    port,
    inFlight,
    logs,
    stopping,
    ask: (path, ask = {}) => askService(port, path, ask),
    async raw(bytes) {
      const socket = connect(port, '127.0.0.1');
      socket.write(bytes);
      return await text(socket);
    },
    close: () => closeApp(app, inFlight, AbortSignal.abort()),
  };
}

export async function askService(
  port: number,
  path: string,
  { key = KEYS.admin, method = 'GET', headers = {}, body, signal }: Ask = {},
): Promise<Reply> {
  const isPlain = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    method,
    ...(signal === undefined ? {} : { signal }),
    agent: new Agent({ keepAlive: false }),
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined || 'content-type' in headers
        ? {}
        : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(isPlain ? body : JSON.stringify(body));
  const [response] = await once(sent, 'response');
  const received = await text(response);
  return {
    status: response.statusCode,
    headers: response.headers,
    text: received,
    json: parsed(received),
  };
}

function parsed(received: string): unknown {
  try {
    return JSON.parse(received);
  } catch {
    return null;
  }
}
