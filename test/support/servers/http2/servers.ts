import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createSecureServer, type SecureServerOptions, type ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Identity } from '../certificates.ts';
import { listen } from '../http-servers.ts';

export interface SecureServer {
  readonly port: number;
  url(path?: string): string;
  /** The header fields of all requests so far, in order. */
  readonly requests: readonly IncomingHttpHeaders[];
  /** Resolves as soon as no connection is open. */
  idle(): Promise<void>;
}

/**
 * An HTTPS server for HTTP/2; the test handles streams. With `allowHTTP1`, it answers requests over
 * HTTP/1.1 with `http1Body`. Ends with the test.
 */
export async function http2Server(
  identity: Identity,
  onStream: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
  options: SecureServerOptions = {},
  http1Body = '',
): Promise<SecureServer> {
  const requests: IncomingHttpHeaders[] = [];
  const server = createSecureServer({ ...identity, ...options });
  server.on('request', (request, reply) => {
    if (request.httpVersionMajor === 2) return;
    requests.push(request.headers);
    reply.end(http1Body);
  });
  server.on('sessionError', () => {});
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    requests.push(headers);
    onStream(stream, headers);
  });
  return { ...(await served(server)), requests };
}

/** An HTTPS server for HTTP/1.1 only that always answers with the body. Ends with the test. */
export async function httpsServer(
  identity: Identity,
  bodyOf: (request: IncomingMessage) => string,
  options: SecureServerOptions = {},
): Promise<SecureServer> {
  const requests: IncomingHttpHeaders[] = [];
  const server = createServer({ ...identity, ...options }, (request, reply) => {
    requests.push(request.headers);
    reply.end(bodyOf(request));
  });
  return { ...(await served(server)), requests };
}

async function served(
  server: ReturnType<typeof createSecureServer> | ReturnType<typeof createServer>,
): Promise<Omit<SecureServer, 'requests'>> {
  const sockets = new Map<Socket, Promise<void>>();
  server.on('connection', (socket: Socket) => {
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        sockets.delete(socket);
        resolve();
      });
    });
    socket.on('error', () => {});
    sockets.set(socket, closed);
  });
  server.on('tlsClientError', () => {});
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets.keys()) socket.destroy();
    server.close();
  });
  return {
    port,
    url: (path = '/') => `https://localhost:${port}${path}`,
    async idle() {
      while (sockets.size > 0) await Promise.all(sockets.values());
    },
  };
}
