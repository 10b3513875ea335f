import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificates.ts';

export interface HttpProxyOptions {
  /** The required Proxy-Authorization. */
  readonly authorization?: string;
  /** Speaks TLS itself. */
  readonly identity?: Identity;
  /** Connects to this address for the name; 127.0.0.1 by default. */
  readonly resolve?: (hostname: string) => string;
}

export interface ProxiedRequest {
  readonly method: string;
  /** The target as in the request line. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface TestProxy {
  readonly port: number;
  /** Its URL, with these credentials. */
  url(credentials?: string): string;
  /** All requests, in order. */
  readonly requests: readonly ProxiedRequest[];
  /** Open connections to it. */
  readonly open: number;
  /** Resolves as soon as none is open. */
  idle(): Promise<void>;
}

/** A correct proxy: tunnels, and single requests with their whole URL. Ends with the test. */
export async function httpProxy(options: HttpProxyOptions = {}): Promise<TestProxy> {
  const { authorization, identity, resolve = () => '127.0.0.1' } = options;
  const requests: ProxiedRequest[] = [];
  const sockets = new Set<Socket>();
  const onward = new Set<Socket>();
  let wake = (): void => {};
  const admits = ({ method = '', url: target = '', headers }: IncomingMessage): boolean => {
    requests.push({ method, target, headers });
    return authorization === undefined || headers['proxy-authorization'] === authorization;
  };
  const server = identity === undefined ? createServer() : createTlsServer({ ...identity });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      wake();
    });
  });
  server.on('tlsClientError', () => {});
  server.on('connect', (incoming: IncomingMessage, inside: Socket, head: Buffer) => {
    inside.on('error', () => {});
    if (!admits(incoming)) {
      inside.end(`HTTP/1.1 407 Who are you\r\nProxy-Authenticate: Basic realm="p"\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const outside = connect(
      Number(port === '' ? 80 : port),
      resolve(hostname.replace(/[[\]]/g, '')),
    );
    onward.add(outside);
    outside.once('close', () => onward.delete(outside));
    outside.once('connect', () => {
      inside.write('HTTP/1.1 200 Connection established\r\n\r\n');
      outside.write(head);
      inside.pipe(outside).pipe(inside);
    });
    outside.once('error', () => inside.end('HTTP/1.1 502 No way there\r\n\r\n'));
    inside.once('close', () => outside.destroy());
  });
  server.on('request', (incoming: IncomingMessage, reply: ServerResponse) => {
    if (!admits(incoming)) {
      reply.writeHead(407, 'Who are you', { 'proxy-authenticate': 'Basic realm="p"' }).end('who');
      return;
    }
    const url = new URL(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const passed = request(
      {
        host: resolve(url.hostname.replace(/[[\]]/g, '')),
        port: url.port,
        method: incoming.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, host: url.host },
        agent: false,
      },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(reply);
      },
    );
    passed.on('error', () => (reply.headersSent ? reply.destroy() : reply.writeHead(502).end()));
    reply.once('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    for (const socket of [...sockets, ...onward]) socket.destroy();
    server.close();
  });
  const scheme = identity === undefined ? 'http' : 'https';
  return {
    port,
    url: (credentials) =>
      `${scheme}://${credentials === undefined ? '' : `${credentials}@`}127.0.0.1:${port}`,
    requests,
    get open() {
      return sockets.size;
    },
    async idle() {
      while (sockets.size > 0) {
        await new Promise<void>((resolveIdle) => {
          wake = resolveIdle;
        });
      }
    },
  };
}
